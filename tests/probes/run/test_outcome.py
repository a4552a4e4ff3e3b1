"""The result document: complete, bounded, and strict about what it takes back."""

import json
from dataclasses import replace

import pytest

from probes.run.outcome import (
    MAX_LOG,
    MAX_MESSAGE,
    OUTCOMES,
    Fault,
    Latency,
    Outcome,
    Placement,
    ProbeResult,
    Stage,
    environment_digest,
)

RESULT = ProbeResult(
    case_id="c" * 32,
    form="as_is",
    target="bench.fake.default@1.0",
    outcome=Outcome.CLOSE,
    stage=Stage.COMPARE,
    message="close",
    placement=Placement.MIXED,
    max_abs=0.5,
    bit_exact=False,
    latency=Latency((1.0, 2.0), 3, 1.0, 2.0, 1.0, 2, {"threads": 1}),
    confirmed=False,
    signal="SIGSEGV",
    seconds=0.25,
    started_at=1e9,
)


def test_round_trip():
    assert ProbeResult.from_json(RESULT.to_json()) == RESULT
    assert ProbeResult.from_json(RESULT.to_dict()) == RESULT


def test_every_outcome_says_whose_fault_it_is():
    assert set(OUTCOMES) == set(Outcome)
    ours = {outcome for outcome, row in OUTCOMES.items() if row.fault is Fault.HARNESS}
    assert ours == {Outcome.UNAVAILABLE, Outcome.HARNESS_ERROR, Outcome.LOST_AGENT}
    for outcome, row in OUTCOMES.items():
        assert row.is_evidence is (outcome not in ours)
        assert (row.support == "none") is (outcome in ours)


def test_texts_are_bounded_and_numbers_are_json():
    loud = replace(RESULT, message="m" * 9999, log="l" * 99999, max_abs=float("inf"))
    document = json.loads(loud.to_json())
    assert len(document["message"]) == MAX_MESSAGE
    assert len(document["log"]) == MAX_LOG
    assert document["max_abs"] is None


def test_a_newer_agent_may_say_more():
    assert ProbeResult.from_json({**RESULT.to_dict(), "mood": "good"}) == RESULT


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"outcome": "fine"},
        {"stage": "lunch"},
        {"placement": "moon"},
        {"message": ["text"]},
        {"max_abs": "1"},
        {"max_abs": True},
        {"bit_exact": "yes"},
        {"latency": {"samples_ms": []}},
        {"latency": [1, 2]},
        {"case_id": 7},
    ],
    ids=str,
)
def test_a_malformed_document_is_refused(change):
    with pytest.raises(ValueError, match=r"."):
        ProbeResult.from_json({**RESULT.to_dict(), **change})


@pytest.mark.parametrize("missing", ["case_id", "form", "target", "outcome"])
def test_an_incomplete_document_is_refused(missing):
    document = RESULT.to_dict()
    del document[missing]
    with pytest.raises(ValueError, match=r"."):
        ProbeResult.from_json(document)


def test_an_environment_is_named_by_its_facts_not_their_order():
    assert environment_digest({"a": 1, "b": 2}) == environment_digest({"b": 2, "a": 1})
    assert environment_digest({"a": 1}) != environment_digest({"a": 2})
