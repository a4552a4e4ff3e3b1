"""Ways to compute the same: which of them is recommended, from values alone."""

import pytest

from probes.judge.alternatives import passing_versions, recommend, stand
from tests.probes.judge.make import core, make_evidence, rest

CASE = "mainstream/Op/a"
WAYS = {CASE: ("one", "two")}
NAMES = {"alternative/Op/a/one-v1": (CASE, "one"), "alternative/Op/a/two-v1": (CASE, "two")}


def way(name, outcome="passed", **changes):
    return make_evidence(f"alternative/Op/a/{name}-v1", outcome=outcome, **changes)


def stood(*evidence, kind="measured", known=WAYS, times=None):
    return stand(kind, evidence, known, NAMES, times or {})


def only(*evidence, **fields):
    (found,) = stood(*evidence, **fields)
    return found


@pytest.mark.parametrize(
    ("evidence", "status", "best"),
    [
        ([core("a"), way("one")], "as_is", None),
        ([core("a", "rejected"), way("one")], "found", "one"),
        ([core("a", "rejected"), way("one", "close"), way("two")], "found", "two"),
        ([core("a", "rejected"), way("one", "close"), way("two", "crashed")], "found", "one"),
        ([core("a", "mismatch"), way("one", "rejected"), way("two", "timed_out")],
         "none_works", None),
        ([core("a", "rejected"), way("one", "mismatch", oracles_agree="disputed")],
         "not_tried", None),
        ([core("a", "rejected"), way("one", "harness_error")], "not_tried", None),
        ([core("a", "rejected")], "not_tried", None),
        ([core("a", "close"), way("one", "close")], "none_works", None),
        # both are limited, but on the CPU is worse than a small error
        ([core("a", placement="fallback"), way("one", "close")], "found", "one"),
        ([core("a", "close"), way("one", placement="fallback")], "none_works", None),
        ([way("one")], "found", "one"),
        ([], "not_tried", None),
    ],
)  # fmt: skip
def test_the_best_way_is_one_that_is_better_than_the_case_as_it_is(evidence, status, best):
    found = only(*evidence)
    assert found.status == status
    assert (found.best.way if found.best else None) == best


def test_another_form_of_the_same_case_is_a_way_and_a_green_graph_beats_it():
    refused, constant = core("a", "rejected"), core("a", form="constant", ref="c")
    found = only(refused, constant)
    assert found.own.level == "red"
    assert (found.best.way, found.best.form, found.best.level) == ("", "constant", "yellow")
    assert only(refused, constant, way("two")).best.way == "two"


def test_a_way_is_as_good_as_its_best_form():
    found = only(core("a", "rejected"), way("one", "rejected"), way("one", form="constant"))
    assert (found.best.way, found.best.form, found.best.level) == ("one", "constant", "yellow")
    assert found.best.codes == ("only_constant",)


def test_among_equals_the_quicker_is_named_first():
    rows = [core("a", "rejected"), way("one", ref=1), way("two", ref=2)]
    assert only(*rows, times={1: 0.5, 2: 0.2}).best.way == "two"
    assert only(*rows, times={2: 0.5}).best.way == "two", "an untimed one after a timed one"
    assert only(*rows).best.way == "one"


def test_what_the_runtime_does_not_report_holds_nothing_back_where_it_is_measured():
    rows = [core("a", "rejected"), way("one", placement="unknown")]
    assert only(*rows).best.level == "green"
    simulated = [row._replace(kind="simulated") for row in rows]
    assert only(*simulated, kind="simulated").best.level == "yellow"


def test_a_kind_of_evidence_is_not_mixed_with_another():
    found = only(core("a", "rejected"), way("one", kind="simulated"))
    assert found.status == "not_tried"


def test_every_known_way_is_listed_best_first():
    found = only(core("a", "rejected"), way("two", "close"))
    assert [(each.way, each.level) for each in found.ways] == [
        ("two", "yellow"),
        ("one", "unknown"),
    ]
    assert only(core("a", "rejected"), known={CASE: ()}).status == "none_known"


def test_an_operator_is_told_of_by_its_best_computation():
    known = {CASE: ("one",), "mainstream/Op/b": ("two",), "mainstream/Op/c": ()}
    names = {**NAMES, "alternative/Op/b/two-v1": ("mainstream/Op/b", "two")}
    rows = [core("a", "rejected"), core("b", "rejected"), way("one", "close"),
            make_evidence("alternative/Op/b/two-v1")]  # fmt: skip
    found = stand("measured", rows, known, names, {})
    status, best = recommend(found)
    assert (status, best.replaces, best.best.way) == ("found", "mainstream/Op/b", "two")
    assert recommend(found[2:]) == ("none_known", None)
    assert recommend(()) == ("none_known", None)
    assert recommend(stood(core("a", "rejected"), way("one", "rejected"))) == ("none_works", None)
    assert recommend(stood(core("a"))) == ("as_is", None)


def test_versions_of_which_all_tried_cases_pass_are_named_newest_first():
    rows = [
        core("a", "rejected", since_version=21),
        rest("a", since_version=18, ref=1),
        rest("b", "close", since_version=18, ref=2),
        rest("c", since_version=11, ref=3),
        rest("d", since_version=13),
        rest("e", "rejected", since_version=13),
        rest("f", since_version=21),
    ]
    found = passing_versions("measured", rows, frozenset({21}))
    assert [(each.since, each.cases, each.level) for each in found] == [
        (18, 2, "yellow"),
        (11, 1, "green"),
    ]
