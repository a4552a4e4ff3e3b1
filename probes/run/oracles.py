"""Expected outputs from the oracles, where a harvested case comes without any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import onnx

from probes.cases.case import Case
from probes.cases.variants.ours import answer_graph, answer_node
from probes.cases.variants.vote import EVALUATOR, OURS, RUNTIME, Answers, Decision, decide
from probes.model.values import DtypeError, Tensor, Value
from probes.run.answers import ask
from probes.run.compare import compare
from probes.run.outcome import Outcome

ORACLES = {EVALUATOR: "reference", RUNTIME: "onnxruntime-cpu"}
AGREEING = (Outcome.PASSED, Outcome.CLOSE)


def with_expected(cases: Iterable[Case], left: dict[str, str]) -> Iterator[Case]:
    """The cases with their expected outputs; those on which no two agree go to `left`.

    `left`: name -> why.
    """
    kept = list(cases)
    versions, told = {}, {}
    for oracle, runtime in ORACLES.items():
        versions[oracle], told[oracle] = ask(runtime, kept)
    for case in kept:
        found = _decide(case, *(told[oracle].get(case.id) for oracle in ORACLES))
        why = _objection(found)
        if found is None or why:
            left[case.name] = why
            continue
        yield replace(
            case,
            expected=tuple(found.expected),
            oracle=", ".join(_said(name, versions) for name in found.told_by),
            oracles_agree=found.word,
        )


def _decide(
    case: Case, evaluator: Sequence[Value] | None, runtime: Sequence[Value] | None
) -> Decision | None:
    alike = runtime if evaluator is None else evaluator
    if alike is None:
        return None
    model = onnx.load_from_string(case.model)
    if len(model.graph.node) == 1:
        ours = answer_node(model, case.inputs, case.op_type, case.since_version, alike)
    else:
        ours = answer_graph(model, case.inputs, case.opset, alike)

    def agree(first: Sequence[Value], second: Sequence[Value]) -> bool:
        try:
            return compare(first, second, case).outcome in AGREEING
        except DtypeError:
            return False

    return decide(Answers(evaluator, runtime, ours), agree)


def _objection(found: Decision | None) -> str:
    if found is None:
        return "no oracle runs it"
    if found.word == "disputed":
        return "the oracles differ"
    sizes = [value.size() for value in found.expected if isinstance(value, Tensor)]
    return "nothing comes out at this size" if 0 in sizes else ""


def _said(name: str, versions: Mapping[str, str]) -> str:
    return "float64 numpy" if name == OURS else f"{ORACLES[name]} {versions[name]}"
