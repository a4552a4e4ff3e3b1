"""Where vendors' lists and probes disagree, both sides of each, in seven queries."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Q
from django.db.models.functions import Left

from compat.cells import (
    EVIDENCE,
    MESSAGE_CHARS,
    evidence_of,
    judged_claim,
    judged_probes,
    speaks_first,
)
from compat.columns import ColumnHead, load_heads, probed_heads
from compat.history import ClaimView
from compat.history.claims import claim_view
from compat.history.parts import support_of
from compat.models import Cell, Claim, Target
from compat.sheets import csv_lines
from compat.top20 import TOP20_RANK
from probes.judge.claims import choose_claim
from probes.judge.contradiction import DIRECTIONS, HARD, contradiction, relation, spans
from probes.judge.listed import unlisted_type
from probes.judge.support import Evidence
from probes.judge.tally import count, is_evidence

CSV_COLUMNS = (
    "domain", "operator", "top20", "column", "device", "runtime", "direction", "versions",
    "claim", "claim_version", "claim_opset_min", "claim_opset_max", "claim_dtypes",
    "claim_restriction", "claim_unit", "document", "document_version", "document_date", "read_at",
    "kind", "probed_version", "level", "reason", "case", "form", "outcome", "stage", "message",
    "evidence", "reproducer",
)  # fmt: skip
PROBED_KINDS = ("measured", "simulated")
FIRST_TYPE = "case__signature__inputs__0__dtype"
EVERY = "all"
CLAIM_LEVELS = ("full", "partial", "none")
_OPPOSED = (
    Q(claim_level="full", level__in=("red", "yellow"))
    | Q(claim_level="partial", level="red")
    | Q(claim_level="none", level__in=("green", "yellow"))
)


@dataclass(frozen=True)
class ProbeSide:
    """The verdict of the version that decides, and the case of it that shows the contradiction."""

    kind: str  # measured, simulated
    runtime_version: str
    target_slug: str
    level: str
    reason_code: str
    reason_params: dict[str, Any]
    core_passed: int
    core_total: int
    probe_id: int
    case_name: str
    core: bool
    opset: int
    dtypes: tuple[str, ...]
    form: str
    outcome: str
    support: str
    stage: str
    message: str


@dataclass(frozen=True)
class Contradiction:
    """An operator on a column, and what each side says of it.

    `versions` is how the list's version stands to the probed one: same, list_older, list_newer,
    or unknown. `other_levels` are what other documents of the same runtime claim, each once.
    """

    domain: str
    name: str
    top20: bool
    column: ColumnHead
    direction: str
    versions: str
    claim: ClaimView
    other_levels: tuple[str, ...]
    probe: ProbeSide


@dataclass(frozen=True)
class ContradictionFilters:
    """An empty filter does not filter; without columns, no recording of what is live here too."""

    search: str = ""
    columns: tuple[str, ...] = ()
    device_classes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    directions: tuple[str, ...] = HARD


@dataclass(frozen=True)
class Contradictions:
    """`counts` by direction is over all directions, within the other filters."""

    rows: tuple[Contradiction, ...]
    counts: dict[str, int]
    columns: tuple[ColumnHead, ...]  # all that may be asked for


class Told(NamedTuple):
    """What only the pages know of a row: the reason in words, where evidence and model lie."""

    reason: str
    evidence: str
    reproducer: str


class _Tried(NamedTuple):
    """A probe, with what a list may bound: the stamp of its case and its first input's type."""

    evidence: Evidence
    opset: int
    dtype: str | None


_Claims = dict[tuple[str, int], list[Claim]]  # runtime, operator id
_Probes = dict[tuple[int | None, int], list[_Tried]]  # target id, operator id


def directions_of(asked: Iterable[str]) -> tuple[str, ...]:
    """The directions of a query: the hard ones when none is asked for, every one for "all"."""
    named = [each for each in asked if each]
    if EVERY in named:
        return tuple(DIRECTIONS)
    return tuple(each for each in DIRECTIONS if each in named) if named else HARD


