"""Nodes cut from real models: packs of them into this installation, and how often each occurs."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from compat.casebook import CASES, load_cases
from compat.models import Case, Occurrence, Operator
from probes.cases import case as engine
from probes.cases import origins
from probes.cases.catalogue import read_pack
from probes.cases.node_files import names_beside
from probes.cases.pattern import DOMAIN
from probes.model.plain import plain_text
from probes.model.signature import signature_key

SHIPPED = CASES / "harvest.pack.xz"
COLUMNS = ["case", "model", "count"]
MODEL_LENGTH = 200
MOST_OCCURRENCES = 2**31 - 1


class HarvestError(ValueError):
    """A file that is no harvest; the message says what is wrong."""


@dataclass(frozen=True)
class Brought:
    """`new` are the names of added cases, `known` those whose node is here under another case,
    `unknown` those of operators that are not in the catalogue."""

    new: tuple[str, ...]
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    models: int


def files() -> list[Path]:
    """How often the nodes of the shipped harvest occur."""
    return [path for path in (names_beside(SHIPPED),) if path.exists()]


def load_harvest(path: Path) -> Brought:
    """Cases of a pack and, where its CSV lies beside it, how often they occur.

    A node that is here already keeps its case. Raises HarvestError, CaseError or OSError.
    """
    found = {case.name: case for case in map(_checked, read_pack(path))}
    places = dict(_known(found.values()))
    names = set(Operator.objects.values_list("domain", "name"))
    new, known, unknown = [], [], []
    for name, case in found.items():
        if (case.domain, case.op_type) not in names:
            unknown.append(name)
        elif name in places:
            known.append(name)
        else:
            new.append(name)
            places[name] = case.id
    if new:
        load_cases(found[name] for name in new)
    models = load_occurrences(names_beside(path), places)
    return Brought(tuple(new), tuple(known), tuple(unknown), models)


def load_shipped() -> int:
    """How often the nodes of the harvest that ships occur; its cases come with all others."""
    names = Case.objects.filter(origin=origins.HARVEST, retired=False).values_list("name", "id")
    return load_occurrences(names_beside(SHIPPED), dict(names))


def load_occurrences(path: Path, cases: dict[str, str]) -> int:
    """Rows of a CSV (case, model, count) for the cases of these names; returns the models."""
    if not path.exists():
        return 0
    rows = {
        (cases[name], model): Occurrence(case_id=cases[name], model=model, count=count)
        for name, model, count in _read_occurrences(path)
        if name in cases
    }
    with transaction.atomic():
        Occurrence.objects.bulk_create(
            rows.values(),
            batch_size=500,
            update_conflicts=True,
            unique_fields=["case", "model"],
            update_fields=["count"],
        )
    return len({model for _, model in rows})


def _read_occurrences(path: Path) -> Iterator[tuple[str, str, int]]:
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.DictReader(file)
        if lines.fieldnames != COLUMNS:
            raise HarvestError(f"{path.name} must have the columns {', '.join(COLUMNS)}.")
        for row in lines:
            yield row["case"], plain_text(row["model"] or "", MODEL_LENGTH), _count(row["count"])


def _count(text: str | None) -> int:
    if (
        not text
        or not text.isascii()
        or not text.isdecimal()
        or not 0 < int(text) <= MOST_OCCURRENCES
    ):
        raise HarvestError(f"{(text or '')[:20]!r} is no number of nodes.")
    return int(text)


def _checked(case: engine.Case) -> engine.Case:
    """A case that a harvest may bring: it decides no level."""
    prefix = f"{origins.HARVEST}/"
    if case.origin != origins.HARVEST or case.core or not case.name.startswith(prefix):
        raise HarvestError(f"{case.name[:200]} is no harvested case.")
    if not case.signature and case.domain != DOMAIN:
        raise HarvestError(f"{case.name[:200]} says nothing of its node.")
    return case


def _known(cases: Iterable[engine.Case]) -> Iterator[tuple[str, str]]:
    """Names of those whose very node, or pattern, has a harvested case here, with its id."""
    present = Case.objects.filter(origin=origins.HARVEST, retired=False)
    by_key = dict(present.exclude(signature_key="").values_list("signature_key", "id"))
    by_name = dict(present.values_list("name", "id"))
    for case in cases:
        key = signature_key(case.signature) if case.signature else ""
        found = by_key.get(key) or by_name.get(case.name)
        if found:
            yield case.name, found
