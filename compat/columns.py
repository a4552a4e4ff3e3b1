"""The heads of the matrix: which columns there are, how they are called, which version speaks."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from django.db.models import (
    Case,
    Count,
    Exists,
    IntegerField,
    OuterRef,
    QuerySet,
    Subquery,
    Value,
    When,
)

from compat.models import Cell, Column, Operator
from compat.runtimes import runtime_title
from probes.run.registry import RUNTIMES

EVIDENCE_KINDS = ("measured", "simulated")
CATALOGUE = "catalogue"  # a device that is not here: what is known of it is simulated or claimed
NEVER_OFFERED = [slug for slug, row in RUNTIMES.items() if not row.offered]
KNOWN_LEVELS = ("green", "yellow", "red")


@dataclass(frozen=True)
class ColumnHead:
    """A column by its names. `counts` holds shown operators by level, "unknown" included."""

    id: int
    slug: str
    device_title: str
    device_class: str
    device_origin: str
    runtime: str
    runtime_title: str
    config_name: str
    version: str  # the newest runtime version with evidence; "" where there are only claims
    claimed_only: bool
    shown: bool = True  # in the matrix, where nobody says what
    counts: dict[str, int] = field(default_factory=dict)


def head_columns(
    *,
    slugs: Sequence[str] = (),
    device_classes: Sequence[str] = (),
    kinds: Sequence[str] = (),
    hidden: bool = False,
) -> QuerySet[Column]:
    """The columns to show, this machine's first; named ones even when empty or hidden.

    Hidden are sister chips and second precisions: shown with `hidden` and by their device class.
    """
    cells = Cell.objects.filter(column=OuterRef("pk"))
    columns = _in_order(Column.objects.select_related("device"))
    if slugs:
        columns = columns.filter(slug__in=slugs)
    else:
        shown_cells = cells.filter(kind__in=kinds) if kinds else cells
        columns = columns.filter(Exists(shown_cells)).exclude(runtime__in=NEVER_OFFERED)
        if not hidden and not device_classes:
            columns = columns.filter(shown=True)
    if device_classes:
        columns = columns.filter(device__device_class__in=device_classes)
    newest = cells.filter(target__isnull=False).order_by("-target__version_key")
    return columns.annotate(
        version=Subquery(newest.values("target__runtime_version")[:1]),
        has_evidence=Exists(cells.filter(kind__in=EVIDENCE_KINDS)),
    )


def load_heads(
    *,
    slugs: Sequence[str] = (),
    device_classes: Sequence[str] = (),
    kinds: Sequence[str] = (),
    hidden: bool = False,
) -> list[ColumnHead]:
    """One query. Without names: every shown column that has a cell of one of the kinds."""
    columns = head_columns(slugs=slugs, device_classes=device_classes, kinds=kinds, hidden=hidden)
    return [head_of(column) for column in columns]


def default_heads(heads: Sequence[ColumnHead]) -> list[ColumnHead]:
    """What is compared when nobody says what: shown columns of devices that were really asked.

    Where nothing was measured, what was simulated; else the claims are all there is.
    """
    probed = probed_heads(heads)
    measured = [head for head in probed if head.device_origin != CATALOGUE]
    return measured or probed or [head for head in heads if head.shown]


def probed_heads(heads: Sequence[ColumnHead]) -> list[ColumnHead]:
    """Shown columns with evidence of their own, measured or simulated.

    A recording of a column that this machine or an agent has too would count it twice.
    """
    found = [head for head in heads if head.shown and not head.claimed_only]
    live = {_twin_key(head) for head in found if not is_recorded(head)}
    return [head for head in found if not (is_recorded(head) and _twin_key(head) in live)]


def is_recorded(head: ColumnHead) -> bool:
    return head.device_origin == "recorded"


def _twin_key(head: ColumnHead) -> str:
    return head.slug.replace("-recorded.", ".", 1)


def load_counted_heads() -> list[ColumnHead]:
    """Three queries: every column with its operators by level over the whole catalogue."""
    heads = load_heads(hidden=True)
    known = Cell.objects.filter(column__in=[head.id for head in heads], level__in=KNOWN_LEVELS)
    found = known.values_list("column_id", "level").annotate(n=Count("pk")).order_by()
    counts = {(column, level): n for column, level, n in found}
    operators = Operator.objects.count()
    return [_counted(head, counts, operators) for head in heads]


def _counted(head: ColumnHead, counts: dict[tuple[int, str], int], operators: int) -> ColumnHead:
    known = {level: counts.get((head.id, level), 0) for level in KNOWN_LEVELS}
    return replace(head, counts=known | {"unknown": operators - sum(known.values())})


def _in_order(columns: QuerySet[Column]) -> QuerySet[Column]:
    local_first = Case(
        When(device__origin="local", then=Value(0)), default=Value(1), output_field=IntegerField()
    )
    return columns.order_by(local_first, "position", "slug")


def head_of(column: Column) -> ColumnHead:
    """The head of a row of `head_columns`."""
    return ColumnHead(
        id=column.pk,
        slug=column.slug,
        device_title=column.device.title,
        device_class=column.device.device_class,
        device_origin=column.device.origin,
        runtime=column.runtime,
        runtime_title=runtime_title(column.runtime),
        config_name=column.config_name,
        version=getattr(column, "version", None) or "",
        claimed_only=not getattr(column, "has_evidence", False),
        shown=column.shown,
    )
