"""The three-colour list: for chosen columns, the worst level of each operator and its reason."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compat.columns import ColumnHead
from compat.matrix import CellView, MatrixFilters, MatrixRow, load_matrix
from compat.operators import OperatorName
from compat.sheets import csv_lines

# An operator that one target has not answered for is not safe on all of them.
WORST_FIRST = ("red", "yellow", "unknown", "green")
ADVICE = {"green": "safe", "yellow": "verify", "red": "avoid", "unknown": "unknown"}
_RANK = {level: rank for rank, level in enumerate(WORST_FIRST)}
_NOTHING = CellView("unknown", "none", False, "not_tried", {}, None)


@dataclass(frozen=True)
class ThreeColour:
    """One operator over all chosen columns; `column_slug` is the column that decides."""

    domain: str
    name: str
    level: str
    column_slug: str
    reason_code: str
    reason_params: Mapping[str, Any]
    kind: str
    contradiction: bool
    columns_at_level: int


def load_three_colours(
    column_slugs: Sequence[str] = (),
    *,
    operators: tuple[OperatorName, ...] | None = None,
    top20: bool = False,
) -> list[ThreeColour]:
    """Worst first, then by name; no names means every shown column. Three queries."""
    filters = MatrixFilters(columns=tuple(column_slugs), operators=operators, top20=top20)
    matrix = load_matrix(filters)
    if not matrix.columns:
        return []
    lines = [_worst(row, matrix.columns) for row in matrix.rows]
    return sorted(lines, key=lambda line: (_RANK[line.level], line.domain, line.name))


def three_colours_csv(lines: Iterable[ThreeColour], sentences: Iterable[str]) -> Iterator[str]:
    """CSV lines; `sentences` are the reasons in words, one for each line."""
    header = ["domain", "operator", "level", "advice", "kind", "column", "reason"]
    body = (
        [line.domain, line.name, line.level, ADVICE[line.level], line.kind, line.column_slug, text]
        for line, text in zip(lines, sentences, strict=True)
    )
    return csv_lines([header, *body])


def _worst(row: MatrixRow, heads: Sequence[ColumnHead]) -> ThreeColour:
    cells = [cell or _NOTHING for cell in row.cells]
    index = min(range(len(cells)), key=lambda i: _RANK[cells[i].level])
    worst = cells[index]
    return ThreeColour(
        domain=row.domain,
        name=row.name,
        level=worst.level,
        column_slug=heads[index].slug,
        reason_code=worst.reason_code,
        reason_params=worst.reason_params,
        kind=worst.kind,
        contradiction=worst.contradiction,
        columns_at_level=sum(cell.level == worst.level for cell in cells),
    )
