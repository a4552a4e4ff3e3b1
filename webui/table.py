"""The matrix as HTML: what many cells share is made once, so that 9,000 cells are quick."""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from django.urls import reverse
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from compat.columns import ColumnHead
from compat.matrix import CellView, Matrix, MatrixRow
from compat.operators import OperatorName
from probes.judge.words import LEVELS
from webui.words import level_word, sentence, word

LEVEL_CLASSES = {"green": "g", "yellow": "y", "red": "r", "unknown": "u"}
KIND_CLASSES = {"measured": "m", "simulated": "s", "documented": "d", "none": "n"}
BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[/_])(?=.)")
LONG_NAME = 26  # characters: a longer one may take a second line
TITLED_CELLS = 1500  # up to here a cell carries its reason as a tooltip; more would be megabytes
SHOWS = ("support", "latency")


class DeviceHead(NamedTuple):
    """Neighbouring columns of one device share a head."""

    title: str
    device_class: str
    span: int


class HeadRow(NamedTuple):
    column: ColumnHead
    is_first: bool  # of its device


def device_heads(columns: Iterable[ColumnHead]) -> list[DeviceHead]:
    grouped = groupby(columns, key=lambda head: (head.device_title, head.device_class))
    return [DeviceHead(title, kind, len(list(group))) for (title, kind), group in grouped]


def head_row(columns: Iterable[ColumnHead]) -> Iterator[HeadRow]:
    before = ""
    for column in columns:
        yield HeadRow(column, column.device_title != before)
        before = column.device_title


def milliseconds(value: float) -> str:
    """Three significant digits in a unit that fits: 5.25 µs, 1.23 ms, 12.3 s."""
    for limit, factor, unit in ((0.1, 1000, "µs"), (1000, 1, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value / 1000:.3g} s"


class CellParts(NamedTuple):
    """A cell's HTML around its link, its tooltip and its latency."""

    start: str
    symbol: str
    level: str
    aloud: str
    end: str


class CellWriter:
    """Writes cells in one language: what many cells have in common is escaped once."""

    def __init__(self, *, show: str, titled: bool, with_core: Collection[OperatorName]) -> None:
        self.with_core = with_core
        self.shows_latency = show == "latency"
        self.titled = titled
        self.prefix = reverse("webui:matrix") + "c/"
        self.known: dict[tuple[str, str, bool], CellParts] = {}
        self.untimed = aloud(gettext("not timed, only claimed"))
        self.nothing = f"<td><i class=n>· {aloud(word('short', 'unknown'))}</i>"

    def row(self, row: MatrixRow, column_ids: list[str]) -> str:
        link = f"{self.prefix}{row.operator_id}/"
        promoted = (row.domain, row.name) not in self.with_core
        cells = [
            self.nothing if cell is None else self.cell(cell, link + column, promoted)
            for cell, column in zip(row.cells, column_ids, strict=True)
        ]
        return f"<tr>{_row_head(row)}{''.join(cells)}\n"

    def cell(self, cell: CellView, link: str, promoted: bool = False) -> str:
        key = cell.level, cell.kind, cell.contradiction
        parts = self.known.get(key) or self.known.setdefault(key, _parts(cell))
        level = parts.level
        if self.shows_latency and cell.p50_ms is not None:
            level = f"{milliseconds(cell.p50_ms)} {parts.aloud}"
        elif self.shows_latency and cell.kind == "documented":
            return f"<td><a class=n href={link}>– {self.untimed}</a>"
        title = f' title="{_title(cell, promoted)}"' if self.titled else ""
        return f"{parts.start}{link}{title}>{parts.symbol} {level}{parts.end}"


def aloud(text: str) -> SafeString:
    """Text for a screen reader only."""
    return format_html("<i class=k>{}</i>", text)


def _parts(cell: CellView) -> CellParts:
    level, kind = LEVEL_CLASSES.get(cell.level, "u"), KIND_CLASSES.get(cell.kind, "n")
    mark = format_html("<b>≠{}</b>", aloud(gettext("contradicted by other evidence")))
    return CellParts(
        start=f'<td><a class="{level} {kind}" href=',
        symbol=LEVELS[cell.level].symbol if cell.level in LEVELS else "?",
        level=format_html("<span>{}</span>", level_word(cell.level, cell.kind)),
        aloud=aloud(level_word(cell.level, cell.kind)),
        end=format_html(
            " {}{}</a>", aloud(word("kind", cell.kind)), mark if cell.contradiction else ""
        ),
    )


def _row_head(row: MatrixRow) -> SafeString:
    page = reverse("webui:operator", args=[row.domain, row.name])
    domain = "" if row.domain == "ai.onnx" else format_html("<small>{}</small>", row.domain)
    long = mark_safe(" class=long") if len(row.name) > LONG_NAME else ""  # nosec B308
    name = breakable(row.name)
    return format_html('<th scope=row{}><a href="{}">{}</a>{}', long, page, name, domain)


def breakable(name: str) -> SafeString:
    """A name that may break inside: Instance|Normalization, node/|test_|add."""
    parts = BREAK.split(name)
    between = mark_safe("<wbr>")  # nosec B308
    return format_html_join(between, "{}", ((part,) for part in parts))


def _title(cell: CellView, promoted: bool) -> SafeString:
    text = sentence(cell.reason_code, cell.reason_params, promoted=promoted)
    latency = "" if cell.p50_ms is None else f" · {milliseconds(cell.p50_ms)}"
    return conditional_escape(text + latency)


def matrix_rows(
    matrix: Matrix, show: str = "support", with_core: Collection[OperatorName] = ()
) -> SafeString:
    """The table's body; node tests decide an operator that is not in `with_core`."""
    titled = len(matrix.rows) * len(matrix.columns) <= TITLED_CELLS
    writer = CellWriter(show=show, titled=titled, with_core=with_core)
    ids = [str(head.id) for head in matrix.columns]
    rows = [writer.row(row, ids) for row in matrix.rows]  # each escaped where it is written
    return mark_safe("".join(rows))  # nosec B308 B703
