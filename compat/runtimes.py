"""How runtimes are called on pages and in documents; one row each in fixtures/runtimes.csv."""

import csv
from functools import cache
from typing import NamedTuple

from django.conf import settings


class RuntimeRow(NamedTuple):
    slug: str
    title: str
    vendor: str


@cache
def runtime_rows() -> dict[str, RuntimeRow]:
    """Every runtime that a column or a document may name, by slug."""
    with (settings.FIXTURES_DIR / "runtimes.csv").open(encoding="utf-8", newline="") as file:
        return {row["slug"]: RuntimeRow(**row) for row in csv.DictReader(file)}


def runtime_title(slug: str) -> str:
    """The name that people know; the slug itself for a runtime without a row."""
    row = runtime_rows().get(slug)
    return row.title if row else slug
