"""CSV that a spreadsheet opens as text: no cell is taken for a formula."""

import csv
from collections.abc import Iterable, Iterator

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


class _Line:
    """A file of one line, for csv.writer."""

    def write(self, text: str) -> str:
        return text


def plain_cell(value: object) -> str:
    """The value as text; a leading apostrophe where a spreadsheet would start to compute."""
    text = "" if value is None else str(value)
    return "'" + text if text.startswith(FORMULA_STARTS) else text


def csv_lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """One CSV line a row, with line ends."""
    writer = csv.writer(_Line())
    for row in rows:
        line: str = writer.writerow([plain_cell(value) for value in row])
        yield line
