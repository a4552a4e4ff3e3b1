"""The page of one operator: its cell in every column, all claims, its cases and their outcomes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Q

from compat.columns import ColumnHead, load_heads
from compat.graphs import graphs_of
from compat.history.claims import ClaimView, load_claims
from compat.history.limits import LimitView, load_limits
from compat.history.parts import (
    OperatorHead,
    Verdict,
    latest_probes,
    load_operator_head,
    support_of,
    verdict_of,
)
from compat.models import Case, Cell
from probes.cases import origins
from probes.cases.alternatives import WayName, known_ways, way_of
from probes.cases.graphs import Graph
from probes.cases.ways import steps_of


@dataclass(frozen=True)
class OperatorCell:
    column: ColumnHead
    verdict: Verdict | None


@dataclass(frozen=True)
class CaseMark:
    """How one case ended in one column: the best of its forms at the deciding version."""

    probe_id: int
    form: str
    outcome: str
    support: str
    max_abs: float | None
    p50_ms: float | None


@dataclass(frozen=True)
class CaseRow:
    id: str
    name: str
    aliases: tuple[str, ...]  # other tests of the same content, those of older releases too
    core: bool
    origin: str
    since_version: int
    dtypes: tuple[str, ...]
    oracle: str
    oracles_agree: str
    citation: str
    marks: tuple[CaseMark | None, ...]  # one for each of `probed_columns`


@dataclass(frozen=True)
class WayRow:
    """Another graph for a case, and how it ended in each column, as in CaseRow."""

    way: str
    steps: tuple[str, ...]  # the operators of the graph
    citation: str
    marks: tuple[CaseMark | None, ...]


@dataclass(frozen=True)
class WaysRow:
    """A case by its name, how it ended as it is, and the ways to compute the same."""

    replaces: str
    marks: tuple[CaseMark | None, ...]
    ways: tuple[WayRow, ...]


@dataclass(frozen=True)
class OperatorPage:
    """`claims` that join none of the shown columns are in `other_claims`."""

    operator: OperatorHead
    cells: tuple[OperatorCell, ...]
    claims: tuple[ClaimView, ...]
    other_claims: tuple[ClaimView, ...]
    probed_columns: tuple[ColumnHead, ...]
    cases: tuple[CaseRow, ...]
    alternatives: tuple[WaysRow, ...]
    graphs: tuple[Graph, ...]  # of a pattern or a module: which operators it becomes
    limits: tuple[LimitView, ...]  # found by search, of the shown columns, in their order


_Marks = dict[tuple[str, int], CaseMark]
_BEST_FIRST = {"yes": 0, "reserved": 1, "no": 2, "none": 3}


def load_operator(domain: str, name: str) -> OperatorPage:
    """Seven queries; raises NotKnown."""
    operator = load_operator_head(domain, name)
    heads = load_heads()
    found = {cell.column_id: cell for cell in Cell.objects.filter(operator=operator.id)}
    claims = load_claims(operator.id)
    own = [claim for claim in claims if any(claim.joins(head) for head in heads)]
    marks = _load_marks(operator.id, [cell for cell in found.values() if cell.target_id])
    probed_ids = {column for _, column in marks}
    probed = tuple(head for head in heads if head.id in probed_ids)
    cases = list(_case_rows(operator.id, probed, marks))
    return OperatorPage(
        operator=operator,
        cells=tuple(
            OperatorCell(head, verdict_of(found[head.id]) if head.id in found else None)
            for head in heads
        ),
        claims=tuple(own),
        other_claims=tuple(claim for claim in claims if claim not in own),
        probed_columns=probed,
        cases=tuple(case for case in cases if case.origin != origins.ALTERNATIVE),
        alternatives=tuple(_alternatives(operator, cases)),
        graphs=graphs_of(operator.domain, operator.name, operator.kind),
        limits=_limits(operator.id, heads, claims),
    )


def _limits(
    operator_id: int, heads: Sequence[ColumnHead], claims: Sequence[ClaimView]
) -> tuple[LimitView, ...]:
    which = Q(operator=operator_id, target__column__in=[head.id for head in heads])
    places = {head.slug: place for place, head in enumerate(heads)}
    return tuple(sorted(load_limits(which, claims), key=lambda each: places[each.column]))


def _load_marks(operator_id: int, cells: Sequence[Cell]) -> _Marks:
    """The best mark of every case and column, at the version that decides the cell."""
    columns = {cell.target_id: cell.column_id for cell in cells}
    fields = ("case_id", "target_id", "id", "form", "outcome", "max_abs", "p50_ms")
    found = latest_probes(Q(operator=operator_id, target__in=columns)).order_by("form", "id")
    marks: _Marks = {}
    for case, target, probe, form, outcome, max_abs, p50 in found.values_list(*fields):
        mark = CaseMark(probe, form, outcome, support_of(outcome), max_abs, p50)
        best = marks.get((case, columns[target]))
        if best is None or _BEST_FIRST[mark.support] < _BEST_FIRST[best.support]:
            marks[case, columns[target]] = mark
    return marks


def _case_rows(operator_id: int, columns: Sequence[ColumnHead], marks: _Marks) -> Iterator[CaseRow]:
    for case in Case.objects.filter(operator=operator_id, retired=False).order_by("-core", "name"):
        yield CaseRow(
            id=case.id,
            name=case.name,
            aliases=tuple(case.aliases),
            core=case.core,
            origin=case.origin,
            since_version=case.since_version,
            dtypes=tuple(case.dtypes),
            oracle=case.oracle,
            oracles_agree=case.oracles_agree,
            citation=case.citation,
            marks=tuple(marks.get((case.id, head.id)) for head in columns),
        )


def _alternatives(operator: OperatorHead, cases: Sequence[CaseRow]) -> Iterator[WaysRow]:
    known = known_ways().get((operator.domain, operator.name), {})
    by_name = {case.name: case for case in cases}
    ways = {way_of(case.name): case for case in cases}
    for replaces, named in known.items():
        own = by_name.get(replaces)
        shown = tuple(
            WayRow(name, steps_of(way), case.citation, case.marks)
            for name, way in named.items()
            if (case := ways.get(WayName(replaces, name)))
        )
        if own and shown:
            yield WaysRow(replaces, own.marks, shown)
