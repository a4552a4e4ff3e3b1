"""The matrix's filters: query parameters to `MatrixFilters`, and back to what the form shows."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Exists, OuterRef
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from compat.matrix import LEVEL_ORDER, MatrixFilters
from compat.models import Cell, Column, Operator
from compat.operators import OperatorName
from webui import words

MENU_TITLES: dict[str, words.Word] = {
    "class": _("Device"),
    "level": _("Level"),
    "kind": _("Evidence"),
    "domain": _("Domain"),
}


class Option(NamedTuple):
    value: str
    label: str
    chosen: bool


class Menu(NamedTuple):
    """One filter: checkboxes of one name."""

    name: str
    title: words.Word
    options: tuple[Option, ...]

    @property
    def chosen(self) -> int:
        return sum(option.chosen for option in self.options)


class Ignored(NamedTuple):
    """A value in the address that means nothing here."""

    title: words.Word
    value: str


class Link(NamedTuple):
    label: words.Word
    query: str
    chosen: bool


def scope_of(query: QueryDict, has_report: bool) -> str:
    """ "top", "all" or "report". A search looks through all operators."""
    asked = query.get("view", "")
    if has_report and asked in ("", "report"):
        return "report"
    searches = query.get("q", "").strip() or query.getlist("domain")
    return "all" if asked == "all" or searches else "top"


def understood(query: QueryDict, menus: Sequence[Menu]) -> tuple[QueryDict, list[Ignored]]:
    """The address without the filters that name nothing, and those. A query where columns are
    named.
    """
    known = {menu.name: {option.value for option in menu.options} for menu in menus}
    known["column"] = _known_columns(query.getlist("column"))
    titles = {**MENU_TITLES, "column": _("Target")}
    kept, ignored = query.copy(), []
    for name, values in known.items():
        asked = [value for value in query.getlist(name) if value]
        kept.setlist(name, [value for value in asked if value in values])
        ignored += [Ignored(titles[name], value) for value in asked if value not in values]
    return kept, ignored


def _known_columns(slugs: Sequence[str]) -> set[str]:
    if not slugs:
        return set()
    return set(Column.objects.filter(slug__in=slugs).values_list("slug", flat=True))


def read_filters(
    query: QueryDict, scope: str, operators: tuple[OperatorName, ...] | None = None
) -> MatrixFilters:
    return MatrixFilters(
        search=query.get("q", "").strip(),
        domains=tuple(query.getlist("domain")),
        levels=tuple(query.getlist("level")),
        device_classes=tuple(query.getlist("class")),
        kinds=tuple(query.getlist("kind")),
        columns=tuple(query.getlist("column")),
        operators=operators if scope == "report" else None,
        top20=scope == "top",
    )


def is_filtered(query: QueryDict) -> bool:
    return any(any(query.getlist(name)) for name in ("q", "column", *MENU_TITLES))


def load_menus(query: QueryDict) -> list[Menu]:
    """Two queries: which domains and which classes of device there are."""
    domains = Operator.objects.order_by("domain").values_list("domain", flat=True).distinct()
    with_cells = Column.objects.filter(Exists(Cell.objects.filter(column=OuterRef("pk"))))
    classes = with_cells.order_by("device__device_class")
    values: dict[str, Sequence[tuple[str, str]]] = {
        "class": [
            (slug, words.word("device_class", slug))
            for slug in classes.values_list("device__device_class", flat=True).distinct()
        ],
        "level": [(level, words.word("level", level)) for level in LEVEL_ORDER],
        "kind": [(kind, words.word("kinds", kind)) for kind in words.KIND_ORDER],
        "domain": [(domain, domain) for domain in domains],
    }
    return [
        Menu(
            name,
            title,
            tuple(Option(*pair, chosen=pair[0] in query.getlist(name)) for pair in values[name]),
        )
        for name, title in MENU_TITLES.items()
    ]


def links(
    query: QueryDict, name: str, labels: Sequence[tuple[str, words.Word]], chosen: str
) -> list[Link]:
    """The same address with one parameter set to each value in turn."""
    return [Link(label, _replaced(query, name, value), value == chosen) for value, label in labels]


def _replaced(query: QueryDict, name: str, value: str) -> str:
    copy = query.copy()
    copy[name] = value
    if name == "view":
        copy.pop("q", None)
        copy.pop("domain", None)
    return copy.urlencode()
