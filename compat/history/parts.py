"""Parts that several pages show: the operator's head, a judged cell, a line of a probe."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from compat.models import Cell, Operator, Probe
from probes.cases import origins
from probes.run.outcome import OUTCOMES, Outcome


class NotKnown(LookupError):
    """No operator, column, cell or probe has this name."""


@dataclass(frozen=True)
class OperatorHead:
    id: int
    domain: str
    name: str
    kind: str
    since_versions: tuple[int, ...]
    deprecated_at: int | None


@dataclass(frozen=True)
class Verdict:
    """A cell as it was judged; `probe_id` is the probe that decides, if one does."""

    level: str
    kind: str
    reason_code: str
    reason_params: dict[str, Any]
    core_passed: int
    core_total: int
    rest_passed: int
    rest_total: int
    max_abs: float | None
    p50_ms: float | None
    claim_level: str
    contradiction: bool
    probe_id: int | None


@dataclass(frozen=True)
class ProbeRow:
    """One finished probe on one line. `support` is yes, reserved, no or none (not evidence)."""

    id: int
    case_name: str
    core: bool
    origin: str
    since_version: int
    dtypes: tuple[str, ...]
    oracles_agree: str
    form: str
    outcome: str
    support: str
    stage: str
    kind: str
    placement: str
    message: str
    max_abs: float | None
    max_rel: float | None
    p50_ms: float | None
    target_id: int
    finished_at: datetime | None

    @property
    def part(self) -> str:
        """What it can do to the cell: core decides, rest lowers, body and way do nothing."""
        return "core" if self.core else PARTS.get(self.origin, "rest")


@dataclass(frozen=True)
class VersionRow:
    """One runtime version: how many of its newest probes ended how."""

    target_slug: str
    runtime_version: str
    probes: int
    supports: dict[str, int]
    finished_at: datetime | None
    current: bool


PARTS = {origins.BODY: "body", origins.ALTERNATIVE: "way"}
_PROBE_FIELDS = (
    "id",
    "case__name",
    "case__core",
    "case__origin",
    "case__since_version",
    "case__dtypes",
    "case__oracles_agree",
    "form",
    "outcome",
    "stage",
    "kind",
    "placement",
    "message",
    "max_abs",
    "max_rel",
    "p50_ms",
    "target_id",
    "finished_at",
)


def support_of(outcome: str) -> str:
    """yes, reserved, no or none for an outcome; "none" for a word this version does not know."""
    try:
        return OUTCOMES[Outcome(outcome)].support
    except ValueError:
        return "none"


def load_operator_head(domain: str, name: str) -> OperatorHead:
    """One query; raises NotKnown."""
    found = Operator.objects.filter(domain=domain, name=name).first()
    if found is None:
        raise NotKnown("There is no operator of this name in the catalogue.")
    return operator_head(found)


def load_operators(*, search: str = "", domains: Sequence[str] = ()) -> list[OperatorHead]:
    """One query: the catalogue, or the operators whose name contains the text."""
    found = Operator.objects.filter(name__icontains=search.strip())
    if domains:
        found = found.filter(domain__in=domains)
    return [operator_head(operator) for operator in found.order_by("domain", "name")]


def operator_head(operator: Operator) -> OperatorHead:
    """An operator's row as plain values."""
    return OperatorHead(
        id=operator.pk,
        domain=operator.domain,
        name=operator.name,
        kind=operator.kind,
        since_versions=tuple(operator.since_versions),
        deprecated_at=operator.deprecated_at,
    )


def verdict_of(cell: Cell) -> Verdict:
    """A cell's row as plain values."""
    return Verdict(
        level=cell.level,
        kind=cell.kind,
        reason_code=cell.reason_code,
        reason_params=cell.reason_params,
        core_passed=cell.core_passed,
        core_total=cell.core_total,
        rest_passed=cell.rest_passed,
        rest_total=cell.rest_total,
        max_abs=cell.max_abs,
        p50_ms=cell.p50_ms,
        claim_level=cell.claim_level,
        contradiction=cell.contradiction,
        probe_id=cell.probe_id,
    )


def latest_probes(which: Q) -> QuerySet[Probe]:
    """The newest result of every case, form and target that fit; retired cases decide nothing."""
    return Probe.objects.filter(which, latest=True, case__retired=False)


def load_probe_rows(which: Q) -> list[ProbeRow]:
    """One query: the newest results, core first, then by case and form."""
    found = latest_probes(which).order_by("-case__core", "case__name", "form", "id")
    return [_probe_row(*values) for values in found.values_list(*_PROBE_FIELDS)]


def load_rows_of_cells(cells: Iterable[Cell]) -> dict[tuple[int, int | None], list[ProbeRow]]:
    """One query: the newest results of the core of these cells, and of the ways to compute the
    same, by operator and target."""
    wanted = Q(pk__in=[])
    by_target: dict[int | None, list[int]] = {}
    for cell in cells:
        by_target.setdefault(cell.target_id, []).append(cell.operator_id)
    for target, operators in by_target.items():
        wanted |= Q(target=target, operator__in=operators)
    rows: dict[tuple[int, int | None], list[ProbeRow]] = {}
    deciding = Q(case__core=True) | Q(case__origin=origins.ALTERNATIVE)
    found = latest_probes(wanted).filter(deciding).order_by("id")
    for operator, *values in found.values_list("operator_id", *_PROBE_FIELDS):
        row = _probe_row(*values)
        rows.setdefault((operator, row.target_id), []).append(row)
    return rows


def count_supports(outcomes: Iterable[str]) -> dict[str, int]:
    """How many outcomes are yes, reserved, no and none; every word is present."""
    found = Counter(map(support_of, outcomes))
    return {word: found[word] for word in ("yes", "reserved", "no", "none")}


def _probe_row(
    probe: int,
    case_name: str,
    core: bool,
    origin: str,
    since_version: int,
    dtypes: list[str],
    oracles_agree: str,
    form: str,
    outcome: str,
    *rest: Any,
) -> ProbeRow:
    return ProbeRow(
        probe,
        case_name,
        core,
        origin,
        since_version,
        tuple(dtypes),
        oracles_agree,
        form,
        outcome,
        support_of(outcome),
        *rest,
    )
