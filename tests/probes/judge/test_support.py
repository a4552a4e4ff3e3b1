"""One test a row of the rule, named after it, and what the rows rest on."""

import time

import pytest

from probes.judge.reasons import render
from probes.judge.support import RULE, judge
from tests.probes.judge.make import core, rest

SIM = {"kind": "simulated"}

# name of the row, evidence, declared dtypes, level, code, sentence
ROWS = [
    (
        "undeclared_only",
        [rest("a", "rejected", dtypes=("int64",))],
        {"float32"},
        "unknown",
        "tried only in data types that the target does not declare",
    ),
    (
        "rest_only",
        [rest("a", "rejected", dtypes=("int64",)), rest("b", dtypes=("int8",))],
        {"float32"},
        "yellow",
        "tried only in data types that the target does not declare: 1 of 2 cases pass",
    ),
    (
        "wrong_values",
        [core("a"), core("b", "mismatch")],
        None,
        "red",
        "wrong values without an error in 1 of 2 core cases: mainstream/Op/b",
    ),
    (
        "wrong_shape",
        [core("a"), core("b", "wrong_shape")],
        None,
        "red",
        "wrong output shape without an error in 1 of 2 core cases: mainstream/Op/b",
    ),
    (
        "refused",
        [core("a", "rejected", stage="convert", message="\nNot support X\nat line 3"), rest("a")],
        None,
        "red",
        "refused at conversion: Not support X",
    ),
    (
        "run_error",
        [core("a", "run_error", stage="run", message="boom")],
        None,
        "red",
        "fails while running: boom",
    ),
    ("crashed", [core("a", "crashed", stage="load")], None, "red", "crashes at loading"),
    (
        "timed_out",
        [core("a", "timed_out", stage="compile")],
        None,
        "red",
        "does not end in time at compilation",
    ),
    (
        "out_of_memory",
        [core("a", "out_of_memory", stage="run")],
        None,
        "red",
        "runs out of memory at running",
    ),
    (
        "core_none",
        [core("a", "rejected"), core("b", "crashed")],
        None,
        "red",
        "none of 2 core cases passes: crash, refused",
    ),
    (
        "core_some_dtype",
        [
            core("a"),
            core("b", "rejected", dtypes=("bfloat16",)),
            core("c", "rejected", dtypes=("float16",)),
        ],
        None,
        "yellow",
        "only with float32, not with bfloat16, float16 (1 of 3 core cases pass)",
    ),
    (
        "core_some_since",
        [core("a"), core("b", "rejected", since_version=21)],
        None,
        "yellow",
        "only operator version 13, not 21 (1 of 2 core cases pass)",
    ),
    (
        "core_some_form",
        [core("a", "rejected"), core("a", form="constant"), core("b", "rejected")],
        None,
        "yellow",
        "1 of 2 core cases pass, only with constant inputs; fails with mainstream/Op/b",
    ),
    (
        "core_some",
        [core("a"), *(core(name, "rejected") for name in "bcde")],
        None,
        "yellow",
        "1 of 5 core cases pass; fails with mainstream/Op/b, mainstream/Op/c, mainstream/Op/d, …",
    ),
    (
        "unseen",
        [core("a", "compiled", **SIM)],
        None,
        "yellow",
        "compiles, numbers unseen (1 of 1 core cases)",
    ),
    (
        "fallback",
        [core("a"), core("b", placement="fallback")],
        None,
        "yellow",
        "1 of 2 core cases fall back to the CPU",
    ),
    (
        "mixed",
        [core("a", placement="mixed")],
        None,
        "yellow",
        "1 of 1 core cases run partly on the CPU",
    ),
    (
        "wrong_dtype",
        [core("a", "wrong_dtype")],
        None,
        "yellow",
        "right values in a wrong data type in 1 of 1 core cases: mainstream/Op/a",
    ),
    (
        "unstable",
        [core("a", "unstable")],
        None,
        "yellow",
        "not repeatable in 1 of 1 core cases: mainstream/Op/a",
    ),
    (
        "wrong_in_form",
        [core("a", "mismatch"), core("a", form="constant")],
        None,
        "yellow",
        "passes, but wrong values without an error in another form of mainstream/Op/a",
    ),
    (
        "only_constant",
        [core("a", "rejected"), core("a", form="constant")],
        None,
        "yellow",
        "only with constant inputs in 1 of 1 core cases",
    ),
    (
        "only_form",
        [core("a", "rejected"), core("a", form="wrapped in Cast")],
        None,
        "yellow",
        "only with wrapped in Cast in 1 of 1 core cases",
    ),
    (
        "only_restamped",
        [core("a", "rejected"), core("a", form="restamped")],
        None,
        "yellow",
        "only after restamping to an older opset or IR version in 1 of 1 core cases",
    ),
    (
        "close",
        [core("a", "close", max_abs=0.25), core("b", max_abs=1e-6)],
        None,
        "yellow",
        "small errors, inside the tolerance band, in 1 of 2 core cases",
    ),
    (
        "placement_unproven",
        [core("a", placement="unknown", **SIM)],
        None,
        "yellow",
        "passes in the simulator; running on the accelerator is not proven",
    ),
    (
        "rest_failed_dtype",
        [core("a"), rest("b"), rest("c", "rejected", dtypes=("int8", "float32"))],
        None,
        "yellow",
        "fails with int8 in 1 of 2 cases beyond the core",
    ),
    (
        "rest_failed_since",
        [core("a"), rest("c", "rejected", since_version=9)],
        None,
        "yellow",
        "fails with operator version 9 in 1 of 1 cases beyond the core",
    ),
    (
        "rest_failed",
        [core("a"), rest("b"), rest("c", "mismatch")],
        None,
        "yellow",
        "1 of 2 cases beyond the core fail: node/test_c",
    ),
    (
        "core_pass",
        [core("a"), core("b", **SIM), rest("c")],
        None,
        "green",
        "1 of 1 core cases pass",
    ),
]
NOTES = {"placement_unreported", "rest_reserved", "oracle_one", "promoted"}


