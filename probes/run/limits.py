"""The search for limits: values become cases, cases become probes, and what they say a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from probes.cases.case import Case
from probes.cases.forms import forms_for
from probes.cases.limits.build import first_inputs, limit_case, typed_cases
from probes.cases.limits.row import LimitRow
from probes.run.adapter import Capabilities
from probes.run.bisection import edge_of, next_value
from probes.run.outcome import OUTCOMES, Placement, ProbeResult
from probes.run.requests import ProbeRequest
from probes.run.sandbox import Sandbox

SCHEMA = 1
LIMITS_KIND = "opatlas-limits"
MESSAGE = 400  # characters of a refusal that are kept
BEST, PARTLY, ELSEWHERE, NOT = 3, 2, 1, 0  # how a probe stands; BEST also where nobody says where
RUNS = {BEST: "intended", PARTLY: "partly", ELSEWHERE: "cpu", NOT: ""}
# Compilers put these around a layer to suit it; where they run is not where the operator runs.
AROUND = frozenset({"Reshape", "Transpose", "Cast"})
Probe = dict[str, Any]


class Unanswered(Exception):
    """A probe that says nothing of the runtime: it was not there, or we could not ask."""


@dataclass(frozen=True)
class Edge:
    """The last value that works in one direction and its neighbour that does not, as probes.

    again: values beyond it that work all the same; tried: every value and how it ended, in order.
    """

    worked: Probe | None
    failed: Probe | None
    again: tuple[int, ...] = ()
    tried: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class ParameterLimits:
    """What was found of one parameter between `least` and `most`."""

    parameter: str
    kind: str
    operand: str
    least: int
    usual: int
    most: int
    smallest: Edge
    largest: Edge


@dataclass(frozen=True)
class OperatorLimits:
    """`operands` follow from the rest: per input of the first one's type, the types, ranks and
    dimensions that work. `unanswered`: parameters of which the probes say nothing, with why."""

    domain: str
    operator: str
    since_version: int
    parameters: tuple[ParameterLimits, ...]
    dtypes: tuple[Probe, ...]
    operands: dict[str, Any]
    unanswered: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


Ask = Callable[[Case], ProbeResult]


def search_operator(sandbox: Sandbox, rows: Sequence[LimitRow]) -> OperatorLimits:
    """Every parameter of one operator, and its data types at the usual value of the first.

    Raises StartError when the runtime does not start.
    """
    asker = Asker(sandbox)
    found, unanswered = [], {}
    for row in rows:
        try:
            found.append(search(row, asker.ask))
        except Unanswered as error:
            unanswered[row.parameter] = str(error)[:MESSAGE]
    dtypes = tuple(_typed_probes(rows[0], asker.ask))
    case = limit_case(rows[0], rows[0].usual)
    return OperatorLimits(
        domain=case.domain,
        operator=case.op_type,
        since_version=case.since_version,
        parameters=tuple(found),
        dtypes=dtypes,
        operands=operands_of(rows[0], found, dtypes),
        unanswered=unanswered,
    )


def search(row: LimitRow, ask: Ask) -> ParameterLimits:
    """Both edges of one parameter; raises Unanswered."""
    seen: dict[int, tuple[Case, ProbeResult]] = {}

    def tell(value: int) -> tuple[Case, ProbeResult]:
        if value not in seen:
            case = limit_case(row, value)
            seen[value] = case, ask(case)
        return seen[value]

    least = standing(tell(row.usual)[1], row.op)
    return ParameterLimits(
        row.parameter, row.kind, row.operand, row.least, row.usual, row.most,
        smallest=_edge(row.downwards, least, tell),
        largest=_edge(row.upwards, least, tell),
    )  # fmt: skip


def _edge(
    values: Sequence[int], least: int, tell: Callable[[int], tuple[Case, ProbeResult]]
) -> Edge:
    """A value works when it stands as well as the usual one does."""
    tried: dict[int, bool] = {}
    while (value := next_value(values, tried)) is not None:
        case, result = tell(value)
        tried[value] = standing(result, case.op_type) >= max(least, ELSEWHERE)
    worked, failed, again = edge_of(values, tried)
    return Edge(
        worked=None if worked is None else probe_of(*tell(worked), value=worked),
        failed=None if failed is None else probe_of(*tell(failed), value=failed),
        again=again,
        tried=tuple((value, tell(value)[1].outcome.value) for value in tried),
    )


def standing(result: ProbeResult, operator: str = "") -> int:
    """NOT: does not work; then on the CPU instead, partly there, and as it should be."""
    row = OUTCOMES[result.outcome]
    if not row.is_evidence:
        raise Unanswered(f"{result.outcome.value}: {result.message}")
    return _place(result, operator) if row.support != "no" else NOT


def _place(result: ProbeResult, operator: str) -> int:
    """By the units of the layers that compute, of a detail like "Reshape:CPU x2 Conv:NPU"."""
    if result.placement not in (Placement.MIXED, Placement.FALLBACK):
        return BEST
    layers = [word.split(":") for word in result.placement_detail.split() if ":" in word]
    units = {unit == "CPU" for name, unit in layers if name == operator or name not in AROUND}
    if units == {False}:
        return BEST
    return ELSEWHERE if units == {True} or result.placement is Placement.FALLBACK else PARTLY


def probe_of(case: Case, result: ProbeResult, **more: Any) -> Probe:
    """What a document keeps of a probe: the case, its node, and how it ended."""
    return {
        **more,
        "case_id": case.id,
        "case": case.name,
        "node": {"inputs": case.signature["inputs"], "attributes": case.signature["attrs"]},
        "form": result.form,
        "outcome": result.outcome.value,
        "stage": result.stage.value if result.stage else "",
        "runs": RUNS[standing(result, case.op_type)],
        "placement": result.placement.value,
        "placement_detail": result.placement_detail[:MESSAGE],
        "message": result.message[:MESSAGE],
    }


class Asker:
    """Tries a case as it is, then in the other forms that keep its types, until one works."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.capabilities: Capabilities = sandbox.capabilities()

    def ask(self, case: Case) -> ProbeResult:
        """The best standing; of equal ones the first."""
        forms = [
            form for form in forms_for(case, self.capabilities) if "cast" not in form.split("+")
        ]
        best: ProbeResult | None = None
        for form in forms:
            result = self.sandbox.run(ProbeRequest(case, form))
            if best is None or _rank(result, case) > _rank(best, case):
                best = result
            if _rank(best, case) == BEST:
                break
        assert best is not None
        return best


