"""The page of one column: the device, its versions and sweeps, and the operators that fail."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q

from compat.columns import ColumnHead, head_columns, head_of
from compat.devices import REGISTERED, state_of
from compat.history.harvest import HarvestView, load_harvest_rate
from compat.history.parts import NotKnown, VersionRow, count_supports, latest_probes, support_of
from compat.models import (
    Cell,
    Claim,
    Column,
    Device,
    Environment,
    Operator,
    Source,
    Sweep,
    Target,
)

LEVELS = ("green", "yellow", "red", "unknown")
SHOWN_SWEEPS = 20


@dataclass(frozen=True)
class DeviceView:
    slug: str
    title: str
    vendor: str
    device_class: str
    origin: str  # catalogue, local, recorded, registered
    facts: dict[str, Any]
    confidence: str
    source: str
    state: str  # of a registered device: online, offline, maintenance, retired; else ""
    seen_at: datetime | None


@dataclass(frozen=True)
class SweepRow:
    id: int
    target_slug: str
    runtime_version: str
    state: str
    origin: str
    total: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True)
class EnvironmentView:
    digest: str
    facts: dict[str, Any]
    target_slug: str
    probes: int
    finished_at: datetime | None


@dataclass(frozen=True)
class OperatorLine:
    """An operator that does not simply work in this column."""

    domain: str
    name: str
    level: str
    kind: str
    reason_code: str
    reason_params: dict[str, Any]
    contradiction: bool


@dataclass(frozen=True)
class SourceView:
    slug: str
    title: str
    version: str
    date: str
    place: str
    claims: int


@dataclass(frozen=True)
class ColumnPage:
    """`counts` by level over the whole catalogue and `kinds` by kind over the judged cells."""

    column: ColumnHead
    config: dict[str, Any]
    device: DeviceView
    counts: dict[str, int]
    kinds: dict[str, int]
    versions: tuple[VersionRow, ...]
    environments: tuple[EnvironmentView, ...]
    sweeps: tuple[SweepRow, ...]
    harvest: HarvestView | None
    failing: tuple[OperatorLine, ...]  # red, then yellow
    sources: tuple[SourceView, ...]


def load_column(slug: str) -> ColumnPage:
    """Ten queries, one more where nodes of real models were probed; raises NotKnown."""
    column = head_columns(slugs=[slug]).first()
    if column is None:
        raise NotKnown("There is no column of this name.")
    head = head_of(column)
    cells = list(Cell.objects.filter(column=column).select_related("operator"))
    return ColumnPage(
        column=head,
        config=column.config,
        device=_device(column.device),
        counts=_counts(cells),
        kinds=dict(Counter(cell.kind for cell in cells)),
        versions=tuple(_versions(column)),
        environments=tuple(_environments(column)),
        sweeps=tuple(_sweeps(column)),
        harvest=load_harvest_rate(column),
        failing=tuple(_failing(cells)),
        sources=tuple(_sources(head)),
    )


def _device(device: Device) -> DeviceView:
    return DeviceView(
        slug=device.slug,
        title=device.title,
        vendor=device.vendor,
        device_class=device.device_class,
        origin=device.origin,
        facts=device.facts,
        confidence=device.confidence,
        source=device.source,
        state=state_of(device) if device.origin == REGISTERED else "",
        seen_at=device.seen_at,
    )


def _counts(cells: list[Cell]) -> dict[str, int]:
    found = Counter(cell.level for cell in cells)
    known = sum(found[level] for level in LEVELS[:3])
    return {level: found[level] for level in LEVELS[:3]} | {
        "unknown": Operator.objects.count() - known
    }


def _versions(column: Column) -> Iterator[VersionRow]:
    """Newest first; the first that has results is the one that the matrix shows."""
    results = (
        latest_probes(Q(target__column=column))
        .values_list("target_id", "outcome")
        .annotate(probes=Count("id"), finished=Max("finished_at"))
        .order_by()
    )
    by_target: dict[int, list[tuple[str, int, datetime | None]]] = {}
    for target_id, outcome, probes, finished in results:
        by_target.setdefault(target_id, []).append((outcome, probes, finished))
    current = True
    for target in Target.objects.filter(column=column).order_by("-version_key"):
        rows = by_target.get(target.pk, [])
        yield VersionRow(
            target_slug=target.slug,
            runtime_version=target.runtime_version,
            probes=sum(probes for _, probes, _ in rows),
            supports=_weighted((outcome, probes) for outcome, probes, _ in rows),
            finished_at=max((at for _, _, at in rows if at), default=None),
            current=current and bool(rows),
        )
        current = current and not rows


def _weighted(pairs: Iterator[tuple[str, int]]) -> dict[str, int]:
    total = count_supports(())
    for outcome, probes in pairs:
        total[support_of(outcome)] += probes
    return total


def _environments(column: Column) -> Iterator[EnvironmentView]:
    used = (
        latest_probes(Q(target__column=column, environment__isnull=False))
        .values_list("environment_id", "target__slug")
        .annotate(probes=Count("id"), finished=Max("finished_at"))
        .order_by()
    )
    rows = list(used)
    facts = Environment.objects.in_bulk([digest for digest, _, _, _ in rows])
    rows.sort(key=lambda row: str(row[3] or ""), reverse=True)
    for digest, target, probes, finished in rows:
        yield EnvironmentView(digest, facts[digest].facts, target, probes, finished)


def _sweeps(column: Column) -> Iterator[SweepRow]:
    sweeps = Sweep.objects.filter(target__column=column).select_related("target").order_by("-id")
    for sweep in sweeps[:SHOWN_SWEEPS]:
        yield SweepRow(
            id=sweep.pk,
            target_slug=sweep.target.slug,
            runtime_version=sweep.target.runtime_version,
            state=sweep.state,
            origin=sweep.origin,
            total=sweep.total,
            created_at=sweep.created_at,
            started_at=sweep.started_at,
            finished_at=sweep.finished_at,
        )


def _failing(cells: list[Cell]) -> Iterator[OperatorLine]:
    for level in ("red", "yellow"):
        chosen = [cell for cell in cells if cell.level == level]
        for cell in sorted(chosen, key=lambda c: (c.operator.domain, c.operator.name)):
            yield OperatorLine(
                domain=cell.operator.domain,
                name=cell.operator.name,
                level=cell.level,
                kind=cell.kind,
                reason_code=cell.reason_code,
                reason_params=cell.reason_params,
                contradiction=cell.contradiction,
            )


def _sources(head: ColumnHead) -> Iterator[SourceView]:
    claims = Claim.objects.filter(runtime=head.runtime, device_class__in=("", head.device_class))
    counts = dict(claims.values_list("source_id").annotate(n=Count("id")).order_by())
    for source in Source.objects.filter(slug__in=counts).order_by("slug"):
        yield SourceView(
            source.slug,
            source.title,
            source.version,
            source.date,
            source.place,
            counts[source.slug],
        )
