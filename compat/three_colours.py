"""The three-colour list: for chosen columns, the worst level of each operator and its reason."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compat.columns import ColumnHead
from compat.matrix import CellView, MatrixFilters, MatrixRow, load_matrix
from compat.operators import OperatorName
from compat.sheets import csv_lines
from probes.judge.colours import OperatorColour, three_colours
from probes.judge.reasons import Reason
from probes.judge.verdict import Verdict

WORST_FIRST = ("red", "yellow", "unknown", "green")
KINDS_NEAREST = ("measured", "simulated", "documented")
ADVICE = {"green": "safe", "yellow": "verify", "red": "avoid", "unknown": "unknown"}


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
    rows = {(row.domain, row.name): row for row in matrix.rows}
    verdicts = {name: _verdicts(row, matrix.columns) for name, row in rows.items()}
    worst = three_colours(verdicts)
    lines = [_line(row, verdicts[name], worst[name]) for name, row in rows.items()]
    order = WORST_FIRST.index
    return sorted(lines, key=lambda line: (order(line.level), line.domain, line.name))


def three_colours_csv(
    lines: Iterable[ThreeColour], sentences: Iterable[str], instead: Iterable[str]
) -> Iterator[str]:
    """CSV lines; for each line the reason in words, and what is recommended instead."""
    header = ["domain", "operator", "level", "advice", "kind", "column", "reason", "instead"]
    body = (
        [line.domain, line.name, line.level, ADVICE[line.level], line.kind, line.column_slug,
         text, way]
        for line, text, way in zip(lines, sentences, instead, strict=True)
    )  # fmt: skip
    return csv_lines([header, *body])


def _line(row: MatrixRow, verdicts: Mapping[str, Verdict], worst: OperatorColour) -> ThreeColour:
    """The worst known level; green only where every column has answered.

    Green is no surer than the farthest evidence that it rests on, so that column decides.
    """
    level, slug = worst.level, worst.target
    if level == "green" and worst.unknown_targets:
        level, slug = "unknown", worst.unknown_targets[0]
    elif level == "green":
        slug = max(verdicts, key=lambda name: _distance(verdicts[name]))
    decides = verdicts[slug]
    cell = row.cells[list(verdicts).index(slug)]
    return ThreeColour(
        domain=row.domain,
        name=row.name,
        level=level,
        column_slug=slug,
        reason_code=decides.reason.code,
        reason_params=decides.reason.params,
        kind=decides.kind,
        contradiction=cell.contradiction if cell else False,
        columns_at_level=sum(verdict.level == level for verdict in verdicts.values()),
    )


def _distance(verdict: Verdict) -> int:
    return KINDS_NEAREST.index(verdict.kind) if verdict.kind in KINDS_NEAREST else 0


def _verdicts(row: MatrixRow, heads: Sequence[ColumnHead]) -> dict[str, Verdict]:
    return {head.slug: _verdict(cell) for head, cell in zip(heads, row.cells, strict=True)}


def _verdict(cell: CellView | None) -> Verdict:
    if cell is None:
        return Verdict("unknown", "none", Reason("not_tried", {}))
    return Verdict(cell.level, cell.kind, Reason(cell.reason_code, cell.reason_params))
