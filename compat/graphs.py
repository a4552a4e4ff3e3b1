"""The rows of the matrix that are graphs: patterns, and torch.nn modules as they are exported."""

from functools import cache
from pathlib import Path

from django.conf import settings

from compat.models import Operator
from probes.cases.graphs import Graph, read_graphs

# The kind of a row, and the CSV of the graphs of all such rows.
FILES = {
    "pattern": settings.FIXTURES_DIR / "cases" / "patterns.csv",
    "module": settings.FIXTURES_DIR / "cases" / "modules.csv",
}


def graph_operators() -> list[Operator]:
    """A row of the matrix for each, not stored."""
    named = {(graph.domain, graph.name): kind for kind in FILES for graph in _read(kind)}
    return [Operator(domain=domain, name=name, kind=kind) for (domain, name), kind in named.items()]


def graphs_of(domain: str, name: str, kind: str) -> tuple[Graph, ...]:
    """What a row of this kind consists of; nothing for an operator."""
    found = _read(kind) if kind in FILES else ()
    return tuple(graph for graph in found if (graph.domain, graph.name) == (domain, name))


def files() -> list[Path]:
    """What the rows are made from."""
    return [path for path in FILES.values() if path.exists()]


@cache
def _read(kind: str) -> tuple[Graph, ...]:
    path = FILES[kind]
    return tuple(read_graphs(path)) if path.exists() else ()
