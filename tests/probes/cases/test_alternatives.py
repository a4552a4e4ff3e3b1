"""The alternatives: the same inputs and outputs as the case they replace, by both oracles."""

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest

from compat.top20 import TOP20
from probes.cases import alternatives, origins
from probes.cases.alternatives import build_alternatives, way_of
from probes.cases.way import Way
from probes.cases.ways import all_ways
from probes.model.values import to_numpy
from probes.run.outcome import Outcome
from probes.run.sandbox import ProbeRequest, Sandbox

# An approximation by its definition: near, and said to be only that.
NEAR = {"alternative/Gelu/128x3072-v1/tanh-near-v1": Outcome.CLOSE}
# Where onnx's evaluator is wrong: its BatchNormalization-9, and pads of unequal sides.
ODD = {
    "alternative/BatchNormalization/256-14-v1/opset13-v1": Outcome.MISMATCH,
    "alternative/MaxPool/same-2x2s1-48-24x160-v1/explicit-pads-v1": Outcome.WRONG_SHAPE,
}
SLOW = "/opset20-v1"  # GridSample takes minutes in onnx's evaluator, pixel by pixel


@pytest.fixture(scope="module")
def cases():
    return {case.name: case for case in build_alternatives()}


@pytest.fixture(scope="module")
def odd(cases):
    """Outcomes other than a pass, by runtime and case name."""
    found = {}
    by_id = {case.id: case for case in cases.values()}
    with ExitStack() as stack:
        for runtime in ("onnxruntime-cpu", "reference"):
            sandbox = stack.enter_context(Sandbox(runtime, latency=False))
            asked = [
                case
                for case in cases.values()
                if runtime != "reference" or not case.name.endswith(SLOW)
            ]
            found[runtime] = {
                by_id[result.case_id].name: result.outcome
                for result in sandbox.run_many(map(ProbeRequest, asked))
                if result.outcome is not Outcome.PASSED
            }
    return found


def test_onnx_runtime_gives_the_replaced_outputs_in_every_way(odd):
    assert odd["onnxruntime-cpu"] == NEAR


def test_the_evaluator_gives_them_but_in_the_listed_ways(odd):
    assert odd["reference"] == {**NEAR, **ODD}


def test_ways_say_where_only_one_oracle_agrees(cases):
    lonely = {name for name, case in cases.items() if case.oracles_agree == "one"}
    assert lonely == {*ODD, *(name for name in cases if name.endswith(SLOW))}


def test_inputs_and_outputs_are_those_of_the_replaced_case(cases):
    """Built apart from the mainstream case, of the same bytes."""
    from probes.cases.catalogue import mainstream_cases

    wanted = {way_of(name).replaces for name in cases}
    replaced = {case.name: case for case in mainstream_cases() if case.name in wanted}
    assert replaced.keys() == wanted
    for name, case in cases.items():
        other = replaced[way_of(name).replaces]
        assert case.inputs == other.inputs, name
        assert case.id != other.id
        assert (case.domain, case.op_type) == (other.domain, other.op_type)
        for mine, theirs in zip(case.expected, other.expected, strict=True):
            np.testing.assert_array_equal(to_numpy(mine), to_numpy(theirs), name)


def test_alternatives_never_speak_for_the_operator(cases):
    for case in cases.values():
        assert (case.core, case.origin, case.signature) == (False, origins.ALTERNATIVE, {})
        assert case.citation.endswith(way_of(case.name).replaces)


def test_every_operator_that_people_ask_about_first_has_a_way(cases):
    found = {(case.domain, case.op_type) for case in cases.values()}
    assert [(row.domain, row.name) for row in TOP20 if (row.domain, row.name) not in found] == []


def test_names_are_unique_and_versioned():
    names = [(way.op, label, way.name) for way in all_ways() for label in way.rows]
    assert len(names) == len(set(names))
    assert [name for *_, name in names if not name.rpartition("-v")[2].isdigit()] == []


def test_a_name_says_what_is_replaced_and_how():
    found = way_of("alternative/Gelu/128x3072-v1/tanh-near-v1")
    assert found == ("mainstream/Gelu/128x3072-v1", "tanh-near")
    assert way_of("mainstream/Gelu/128x3072-v1") is None


def test_a_way_without_its_row_is_told(monkeypatch):
    monkeypatch.setattr(alternatives, "all_ways", lambda: [Way("Gelu", "erf-v1", ("gone",), "")])
    with pytest.raises(LookupError, match="gone"):
        list(build_alternatives())


def test_a_way_that_computes_something_else_does_not_pass(cases):
    """HardSigmoid with a bias of 0.4 in place of 0.5."""
    case = next(case for case in cases.values() if case.name.endswith("hard-sigmoid-v1"))
    wrong = replace(
        case, model=case.model.replace(*(np.float32(each).tobytes() for each in (0.5, 0.4)))
    )
    with Sandbox("onnxruntime-cpu", latency=False) as sandbox:
        assert sandbox.run(ProbeRequest(wrong)).outcome is Outcome.MISMATCH