def _rank(result: ProbeResult, case: Case) -> int:
    try:
        return standing(result, case.op_type)
    except Unanswered:
        return -1


def _typed_probes(row: LimitRow, ask: Ask) -> Iterator[Probe]:
    for name, case in typed_cases(row).items():
        result = ask(case)
        if OUTCOMES[result.outcome].is_evidence:
            yield probe_of(case, result, dtype=name, works=standing(result, row.op) > NOT)


def operands_of(
    row: LimitRow, found: Sequence[ParameterLimits], dtypes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Per input, after opSupportLimits of WebNN: dataTypes, rankRange, dimensionRange. A range
    that nothing ended says so by `open`."""
    operands: dict[str, Any] = {
        name: {"dataTypes": [each["dtype"] for each in dtypes if each["works"]]}
        for name in first_inputs(row)
    }
    for kind, key in (("rank", "rankRange"), ("dimension", "dimensionRange")):
        for each in found:
            if each.kind == kind and each.largest.worked and each.smallest.worked:
                operand = operands.setdefault(each.operand, {})
                operand[key] = _wider(operand.get(key), each)
    return operands


def _wider(known: Mapping[str, Any] | None, found: ParameterLimits) -> dict[str, Any]:
    """The range in which at least one dimension was seen to work."""
    assert found.smallest.worked is not None
    assert found.largest.worked is not None
    own = {
        "min": found.smallest.worked["value"],
        "max": found.largest.worked["value"],
        "open": found.largest.failed is None,
    }
    if known is None:
        return own
    larger = max(known, own, key=lambda each: each["max"])
    return {"min": min(known["min"], own["min"]), "max": larger["max"], "open": larger["open"]}
