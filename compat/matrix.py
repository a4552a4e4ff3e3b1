"""The matrix: operators x columns as judged cells, in three queries whatever its size."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import TextField
from django.db.models.functions import Cast

from compat.columns import ColumnHead, load_heads
from compat.models import Cell, Operator
from compat.operators import OperatorName, named_operators
from compat.sheets import csv_lines
from compat.top20 import TOP20, TOP20_RANK

LEVEL_ORDER = ("green", "yellow", "red", "unknown")


class CellView(NamedTuple):
    """What one cell shows. The reason's sentence is `probes.judge.reasons`."""

    level: str
    kind: str
    contradiction: bool
    reason_code: str
    reason_params: dict[str, Any]
    p50_ms: float | None


@dataclass(frozen=True)
class MatrixRow:
    operator_id: int
    domain: str
    name: str
    top20: bool
    cells: tuple[CellView | None, ...]  # None: nothing was tried and nobody claims anything


@dataclass(frozen=True)
class Matrix:
    columns: tuple[ColumnHead, ...]
    rows: tuple[MatrixRow, ...]


@dataclass(frozen=True)
class MatrixFilters:
    """An empty filter does not filter. `operators` is a report's list; None is all of them.

    `levels` keeps the rows that have one of them in a shown column (an empty cell is "unknown");
    `kinds` blanks the other cells and drops the rows and columns that are left empty.
    """

    search: str = ""
    domains: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    device_classes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    operators: tuple[OperatorName, ...] | None = None
    top20: bool = False


def load_matrix(filters: MatrixFilters = MatrixFilters()) -> Matrix:
    """Three queries: columns, operators, cells."""
    heads = load_heads(
        slugs=filters.columns, device_classes=filters.device_classes, kinds=filters.kinds
    )
    operators = _load_operators(filters)
    grid = _load_grid(heads, [pk for pk, _, _ in operators], filters)
    rows = [
        MatrixRow(pk, domain, name, (domain, name) in TOP20_RANK, tuple(grid[pk]))
        for pk, domain, name in operators
    ]
    kept = tuple(row for row in rows if _keeps(filters, row.cells))
    return Matrix(tuple(_counted(heads, kept)), kept)


def matrix_csv(matrix: Matrix) -> Iterator[str]:
    """CSV lines: domain, operator, then "level kind" for each column; unknown is written out."""
    header = ["domain", "operator", *(head.slug for head in matrix.columns)]
    body = ([row.domain, row.name, *map(_cell_text, row.cells)] for row in matrix.rows)
    return csv_lines([header, *body])


def _cell_text(cell: CellView | None) -> str:
    return f"{cell.level} {cell.kind}" if cell else "unknown none"


def _load_operators(filters: MatrixFilters) -> list[tuple[int, str, str]]:
    operators = Operator.objects.order_by("domain", "name")
    if filters.search:
        operators = operators.filter(name__icontains=filters.search.strip()[:128])
    if filters.domains:
        operators = operators.filter(domain__in=filters.domains)
    if filters.operators is not None:
        operators = operators & named_operators(filters.operators)
    if filters.top20:
        operators = operators & named_operators((row.domain, row.name) for row in TOP20)
    rows = list(operators.values_list("id", "domain", "name"))
    if filters.top20:
        rows.sort(key=lambda row: TOP20_RANK[row[1], row[2]])
    return rows


def _load_grid(
    heads: Sequence[ColumnHead], operator_ids: list[int], filters: MatrixFilters
) -> dict[int, list[CellView | None]]:
    grid: dict[int, list[CellView | None]] = {pk: [None] * len(heads) for pk in operator_ids}
    place = {head.id: index for index, head in enumerate(heads)}
    cells = Cell.objects.filter(column_id__in=place)
    if filters.kinds:
        cells = cells.filter(kind__in=filters.kinds)
    if filters.search or filters.top20 or filters.operators is not None:
        cells = cells.filter(operator_id__in=operator_ids)
    # JSON as text: most parameters repeat, and decoding 9,000 of them would cost most of the time.
    found = cells.values_list(
        "operator_id",
        "column_id",
        "level",
        "kind",
        "contradiction",
        "reason_code",
        Cast("reason_params", TextField()),
        "p50_ms",
    )
    for operator, column, level, kind, contradiction, code, params, p50 in found:
        if (line := grid.get(operator)) is not None:
            view = CellView(level, kind, contradiction, code, _params(params), p50)
            line[place[column]] = view
    return grid


@lru_cache(maxsize=20_000)
def _params(text: str) -> dict[str, Any]:
    """Decoded reason parameters, shared between cells: readers must not change them."""
    decoded = json.loads(text)
    return decoded if isinstance(decoded, dict) else {}


def _keeps(filters: MatrixFilters, cells: Sequence[CellView | None]) -> bool:
    if filters.kinds and not any(cells):
        return False
    if not filters.levels:
        return True
    return any((cell.level if cell else "unknown") in filters.levels for cell in cells)


def _counted(heads: Sequence[ColumnHead], rows: Sequence[MatrixRow]) -> Iterator[ColumnHead]:
    for index, head in enumerate(heads):
        found = Counter(row.cells[index].level for row in rows if row.cells[index] is not None)  # type: ignore[union-attr]
        found["unknown"] = len(rows) - sum(found[level] for level in LEVEL_ORDER[:3])
        yield replace(head, counts={level: found[level] for level in LEVEL_ORDER})
