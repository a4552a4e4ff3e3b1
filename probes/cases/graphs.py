"""What the rows of the matrix that are graphs consist of: a CSV beside each pack of such cases."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import onnx

from probes.cases.canonical import domain_name
from probes.cases.case import Case, walk_nodes

COLUMNS = ("domain", "name", "case", "exporter", "opset", "operators", "error")
# Of a graph whose outputs no oracle gives; the pages have it in their languages.
OTHER_GRAPH = "the graph computes something else than the module"
LITERALS = ("Constant",)  # they compute nothing


class Step(NamedTuple):
    """An operator of a graph, "domain::Name" outside of ai.onnx, and how often it occurs."""

    operator: str
    times: int

    @property
    def domain(self) -> str:
        return self.operator.rpartition("::")[0] or "ai.onnx"

    @property
    def name(self) -> str:
        return self.operator.rpartition("::")[2]


@dataclass(frozen=True)
class Graph:
    """The graph of a case; where an exporter wrote none, or a wrong one, an error and no case.

    `opset` is what was asked for; `operators` are in the order in which they first appear.
    """

    domain: str
    name: str
    case: str
    exporter: str
    opset: int
    operators: tuple[Step, ...] = ()
    error: str = ""


def graph_of(case: Case) -> Graph:
    """Of a case whose graph is all that there is to say."""
    steps = steps_of(onnx.load_from_string(case.model))
    return Graph(case.domain, case.op_type, case.name, "", case.opset, steps)


def steps_of(model: onnx.ModelProto) -> tuple[Step, ...]:
    """The operators of a model, those of bodies after the node that holds them."""
    named = (_spelled(node) for node in walk_nodes(model.graph.node))
    found = Counter(name for name in named if name not in LITERALS)
    return tuple(Step(name, times) for name, times in found.items())


def _spelled(node: onnx.NodeProto) -> str:
    domain = domain_name(node.domain)
    return node.op_type if domain == "ai.onnx" else f"{domain}::{node.op_type}"


def write_graphs(path: Path, graphs: Iterable[Graph]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for graph in graphs:
            steps = " ".join(f"{step.operator}*{step.times}" for step in graph.operators)
            told = vars(graph) | {"operators": steps}
            writer.writerow([told[name] for name in COLUMNS])


def read_graphs(path: Path) -> Iterator[Graph]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            steps = (step.rpartition("*") for step in row["operators"].split())
            yield Graph(
                domain=row["domain"],
                name=row["name"],
                case=row["case"],
                exporter=row["exporter"],
                opset=int(row["opset"]),
                operators=tuple(Step(name, int(times)) for name, _, times in steps),
                error=row["error"],
            )
