"""A contradiction as its page tells it: in words, with what may explain it, and its filters."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from compat.columns import ColumnHead
from compat.contradictions import (
    EVERY,
    PROBED_KINDS,
    Contradiction,
    ContradictionFilters,
    Told,
    directions_of,
)
from compat.operators import OperatorName
from probes.judge.contradiction import DIRECTIONS, HARD, RELATIONS
from webui.filters import Ignored, Menu, Option
from webui.words import Word, sentence, word

RELATION_WORDS: dict[str, Word] = {
    "same": _("the probed version"),
    "list_older": _("older than probed"),
    "list_newer": _("newer than probed"),
    "unknown": _("cannot be compared"),
}
# By what the list says (yes or no) and how its version stands to the probed one.
VERSION_NOTES: dict[tuple[bool, str], Word] = {
    (True, "same"): _("The list is of the probed version."),
    (False, "same"): _("The list is of the probed version."),
    (True, "list_older"): _("The list is older: support may have been lost in between."),
    (False, "list_older"): _("The list is older: support may have been added in between."),
    (True, "list_newer"): _("The list is newer: support may have been added in between."),
    (False, "list_newer"): _("The list is newer: support may have been dropped in between."),
    (True, "unknown"): _("The list names no version that could be compared."),
    (False, "unknown"): _("The list names no version that could be compared."),
}
DIRECTION_NOTES: dict[str, Word] = {
    "limits_fails": _("The limits may cover this case: they have to be read."),
    "listed_limits": _("Other forms pass."),
    "unlisted_reserved": _(
        "It compiles, runs on another unit, or in a simulator that does not say on which: no "
        "proof that the intended unit can do it."
    ),
    "outside": _("The list states other opsets or data types than those of the case."),
}
ABSENT = "absent_from_list"  # how rows say that a list does not name the operator
MENU_TITLES: dict[str, Word] = {
    "direction": _("Contradiction"),
    "class": _("Device"),
    "column": _("Target"),
    "kind": _("Evidence"),
    "versions": _("Version of the list"),
}


class Way(NamedTuple):
    """A direction with how many rows it has, and the address of this list with it alone."""

    title: str
    number: int
    address: str
    chosen: bool


class Line(NamedTuple):
    """`message` is what the runtime says, unless the reason quotes it already."""

    row: Contradiction
    direction: str
    said: str
    message: str
    notes: tuple[Word, ...]
    is_absent: bool


def line_of(row: Contradiction, with_core: Collection[OperatorName]) -> Line:
    notes = (
        VERSION_NOTES[row.claim.level != "none", row.versions],
        DIRECTION_NOTES.get(row.direction, ""),
    )
    quoted = row.probe.reason_params.get("message")
    return Line(
        row=row,
        direction=direction_word(row.direction),
        said=said_of(row, with_core),
        message="" if quoted else row.probe.message,
        notes=tuple(note for note in notes if note),
        is_absent=row.claim.level == "none" and ABSENT in row.claim.restriction,
    )


def direction_word(code: str) -> str:
    return gettext(DIRECTIONS[code])


def said_of(row: Contradiction, with_core: Collection[OperatorName]) -> str:
    """The verdict's reason in the page's language."""
    promoted = (row.domain, row.name) not in with_core
    return sentence(row.probe.reason_code, row.probe.reason_params, promoted=promoted)


def told_of(row: Contradiction, request: HttpRequest, with_core: Collection[OperatorName]) -> Told:
    """What a sheet says of the row beside its values; the addresses are whole."""
    evidence, model = (
        request.build_absolute_uri(reverse(f"webui:{name}", args=[row.probe.probe_id]))
        for name in ("probe", "probe_archive")
    )
    return Told(said_of(row, with_core), evidence, model)


def read_filters(query: QueryDict) -> ContradictionFilters:
    return ContradictionFilters(
        search=query.get("q", "").strip(),
        columns=_named(query, "column"),
        device_classes=_named(query, "class"),
        kinds=_named(query, "kind"),
        versions=_named(query, "versions"),
        directions=directions_of(query.getlist("direction")),
    )


def is_filtered(query: QueryDict) -> bool:
    others = [name for name in MENU_TITLES if name != "direction"]
    asked = directions_of(query.getlist("direction"))
    return asked != HARD or any(any(query.getlist(name)) for name in ("q", *others))


def ways_of(query: QueryDict, counts: Mapping[str, int]) -> tuple[list[Way], list[Way]]:
    """The hard directions, and the softer ones."""
    chosen = directions_of(query.getlist("direction"))
    ways = [
        Way(direction_word(code), counts[code], address_of(query, code), code in chosen)
        for code in DIRECTIONS
    ]
    return ways[: len(HARD)], ways[len(HARD) :]


def address_of(query: QueryDict, direction: str = "") -> str:
    """The query of the same filters from the first page on, with this direction instead."""
    copy = query.copy()
    copy.pop("page", None)
    if direction:
        copy["direction"] = direction
    return copy.urlencode()


def menus_of(query: QueryDict, columns: Sequence[ColumnHead]) -> list[Menu]:
    classes = dict.fromkeys(head.device_class for head in columns)
    values: dict[str, Iterable[tuple[str, str]]] = {
        "direction": [(code, direction_word(code)) for code in DIRECTIONS],
        "class": [(slug, word("device_class", slug)) for slug in classes],
        "column": [(head.slug, _column_label(head)) for head in columns if not head.claimed_only],
        "kind": [(kind, word("kinds", kind)) for kind in PROBED_KINDS],
        "versions": [(code, str(RELATION_WORDS[code])) for code in RELATIONS],
    }
    chosen = {name: set(query.getlist(name)) for name in MENU_TITLES}
    chosen["direction"] = set(directions_of(query.getlist("direction")))
    return [
        Menu(
            name,
            title,
            tuple(Option(*pair, chosen=pair[0] in chosen[name]) for pair in values[name]),
        )
        for name, title in MENU_TITLES.items()
    ]


def unknown_values(query: QueryDict, menus: Iterable[Menu]) -> list[Ignored]:
    """Values in the address that no row can have."""
    known = {menu.name: {option.value for option in menu.options} for menu in menus}
    known["direction"].add(EVERY)
    return [
        Ignored(MENU_TITLES[name], value)
        for name, values in known.items()
        for value in _named(query, name)
        if value not in values
    ]


def _named(query: QueryDict, name: str) -> tuple[str, ...]:
    return tuple(value for value in query.getlist(name) if value)


def _column_label(head: ColumnHead) -> str:
    config = "" if head.config_name == "default" else f" · {head.config_name}"
    return f"{head.device_title} · {head.runtime_title}{config}"
