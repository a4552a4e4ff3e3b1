"""Ways to compute the same, as the pages show them: in words, the recommended one marked."""

from collections.abc import Iterator
from typing import NamedTuple

from django.utils.translation import gettext

from compat.history import Alternatives, WayView
from webui.words import word

FOR_LEVELS = frozenset({"yellow", "red"})


class WayLine(NamedTuple):
    """`told` is what is held back, or how it fails."""

    way: WayView
    title: str
    steps: str
    told: str
    is_own: bool
    is_best: bool


class Computed(NamedTuple):
    """A form that models contain: as it is, then every other way, best first."""

    replaces: str
    lines: list[WayLine]


class Ways(NamedTuple):
    """`is_needed`: the cell is yellow or red, so that a way around is asked for."""

    found: Alternatives
    best: WayLine | None
    computed: list[Computed]
    is_needed: bool


def ways_of(found: Alternatives | None, level: str) -> Ways | None:
    """The ways of a cell of this level; None where none is known, or nothing was judged."""
    if found is None or level not in (*FOR_LEVELS, "green"):
        return None
    computed = [
        Computed(
            each.replaces,
            [
                _line(each.own, is_own=True),
                *(_line(way, is_best=way == each.recommended) for way in each.ways),
            ],
        )
        for each in found.computations
    ]
    best = _line(found.recommended, is_best=True) if found.recommended else None
    return Ways(found, best, computed, level in FOR_LEVELS)


def _line(way: WayView, *, is_own: bool = False, is_best: bool = False) -> WayLine:
    title = word("way", way.way) if way.way else word("form", way.form)
    return WayLine(way, title, ", ".join(way.steps), _told(way), is_own, is_best)


def _told(way: WayView) -> str:
    if way.level == "unknown":
        return gettext("not tried")
    if way.level == "red":
        return word("outcome", way.outcome)
    return " · ".join(_held(way))


def _held(way: WayView) -> Iterator[str]:
    if way.way and way.form != "as_is":
        yield word("form", way.form)
    yield from (word("held", code) for code in way.codes if not code.startswith("only_"))
