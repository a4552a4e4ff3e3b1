"""Cells: what is known of an operator on a column, judged and stored when evidence arrives."""

from collections.abc import Collection, Iterable, Sequence
from statistics import median
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Left

from compat.models import Cell, Claim, Column, Probe, Target
from probes.cases import origins
from probes.judge.support import Claim as JudgedClaim
from probes.judge.support import Evidence, Verdict, judge

MESSAGE_CHARS = 400  # a reason quotes one line
CLAIM_LEVELS = ("partial", "full", "none")  # of rows equally new, the limits are told first
WRITTEN = [
    field.name
    for field in Cell._meta.fields
    if not field.primary_key and field.name not in ("operator", "column")
]


class Row(NamedTuple):
    """A latest probe, as judging and the cell's latency need it."""

    target_id: int
    operator_id: int
    evidence: Evidence
    p50_ms: float | None


EVIDENCE = (
    "case__name", "case__core", "kind", "form", "outcome", "stage", "placement", "line", "max_abs",
    "case__oracles_agree", "case__dtypes", "id", "case__since_version", "case__folds",
)  # fmt: skip


def rebuild_every_column() -> None:
    """All cells of all columns; for when claims have changed."""
    for column in Column.objects.select_related("device"):
        rebuild_cells(column=column)


def rebuild_cells(*, column: Column, operators: Collection[int] | None = None) -> int:
    """Judge again the cells of a column (of some operators, by id); returns how many there are.

    The newest runtime version with attributable evidence for an operator decides its cell.
    """
    with transaction.atomic():
        # One at a time for a column: a slower reader must not overwrite a newer judgement.
        Column.objects.select_for_update().get(pk=column.pk)
        cells = judge_column(column, operators)
        stale = Cell.objects.filter(column=column)
        if operators is not None:
            stale = stale.filter(operator_id__in=operators)
        stale.exclude(operator_id__in=[cell.operator_id for cell in cells]).delete()
        Cell.objects.bulk_create(
            cells,
            batch_size=400,
            update_conflicts=True,
            unique_fields=["operator", "column"],
            update_fields=WRITTEN,
        )
    return len(cells)


def judge_column(column: Column, operators: Collection[int] | None) -> list[Cell]:
    """Cells as they should be now, not stored."""
    targets = sorted(column.targets.all(), key=lambda target: target.version_key, reverse=True)
    rows = _group(_load_rows(column, operators))
    claims = load_claims(column, operators)
    return [
        _judge_cell(column, operator, targets, rows.get(operator, {}), claims.get(operator, []))
        for operator in sorted(rows.keys() | claims.keys())
    ]


def load_claims(
    column: Column, operators: Collection[int] | None = None
) -> dict[int, list[JudgedClaim]]:
    """Operator id -> claims that join the column, the one that speaks first in front."""
    found: QuerySet[Claim] = Claim.objects.select_related("source").filter(
        runtime=column.runtime, device_class__in=[column.device.device_class, ""]
    )
    if operators is not None:
        found = found.filter(operator_id__in=operators)
    claims: dict[int, list[JudgedClaim]] = {}
    for claim in sorted(found, key=speaks_first):
        claims.setdefault(claim.operator_id, []).append(judged_claim(claim))
    return claims


def judged_claim(claim: Claim) -> JudgedClaim:
    """A claim as judging takes it; its source has to be loaded."""
    return JudgedClaim(
        level=claim.level,
        version=claim.runtime_version,
        source=claim.source.title,
        restriction=claim.restriction,
        unit=claim.unit,
        ref=f"claim:{claim.pk}",
        dtypes=claim.dtypes,
        opset_max=claim.opset_max,
    )


def speaks_first(claim: Claim) -> tuple[int, float, int, int]:
    """Rank, then the newest opsets, then the more careful level."""
    newest = float("inf") if claim.opset_max is None else claim.opset_max
    return -claim.rank, -newest, -(claim.opset_min or 0), CLAIM_LEVELS.index(claim.level)


def judged_probes() -> QuerySet[Probe]:
    """The newest results that speak of their operator: not of retired cases, nor of graphs that
    compute the same from other operators or in another way."""
    current = Probe.objects.filter(latest=True, case__retired=False)
    return current.exclude(case__origin__in=origins.OF_OTHERS)


def _load_rows(column: Column, operators: Collection[int] | None) -> Iterable[Row]:
    probes = judged_probes().filter(target__column=column)
    if operators is not None:
        probes = probes.filter(operator_id__in=operators)
    values = probes.annotate(line=Left("message", MESSAGE_CHARS)).values_list(
        "target_id", "operator_id", "p50_ms", *EVIDENCE
    )
    for target_id, operator_id, p50_ms, *facts in values.iterator(chunk_size=4000):
        yield Row(target_id, operator_id, evidence_of(facts), p50_ms)


def evidence_of(facts: Sequence[Any]) -> Evidence:
    """One latest probe from the values of EVIDENCE, in that order."""
    name, core, kind, form, outcome, stage, placement, line, max_abs, agree = facts[:10]
    dtypes, pk, since, folds = facts[10:]
    return Evidence(
        name, core, kind, form, outcome, stage or None, placement, line, max_abs, agree,
        tuple(dtypes), pk, since, folds,
    )  # fmt: skip


def _group(rows: Iterable[Row]) -> dict[int, dict[int, list[Row]]]:
    """Operator id -> target id -> rows."""
    grouped: dict[int, dict[int, list[Row]]] = {}
    for row in rows:
        grouped.setdefault(row.operator_id, {}).setdefault(row.target_id, []).append(row)
    return grouped


def _judge_cell(
    column: Column,
    operator_id: int,
    targets: list[Target],
    rows: dict[int, list[Row]],
    claims: list[JudgedClaim],
) -> Cell:
    tried = [target for target in targets if target.pk in rows]
    for target in tried:
        verdict = _judge_target(target, rows[target.pk], claims)
        if verdict.kind in ("measured", "simulated"):
            return _cell(column, operator_id, verdict, target, rows[target.pk])
    if tried and not claims:
        return _cell(column, operator_id, _judge_target(tried[0], rows[tried[0].pk], claims))
    return _cell(column, operator_id, judge([], claims))


def _judge_target(target: Target, rows: list[Row], claims: list[JudgedClaim]) -> Verdict:
    declared = frozenset(target.capabilities.get("dtypes", ())) or None
    return judge([row.evidence for row in rows], claims, declared)


def _cell(
    column: Column,
    operator_id: int,
    verdict: Verdict,
    target: Target | None = None,
    rows: Iterable[Row] = (),
) -> Cell:
    times = [row.p50_ms for row in rows if row.evidence.core and row.p50_ms is not None]
    decides = verdict.evidence_ref
    return Cell(
        column=column,
        operator_id=operator_id,
        target=target,
        probe_id=decides if isinstance(decides, int) else None,
        level=verdict.level,
        kind=verdict.kind,
        reason_code=verdict.reason.code,
        reason_params=dict(verdict.reason.params),
        core_passed=verdict.core_passed,
        core_total=verdict.core_total,
        rest_passed=verdict.rest_passed,
        rest_total=verdict.rest_total,
        max_abs=verdict.max_abs,
        p50_ms=median(times) if times else None,
        claim_level=verdict.claim_level,
        contradiction=verdict.contradiction,
    )
