"""The latencies behind one cell: how many cases were timed, and between which times they lie."""

from collections.abc import Iterable
from typing import NamedTuple


class TimeRange(NamedTuple):
    """Milliseconds; each time is the median of one case."""

    timed: int
    least: float
    most: float


def time_range(times: Iterable[float | None]) -> TimeRange | None:
    """None where nothing was timed."""
    found = [time for time in times if time is not None]
    return TimeRange(len(found), min(found), max(found)) if found else None
