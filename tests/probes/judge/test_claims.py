"""Claims alone, against evidence and against each other."""

import pytest

from probes.judge.reasons import render
from probes.judge.support import judge
from tests.probes.judge.make import claim, core, rest

SIM = {"kind": "simulated"}

CLAIMS = [
    ("full", "green", "vendor-list 2.3.2 lists it as supported: below 4-D"),
    ("partial", "yellow", "vendor-list 2.3.2, supported with limits: below 4-D"),
    ("none", "red", "vendor-list 2.3.2 lists it as not supported: below 4-D"),
]


@pytest.mark.parametrize(("level", "colour", "sentence"), CLAIMS)
def test_a_claim_alone_is_drawn_as_a_claim(level, colour, sentence):
    verdict = judge([core("a", "harness_error")], [claim(level, restriction="below 4-D")])
    assert (verdict.level, verdict.kind, verdict.claim_level) == (colour, "documented", level)
    assert render(verdict.reason) == sentence


CONTRADICTIONS = [
    ("full", "rejected", True),
    ("partial", "rejected", True),
    ("none", "rejected", False),
    ("none", "passed", True),
    ("none", "close", True),
    ("full", "close", False),
    ("partial", "passed", False),
]


@pytest.mark.parametrize("kind", ["measured", "simulated"])
@pytest.mark.parametrize(("level", "outcome", "contradicts"), CONTRADICTIONS)
def test_contradiction(kind, level, outcome, contradicts):
    verdict = judge([core("a", outcome, kind=kind)], [claim(level)])
    assert verdict.contradiction is contradicts
    assert (verdict.kind, verdict.claim_level) == (kind, level)
    assert [side.kind for side in verdict.sides] == ["documented"]


def test_measured_decides_over_simulated_and_both_are_kept():
    verdict = judge([core("a", "rejected"), core("a", **SIM)], [claim("none")])
    assert (verdict.level, verdict.kind, verdict.contradiction) == ("red", "measured", True)
    assert [(s.kind, s.level) for s in verdict.sides] == [
        ("simulated", "green"),
        ("documented", "red"),
    ]


def test_a_claim_decides_over_evidence_that_says_nothing():
    verdict = judge([rest("a", "rejected", dtypes=("int8",))], [claim()], frozenset({"float32"}))
    assert (verdict.level, verdict.kind) == ("green", "documented")
    assert (verdict.sides[0].level, verdict.contradiction) == ("unknown", False)


NEWER = [
    ("2.10", "2.9"),
    ("v3.0.0", "2.9.9"),
    ("3", "3rc1"),
    ("1.2.1", "1.2"),
    ("1", ""),
]


@pytest.mark.parametrize(("newer", "older"), NEWER)
def test_the_newest_claim_decides_by_number(newer, older):
    for claims in ([claim("full", newer), claim("none", older)],) * 2:
        assert judge([], claims).level == "green"
        assert judge([], claims[::-1]).level == "green"


def test_of_equally_new_claims_the_first_decides():
    assert judge([], [claim("partial", "2.3"), claim("none", "2.3.0")]).level == "yellow"