def load_contradictions(filters: ContradictionFilters = ContradictionFilters()) -> Contradictions:
    """Seven queries. Top 20 operators first, then by name; columns in the order of the matrix."""
    heads = load_heads(hidden=True)
    chosen = {head.id: head for head in _chosen(heads, filters)}
    cells = _load_cells(chosen, filters)
    probes, claims = _load_probes(cells), _load_claims(cells, chosen)
    found = []
    for cell in cells:
        head = chosen[cell.column_id]
        tried = probes.get((cell.target_id, cell.operator_id), [])
        row = _compare(cell, head, _own(claims, cell, head), tried)
        if row and (not filters.versions or row.versions in filters.versions):
            found.append(row)
    counted = Counter(row.direction for row in found)
    rows = [row for row in found if row.direction in filters.directions]
    order = list(chosen)
    rows.sort(key=lambda row: (_rank(row), row.name, row.domain, order.index(row.column.id)))
    return Contradictions(tuple(rows), {each: counted[each] for each in DIRECTIONS}, tuple(heads))


def contradictions_csv(rows: Iterable[Contradiction], told: Iterable[Told]) -> Iterator[str]:
    """CSV lines, both sides of a contradiction in one."""
    return csv_lines([CSV_COLUMNS, *map(_csv_row, rows, told)])


def _csv_row(row: Contradiction, told: Told) -> list[object]:
    claim, probe, column = row.claim, row.probe, row.column
    return [
        row.domain, row.name, "yes" if row.top20 else "no", column.slug, column.device_title,
        column.runtime_title, row.direction, row.versions,
        claim.level, claim.runtime_version, claim.opset_min, claim.opset_max, claim.dtypes,
        claim.restriction, claim.unit, claim.source_title, claim.source_version,
        claim.source_date, claim.source_place,
        probe.kind, probe.runtime_version, probe.level, told.reason, probe.case_name, probe.form,
        probe.outcome, probe.stage, probe.message, told.evidence, told.reproducer,
    ]  # fmt: skip


def _chosen(heads: Sequence[ColumnHead], filters: ContradictionFilters) -> Iterator[ColumnHead]:
    named = filters.columns
    for head in [head for head in heads if head.slug in named] if named else probed_heads(heads):
        if not filters.device_classes or head.device_class in filters.device_classes:
            yield head


def _load_cells(columns: Iterable[int], filters: ContradictionFilters) -> list[Cell]:
    kinds = set(PROBED_KINDS).intersection(filters.kinds or PROBED_KINDS)
    cells = Cell.objects.filter(_OPPOSED, column__in=list(columns), kind__in=kinds)
    if filters.search:
        cells = cells.filter(operator__name__icontains=filters.search.strip()[:128])
    # Few targets and operators, many cells: one object of each is enough.
    return list(cells.exclude(target=None).prefetch_related("operator", "target"))


def _load_probes(cells: Iterable[Cell]) -> _Probes:
    by_target: dict[int | None, list[int]] = {}
    for cell in cells:
        by_target.setdefault(cell.target_id, []).append(cell.operator_id)
    wanted = Q(pk__in=[])
    for target, operators in by_target.items():
        wanted |= Q(target=target, operator__in=operators)
    values = judged_probes().filter(wanted).annotate(line=Left("message", MESSAGE_CHARS))
    found: _Probes = {}
    for target_id, operator_id, opset, dtype, *facts in values.values_list(
        "target_id", "operator_id", "case__opset", FIRST_TYPE, *EVIDENCE
    ):
        tried = _Tried(evidence_of(facts), opset, dtype)
        found.setdefault((target_id, operator_id), []).append(tried)
    return found


