"""The evidence page: how one probe ended, with errors, latency, log, environment and its case."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from compat.columns import ColumnHead, load_heads
from compat.history.parts import (
    NotKnown,
    OperatorHead,
    ProbeRow,
    load_operator_head,
    load_probe_rows,
    support_of,
)
from compat.models import Case, Probe, ProbeLog


@dataclass(frozen=True)
class CaseView:
    id: str
    name: str
    core: bool
    origin: str
    since_version: int
    opset: int
    dtypes: tuple[str, ...]
    oracle: str
    oracles_agree: str
    citation: str
    timed: bool
    signature: dict[str, Any]


@dataclass(frozen=True)
class Errors:
    """Error sizes against the expected outputs; None where nothing was compared."""

    max_abs: float | None
    max_rel: float | None
    max_ulp: float | None
    cosine: float | None
    bit_exact: bool | None


@dataclass(frozen=True)
class LatencyView:
    """Milliseconds. `document` holds samples_ms, warmup and conditions when they were kept."""

    p50_ms: float
    p95_ms: float | None
    min_ms: float | None
    document: dict[str, Any]


@dataclass(frozen=True)
class ProbePage:
    id: int
    operator: OperatorHead
    column: ColumnHead
    target_slug: str
    runtime_version: str
    sweep_id: int
    state: str
    latest: bool
    form: str
    outcome: str
    support: str
    stage: str
    kind: str
    placement: str
    placement_detail: Any
    message: str
    log: str
    signal: str
    confirmed: bool | None
    errors: Errors
    latency: LatencyView | None
    peak_memory_bytes: int | None
    seconds: float | None
    finished_at: datetime | None
    environment: dict[str, Any]
    case: CaseView
    elsewhere: tuple[ProbeRow, ...]  # the same case in other forms and versions of this column


def load_probe(probe_id: int) -> ProbePage:
    """Four queries; raises NotKnown. A probe that has not run yet has state "queued"."""
    related = ("target__column", "case", "operator", "environment", "log")
    probe = Probe.objects.filter(pk=probe_id).select_related(*related).first()
    if probe is None:
        raise NotKnown("There is no probe of this number.")
    log = getattr(probe, "log", None)
    same_case = Q(case=probe.case_id, target__column=probe.target.column_id)
    return ProbePage(
        id=probe.pk,
        operator=load_operator_head(probe.operator.domain, probe.operator.name),
        column=load_heads(slugs=[probe.target.column.slug])[0],
        target_slug=probe.target.slug,
        runtime_version=probe.target.runtime_version,
        sweep_id=probe.sweep_id,
        state=probe.state,
        latest=probe.latest,
        form=probe.form,
        outcome=probe.outcome,
        support=support_of(probe.outcome),
        stage=probe.stage,
        kind=probe.kind,
        placement=probe.placement,
        placement_detail=log.placement_detail if log else None,
        message=probe.message,
        log=log.text if log else "",
        signal=probe.signal,
        confirmed=probe.confirmed,
        errors=Errors(probe.max_abs, probe.max_rel, probe.max_ulp, probe.cosine, probe.bit_exact),
        latency=_latency(probe, log),
        peak_memory_bytes=probe.peak_memory_bytes,
        seconds=probe.seconds,
        finished_at=probe.finished_at,
        environment=probe.environment.facts if probe.environment else {},
        case=_case_view(probe.case),
        elsewhere=tuple(row for row in load_probe_rows(same_case) if row.id != probe.pk),
    )


def _latency(probe: Probe, log: ProbeLog | None) -> LatencyView | None:
    if probe.p50_ms is None:
        return None
    document = log.latency if log and isinstance(log.latency, dict) else {}
    return LatencyView(probe.p50_ms, probe.p95_ms, probe.min_ms, document)


def _case_view(case: Case) -> CaseView:
    return CaseView(
        id=case.id,
        name=case.name,
        core=case.core,
        origin=case.origin,
        since_version=case.since_version,
        opset=case.opset,
        dtypes=tuple(case.dtypes),
        oracle=case.oracle,
        oracles_agree=case.oracles_agree,
        citation=case.citation,
        timed=case.timed,
        signature=case.signature,
    )