@pytest.mark.parametrize(
    ("name", "evidence", "declared", "level", "sentence"), ROWS, ids=[row[0] for row in ROWS]
)
def test_row(name, evidence, declared, level, sentence):
    verdict = judge(evidence, [], declared and frozenset(declared))
    assert (verdict.level, verdict.reason.code) == (level, name)
    assert render(verdict.reason) == sentence
    assert verdict.kind == evidence[0].kind
    assert not verdict.contradiction


def test_every_row_of_the_rule_has_a_test():
    assert {row.code for row in RULE} == {row[0] for row in ROWS} | NOTES


def notes_of(verdict):
    return [render(note) for note in verdict.notes]


def test_measured_without_a_word_on_placement_is_green_and_says_so():
    verdict = judge([core("a", placement="unknown")], [])
    assert verdict.level == "green"
    assert notes_of(verdict) == ["the runtime does not say where it ran"]


def test_rest_that_falls_back_is_told_and_lowers_nothing():
    verdict = judge([core("a"), rest("b", placement="fallback")], [])
    assert verdict.level == "green"
    assert notes_of(verdict) == [
        "1 of 1 cases beyond the core pass with a reservation: node/test_b"
    ]


def test_only_one_oracle_agrees_is_counted_and_told():
    verdict = judge([core("a", oracles_agree="one")], [])
    assert (verdict.level, verdict.core_total) == ("green", 1)
    assert notes_of(verdict) == [
        "the oracles disagree; only one confirms the expected outputs of mainstream/Op/a"
    ]


@pytest.mark.parametrize("outcome", ["unavailable", "harness_error", "lost_agent"])
def test_our_own_errors_are_no_evidence(outcome):
    verdict = judge([core("a", outcome), rest("b", outcome)], [])
    assert (verdict.level, verdict.kind, verdict.core_total) == ("unknown", "none", 0)
    assert render(verdict.reason) == (
        "nothing attributable: 2 probes prove nothing about the runtime"
    )


def test_a_case_that_no_oracle_confirms_is_no_evidence():
    assert judge([core("a", "mismatch", oracles_agree="none"), core("b")], []).level == "green"


def test_another_answer_than_a_disputed_one_is_no_evidence_but_a_refusal_is():
    disputed = rest("a", "mismatch", oracles_agree="disputed")
    assert judge([core("a"), disputed], []) == judge([core("a")], [])
    assert judge([core("a"), disputed._replace(outcome="rejected")], []).level == "yellow"


def test_nothing_at_all_is_unknown():
    assert judge([], []).reason.code == "not_tried"