def _load_claims(cells: Iterable[Cell], heads: Mapping[int, ColumnHead]) -> _Claims:
    """By runtime and operator; those that speak first in front."""
    by_runtime: dict[str, set[int]] = {}
    for cell in cells:
        by_runtime.setdefault(heads[cell.column_id].runtime, set()).add(cell.operator_id)
    wanted = Q(pk__in=[])
    for runtime, operators in by_runtime.items():
        wanted |= Q(runtime=runtime, operator__in=operators)
    claims: _Claims = {}
    found = Claim.objects.filter(wanted).prefetch_related("source")
    for claim in sorted(found, key=speaks_first):
        claims.setdefault((claim.runtime, claim.operator_id), []).append(claim)
    return claims


def _own(claims: _Claims, cell: Cell, head: ColumnHead) -> list[Claim]:
    """The claims that join the cell's column."""
    found = claims.get((head.runtime, cell.operator_id), [])
    return [claim for claim in found if claim.device_class in ("", head.device_class)]


def _compare(
    cell: Cell, head: ColumnHead, claims: Sequence[Claim], tried: Sequence[_Tried]
) -> Contradiction | None:
    target, claim = cell.target, _deciding(claims)
    if target is None or claim is None:
        return None
    usable = {
        each.evidence.ref: each
        for each in tried
        if each.evidence.kind == cell.kind and is_evidence(each.evidence)
    }
    declared = frozenset(target.capabilities.get("dtypes", ())) or None
    tally = count(cell.kind, [each.evidence for each in usable.values()], declared)
    found = contradiction(
        claim.level, cell.level, tally, lambda case: _covers(claim, usable[case.best.ref])
    )
    if found is None:
        return None
    domain, name = cell.operator.domain, cell.operator.name
    return Contradiction(
        domain=domain,
        name=name,
        top20=(domain, name) in TOP20_RANK,
        column=head,
        direction=found.direction,
        versions=relation(claim.runtime_version, target.runtime_version),
        claim=claim_view(claim),
        other_levels=_other_levels(claim, claims),
        probe=_probe_side(cell, target, usable[found.case.best.ref]),
    )


def _deciding(claims: Sequence[Claim]) -> Claim | None:
    """The claim that the cell was judged by."""
    by_ref = {f"claim:{claim.pk}": claim for claim in claims}
    chosen = choose_claim([judged_claim(claim) for claim in claims])
    return by_ref[str(chosen.ref)] if chosen else None


def _covers(claim: Claim, tried: _Tried) -> bool:
    """Whether the list speaks of the case: its opsets meet, its first input's type is listed."""
    since = tried.evidence.since_version
    if not spans(since, tried.opset, claim.opset_min, claim.opset_max):
        return False
    if tried.dtype is None:  # a case without inputs
        return True
    return not unlisted_type(claim.dtypes, {"inputs": [{"dtype": tried.dtype}]})


def _other_levels(claim: Claim, claims: Iterable[Claim]) -> tuple[str, ...]:
    said = {each.level for each in claims if each.source_id != claim.source_id}
    return tuple(level for level in CLAIM_LEVELS if level in said)


def _probe_side(cell: Cell, target: Target, tried: _Tried) -> ProbeSide:
    evidence = tried.evidence
    return ProbeSide(
        kind=cell.kind,
        runtime_version=target.runtime_version,
        target_slug=target.slug,
        level=cell.level,
        reason_code=cell.reason_code,
        reason_params=cell.reason_params,
        core_passed=cell.core_passed,
        core_total=cell.core_total,
        probe_id=int(evidence.ref or 0),
        case_name=evidence.case_name,
        core=evidence.core,
        opset=tried.opset,
        dtypes=evidence.dtypes,
        form=evidence.form,
        outcome=evidence.outcome,
        support=support_of(evidence.outcome),
        stage=evidence.stage or "",
        message=evidence.message,
    )


def _rank(row: Contradiction) -> int:
    return TOP20_RANK.get((row.domain, row.name), len(TOP20_RANK))
