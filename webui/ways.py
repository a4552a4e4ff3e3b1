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
    recommended: list[tuple[str, WayLine]]  # in place of which case; the best of all first
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
        if each.recommended or any(way.way for way in each.ways)
    ]
    recommended = [
        (each.replaces, _line(each.recommended, is_best=True))
        for each in sorted(found.computations, key=lambda each: each.replaces != found.replaces)
        if each.recommended
    ]
    return Ways(found, recommended, computed, level in FOR_LEVELS)


def way_text(way: WayView | None) -> str:
    """A recommended way in one line: what it is called, its operators, its level."""
    if way is None:
        return ""
    line = _line(way)
    steps = f" [{line.steps}]" if line.steps else ""
    return f"{line.title}{steps}: {word('level', way.level)}"


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