def test_node_tests_stand_in_where_no_core_is():
    verdict = judge([rest("a"), rest("b", "rejected")], [])
    assert (verdict.level, verdict.core_passed, verdict.core_total) == ("yellow", 1, 2)
    assert notes_of(verdict) == ["no mainstream case; 2 node tests decide"]


def test_node_tests_in_undeclared_dtypes_stay_the_rest():
    verdict = judge(
        [rest("a"), rest("b", "rejected", dtypes=("float32", "double"))], [], frozenset({"float32"})
    )
    assert verdict.core_total == verdict.rest_total == 1
    assert verdict.reason.code == "rest_failed_dtype"


def test_a_body_in_other_operators_does_not_stand_in_for_its_operator():
    spelled_out = rest("a_expanded", "rejected", dtypes=())
    verdict = judge([rest("a"), spelled_out], [])
    assert (verdict.core_total, verdict.rest_total) == (1, 1)
    assert judge([spelled_out], [], frozenset({"float32"})).core_total == 1


def test_newer_stamps_of_node_tests_do_not_lower_a_core_that_passes():
    stamped = [rest("b", "rejected"), rest("b", form="restamped")]
    assert judge([core("a"), *stamped], []).level == "green"
    assert judge([rest("a"), *stamped], []).level == "green"
    assert judge(stamped, []).reason.code == "only_restamped"


def test_the_rest_never_makes_red():
    evidence = [core("a"), *(rest(name, "mismatch") for name in "bcd")]
    assert judge(evidence, []).level == "yellow"


def test_a_form_that_failing_cases_were_tried_in_too_separates_nothing():
    """Every case is also tried with its defaults written out: "only with as it is" says nothing."""
    tried = [core("a"), core("b", "rejected"), core("b", "rejected", form="defaults")]
    assert judge(tried, []).reason.code == "core_some"


def test_the_mildest_form_of_a_case_decides():
    forms = [
        core("a", "close", form="restamped"),
        core("a", placement="fallback"),
        core("a", "rejected", form="constant"),
    ]
    assert judge(forms, []).reason.code == "only_restamped"


def test_counts_and_the_largest_error_of_the_core():
    verdict = judge(
        [core("a", max_abs=0.25), core("b", max_abs=float("nan")), rest("c", max_abs=9.0)], []
    )
    assert (verdict.core_passed, verdict.rest_passed, verdict.max_abs) == (2, 1, 0.25)


def test_the_failing_probe_is_the_one_shown():
    assert judge([core("a"), core("b", "rejected")], []).evidence_ref == "mainstream/Op/b"


def test_a_whole_catalogue_is_judged_fast_enough_for_a_sweep():
    operators = [
        [core(str(i), max_abs=1e-6) for i in range(3)]
        + [rest(str(i), "rejected" if i % 5 == 0 else "passed") for i in range(10)]
        + [rest("0", form="restamped")]
        for _ in range(200)
    ]
    timings = []
    for _ in range(5):
        start = time.process_time()
        for rows in operators:
            judge(rows, [])
        timings.append(time.process_time() - start)
    assert min(timings) < 0.06


def test_a_refusal_of_nothing_but_constants_is_no_evidence():
    """RKNN refuses a lone Shape, "all outputs are constants"; in a model it is folded away."""
    refused = core("a", "rejected")._replace(folds=True)
    assert judge([refused], []).reason.code == "not_attributable"
    assert judge([refused._replace(outcome="mismatch")], []).level == "red"
    assert judge([refused, core("b")], []).level == "green"


def test_a_node_cut_from_a_model_stands_in_for_the_core_only_alone():
    cut = rest("a", "rejected")._replace(case_name="harvest/Op/0123456789abcdef-v1")
    assert judge([cut], []).level == "red"
    verdict = judge([cut, rest("b")], [])
    assert (verdict.level, verdict.core_total, verdict.rest_total) == ("yellow", 1, 1)
    assert judge([cut, core("b")], []).level == "yellow"


def test_a_variant_never_stands_in_for_the_core():
    variant = rest("a", "mismatch")._replace(case_name="variant/Op-13/float-v1")
    assert judge([variant], []).level != "red"
    verdict = judge([variant, rest("b")], [])
    assert (verdict.level, verdict.core_total, verdict.rest_total) == ("yellow", 1, 1)
    assert judge([variant, core("b")], []).level == "yellow"
