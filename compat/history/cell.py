"""The page of one cell: its verdict, every probe behind it, claims, and older versions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.db.models import Q

from compat.columns import ColumnHead, load_heads
from compat.history.alternatives import Alternatives, alternatives_of
from compat.history.claims import ClaimView, load_claims, split_claims
from compat.history.limits import LimitView, load_limits
from compat.history.parts import (
    NotKnown,
    OperatorHead,
    ProbeRow,
    Verdict,
    VersionRow,
    count_supports,
    load_operator_head,
    load_probe_rows,
    verdict_of,
)
from compat.models import Cell, Target


@dataclass(frozen=True)
class EvidenceGroup:
    """Probes of the core ("core"), of other cases ("rest") or of the function body ("body")."""

    code: str
    probes: tuple[ProbeRow, ...]


@dataclass(frozen=True)
class CellDetail:
    """`verdict` is None where nothing was tried and no document says anything. The column is named
    with the version that decides this cell: a newer one may have been asked for others only.

    `alternatives` is None for an operator of which no other way is known.
    """

    operator: OperatorHead
    column: ColumnHead
    target_slug: str
    verdict: Verdict | None
    groups: tuple[EvidenceGroup, ...]
    alternatives: Alternatives | None
    limits: LimitView | None  # found by search, at the newest version that was searched
    claims: tuple[ClaimView, ...]
    other_claims: tuple[ClaimView, ...]  # another compiler for the same class of device
    versions: tuple[VersionRow, ...]  # newest first


def load_cell(domain: str, name: str, column_slug: str) -> CellDetail:
    """Seven queries; raises NotKnown for an operator or a column that does not exist."""
    operator = load_operator_head(domain, name)
    heads = load_heads(slugs=[column_slug])
    if not heads:
        raise NotKnown("There is no column of this name.")
    head = heads[0]
    cell = Cell.objects.filter(operator=operator.id, column=head.id).first()
    targets = list(Target.objects.filter(column=head.id).order_by("-version_key"))
    probes = load_probe_rows(Q(operator=operator.id, target__column=head.id))
    own, others = split_claims(load_claims(operator.id), head)
    limits = load_limits(Q(operator=operator.id, target__column=head.id), own)
    current = _deciding(cell, targets, probes)
    shown = [row for row in probes if current and row.target_id == current.pk]
    return CellDetail(
        operator=operator,
        column=replace(head, version=current.runtime_version) if current else head,
        target_slug=current.slug if current else "",
        verdict=verdict_of(cell) if cell else None,
        groups=tuple(_groups(shown)),
        alternatives=alternatives_of(operator, cell.level if cell else "", shown),
        limits=limits[0] if limits else None,
        claims=own,
        other_claims=others,
        versions=tuple(_versions(targets, probes, current)),
    )


def _deciding(
    cell: Cell | None, targets: Sequence[Target], probes: Sequence[ProbeRow]
) -> Target | None:
    """The version that the cell names; else the newest one that was probed."""
    probed = {row.target_id for row in probes}
    named = cell.target_id if cell else None
    by_id = {target.pk: target for target in targets}
    if named in by_id:
        return by_id[named]
    return next((target for target in targets if target.pk in probed), None)


def _groups(rows: Sequence[ProbeRow]) -> Iterator[EvidenceGroup]:
    for code in ("core", "rest", "body"):
        if found := tuple(row for row in rows if row.part == code):
            yield EvidenceGroup(code, found)


def _versions(
    targets: Sequence[Target], probes: Sequence[ProbeRow], current: Target | None
) -> Iterator[VersionRow]:
    for target in targets:
        rows = [row for row in probes if row.target_id == target.pk]
        if rows:
            yield VersionRow(
                target_slug=target.slug,
                runtime_version=target.runtime_version,
                probes=len(rows),
                supports=count_supports(row.outcome for row in rows),
                finished_at=max((row.finished_at for row in rows if row.finished_at), default=None),
                current=target == current,
            )
