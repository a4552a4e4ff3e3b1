"""What must hold of every verdict, whatever the evidence."""

import json

from hypothesis import given
from hypothesis import strategies as st

from probes.judge.reasons import render
from probes.judge.support import Claim, Evidence, judge
from probes.judge.tally import STANDINGS
from probes.judge.verdict import disagree, verdict_from_json, verdict_to_json
from probes.judge.words import LEVELS

DTYPES = ("float", "float16", "int8")
OURS = ("unavailable", "harness_error", "lost_agent")

evidence_rows = st.builds(
    Evidence,
    case_name=st.sampled_from("abcd"),
    core=st.booleans(),
    kind=st.sampled_from(("measured", "simulated")),
    form=st.sampled_from(("as_is", "restamped", "constant", "odd")),
    outcome=st.sampled_from((*STANDINGS, *OURS)),
    stage=st.sampled_from((None, "convert", "run")),
    placement=st.sampled_from(("accelerator", "fallback", "mixed", "unknown", "")),
    message=st.sampled_from(("", "no kernel")),
    max_abs=st.one_of(st.none(), st.floats()),
    oracles_agree=st.sampled_from(("both", "one", "none", "")),
    dtypes=st.sets(st.sampled_from(DTYPES), max_size=2).map(lambda s: tuple(sorted(s))),
    ref=st.integers(0, 9),
    since_version=st.sampled_from((0, 7, 13)),
)
evidence_lists = st.lists(evidence_rows, max_size=12)
claim_lists = st.lists(
    st.builds(
        Claim,
        level=st.sampled_from(("full", "partial", "none", "odd")),
        version=st.sampled_from(("", "1.2", "1.10", "2rc1")),
        restriction=st.sampled_from(("", "4-D only")),
    ),
    max_size=3,
)
declared = st.one_of(st.none(), st.frozensets(st.sampled_from(DTYPES)))
RANK = {"unknown": -1, "red": 0, "yellow": 1, "green": 2}


@given(evidence_lists, claim_lists, declared)
def test_every_verdict_can_be_told_and_stored(evidence, claims, dtypes):
    verdict = judge(evidence, claims, dtypes)
    assert verdict.level in LEVELS
    for reason in (verdict.reason, *verdict.notes, *(side.reason for side in verdict.sides)):
        assert "%(" not in render(reason)
    assert verdict_from_json(json.loads(json.dumps(verdict_to_json(verdict)))) == verdict


@given(evidence_lists, claim_lists, declared, st.randoms())
def test_the_order_of_evidence_does_not_matter(evidence, claims, dtypes, random):
    shuffled = list(evidence)
    random.shuffle(shuffled)
    assert judge(shuffled, claims, dtypes) == judge(evidence, claims, dtypes)


@given(evidence_lists, claim_lists, declared, evidence_rows, st.sampled_from(OURS))
def test_an_error_of_ours_never_changes_a_verdict(evidence, claims, dtypes, row, outcome):
    before = judge(evidence, claims, dtypes)
    after = judge([*evidence, row._replace(outcome=outcome)], claims, dtypes)
    if before.kind == "none":  # only why nothing is known may change
        before, after = (each._replace(reason=None) for each in (before, after))
    assert after == before


@given(evidence_lists, st.booleans(), st.sampled_from(DTYPES))
def test_another_passing_case_of_the_rest_never_lowers(evidence, has_core, dtype):
    evidence = [core_row(), *evidence] if has_core else evidence
    row = core_row()._replace(case_name="new", core=False, dtypes=(dtype,))
    before, after = judge(evidence, []), judge([*evidence, row], [])
    if before.kind in ("measured", "none"):  # else measured evidence takes over
        assert RANK[after.level] >= RANK[before.level]
    if has_core:
        assert after.level == before.level


@given(evidence_lists)
def test_the_rest_never_makes_red(evidence):
    core = [row._replace(kind="measured") for row in evidence if row.core]
    rest = [row._replace(kind="measured") for row in evidence if not row.core]
    before = judge([core_row(), *core], [])
    after = judge([core_row(), *core, *rest], [])
    assert (after.level == "red") is (before.level == "red")
    assert RANK[after.level] <= RANK[before.level]


@given(evidence_lists, claim_lists)
def test_a_claim_changes_no_level_that_evidence_decides(evidence, claims):
    before, after = judge(evidence, []), judge(evidence, claims)
    if before.level != "unknown":
        assert (after.level, after.kind, after.reason) == (
            before.level,
            before.kind,
            before.reason,
        )


@given(evidence_lists, claim_lists)
def test_a_contradiction_shows_both_sides(evidence, claims):
    verdict = judge(evidence, claims)
    against = [side for side in verdict.sides if disagree(side.level, verdict.level)]
    assert verdict.contradiction is bool(against)


@given(evidence_lists)
def test_green_means_that_every_core_case_passed_on_the_intended_unit(evidence):
    verdict = judge(evidence, [])
    if verdict.level == "green":
        assert verdict.core_passed == verdict.core_total > 0
        assert verdict.rest_passed == verdict.rest_total
        core = {row.case_name for row in evidence if row.core and row.kind == verdict.kind}
        clean = {
            row.case_name
            for row in evidence
            if row.outcome == "passed" and row.placement not in ("fallback", "mixed")
        }
        usable = {
            row.case_name
            for row in evidence
            if row.core and row.outcome in STANDINGS and row.oracles_agree != "none"
        }
        assert core & usable <= clean | (core - usable)


def core_row():
    return Evidence("core", True, "measured", "as_is", "passed", placement="accelerator")
