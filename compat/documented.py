"""Documented evidence: rows of vendors' lists, checked against the operators, stored as claims."""

import csv
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import transaction

from compat.models import Claim, Operator, Source

FOLDER = settings.FIXTURES_DIR / "documented"
ROWS, SOURCES, RUNTIMES = (
    FOLDER / name for name in ("documented_ops.csv.xz", "sources.json", "runtimes.csv")
)

Row = dict[str, str]


class Speaker(NamedTuple):
    """For which runtime and device class a source (or one of its units) speaks, and how loud."""

    runtime: str
    device_class: str
    runtime_version: str
    rank: int


class Unmatched(NamedTuple):
    """A documented row that is kept out, and why."""

    source_id: str
    domain: str
    op_type: str
    opset_min: str
    opset_max: str
    support: str
    reason: str


def read_rows(path: Path = ROWS) -> Iterator[Row]:
    """The documented rows as they were collected."""
    with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def read_speakers(path: Path = RUNTIMES) -> dict[tuple[str, str], list[Speaker]]:
    """(source id, unit) -> speakers; the unit "" stands for every unit of that source."""
    found: dict[tuple[str, str], list[Speaker]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            speaker = Speaker(
                row["runtime"], row["device_class"], row["runtime_version"], int(row["rank"])
            )
            found.setdefault((row["source_id"], row["unit"]), []).append(speaker)
    return found


def speakers_of(row: Row, speakers: dict[tuple[str, str], list[Speaker]]) -> list[Speaker]:
    """Who speaks in a row: the row's own unit first, else its whole source."""
    source = row["source_id"]
    return speakers.get((source, row["compute_unit"])) or speakers.get((source, ""), [])


def why_unmatched(row: Row, operators: dict[tuple[str, str], Operator], newest: int) -> str:
    """A sentence when a row names no operator or opsets it never had; "" when it is sound."""
    operator = operators.get((row["domain"], row["op_type"]))
    if operator is None:
        return f"no operator {row['domain']}::{row['op_type']} in the catalogue"
    if row["domain"] != "ai.onnx":
        return ""  # the opsets that these rows state are those of ai.onnx
    first, low, high = min(operator.since_versions), _opset(row, "min"), _opset(row, "max")
    if low and high and low > high:
        return f"opsets {low} to {high} are reversed"
    if high and high < first:
        return f"states opsets up to {high}, the operator begins with {first}"
    if low and low > newest:
        return f"states opsets from {low}, the newest known is {newest}"
    return ""


def unmatched_rows() -> list[Unmatched]:
    """Every documented row that is kept out of the knowledge base."""
    operators = _operators()
    newest = _newest(operators)
    shown = Unmatched._fields[:-1]
    return [
        Unmatched._make([*(row[name] for name in shown), reason])
        for row in read_rows()
        if (reason := why_unmatched(row, operators, newest))
    ]


def load_documented() -> int:
    """Replace all sources and claims by what the fixtures say; returns the number of claims."""
    operators, speakers = _operators(), read_speakers()
    newest = _newest(operators)
    claims = [
        _claim(row, operators[row["domain"], row["op_type"]], speaker)
        for row in read_rows()
        if not why_unmatched(row, operators, newest)
        for speaker in speakers_of(row, speakers)
    ]
    with transaction.atomic():
        Source.objects.all().delete()
        Source.objects.bulk_create(_sources())
        Claim.objects.bulk_create(claims, batch_size=1000)
    return len(claims)


def _operators() -> dict[tuple[str, str], Operator]:
    return {(each.domain, each.name): each for each in Operator.objects.all()}


def _newest(operators: dict[tuple[str, str], Operator]) -> int:
    return max(
        (max(each.since_versions) for each in operators.values() if each.domain == "ai.onnx"),
        default=0,
    )


def _opset(row: Row, bound: str) -> int | None:
    text = row[f"opset_{bound}"]
    return int(text) if text else None


def _claim(row: Row, operator: Operator, speaker: Speaker) -> Claim:
    return Claim(
        source_id=row["source_id"],
        operator=operator,
        level=row["support"],
        opset_min=_opset(row, "min"),
        opset_max=_opset(row, "max"),
        dtypes=row["dtypes"],
        restriction=row["restriction"],
        unit=row["compute_unit"],
        **speaker._asdict(),
    )


def _sources() -> list[Source]:
    """Sources that claim something of operators; each with the place where it was read."""
    documents = json.loads(SOURCES.read_text(encoding="utf-8"))
    speaking = {source for source, _ in read_speakers()}
    return [
        Source(
            slug=slug,
            title=document["title"],
            version=document.get("version", ""),
            date=document.get("date", ""),
            place=_place(document),
            note=document.get("note", ""),
        )
        for slug, document in documents.items()
        if slug in speaking
    ]


def _place(document: dict[str, str]) -> str:
    """repository@commit:path, the commit shortened; parts that are not known are left out."""
    commit = document.get("commit", "")
    at = f"@{commit[:12]}" if commit and "unknown" not in commit else ""
    return f"{document['repo']}{at}:{document['path']}"
