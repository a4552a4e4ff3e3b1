"""What has limits in practice, one family a file. Names: "limit/Conv/kernel/8"."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module

from probes.cases.limits.row import LimitRow

FAMILIES = ("windows", "products", "statistics", "layout")


def all_limits() -> Iterator[LimitRow]:
    """Every row of every family, in a fixed order."""
    for family in FAMILIES:
        yield from import_module(f"{__name__}.tables.{family}").ROWS


@cache
def limits_by_operator() -> dict[str, tuple[LimitRow, ...]]:
    """Operator -> its rows, in table order."""
    found: dict[str, list[LimitRow]] = {}
    for row in all_limits():
        found.setdefault(row.op, []).append(row)
    return {op: tuple(rows) for op, rows in found.items()}
