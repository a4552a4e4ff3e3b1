"""A bisection in values: what was tried goes in, the next value to try comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isqrt
from typing import NamedTuple

CHECKS = 3  # values between the ends that are tried first: is it one step only?


class Edge(NamedTuple):
    """The last value that works, and its neighbour that does not; None where there is none.

    again: values beyond the failed one that work all the same: there is more than one step.
    """

    worked: int | None
    failed: int | None
    again: tuple[int, ...]


def next_value(values: Sequence[int], tried: Mapping[int, bool]) -> int | None:
    """The value to try next, `values` being in order from the usual one; None when it is found.

    First both ends and a few values between, then halves of what lies between the last that works
    and the first that does not. A usual value that does not work ends it at once.
    """
    if tried.get(values[0]) is False:
        return None
    for at in _first(len(values)):
        if values[at] not in tried:
            return values[at]
    low, high = _around(values, tried)
    return values[_between(low, high)] if high - low > 1 else None


def edge_of(values: Sequence[int], tried: Mapping[int, bool]) -> Edge:
    """What the tried values say, whether or not all are tried that had to be."""
    low, high = _around(values, tried)
    later = (value for value in values[high + 1 :] if tried.get(value))
    return Edge(
        worked=values[low] if low >= 0 else None,
        failed=values[high] if high < len(values) else None,
        again=tuple(later),
    )


def _first(count: int) -> list[int]:
    """Both ends, then places in between whose distances grow alike."""
    between = [round(count ** (step / (CHECKS + 1))) for step in range(1, CHECKS + 1)]
    return [0, count - 1, *(min(at, count - 1) for at in between)]


def _around(values: Sequence[int], tried: Mapping[int, bool]) -> tuple[int, int]:
    """Places of the first value that fails (or one past the end) and of the last one before it
    that works (or -1)."""
    fails = (at for at, value in enumerate(values) if tried.get(value) is False)
    high = next(fails, len(values))
    works = (at for at in range(high - 1, -1, -1) if tried.get(values[at]))
    return next(works, -1), high


def _between(low: int, high: int) -> int:
    """The middle of two places; of far ones in proportion, for small values are quick to try."""
    if high + 1 > 4 * (low + 1):
        return min(max(isqrt((low + 1) * (high + 1)) - 1, low + 1), high - 1)
    return (low + high) // 2
