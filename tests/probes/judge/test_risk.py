"""A model on a target: which evidence speaks for a node, what it says, and what it adds up to."""

import json

import pytest

from probes.judge.finding import findings_from_json, findings_to_json
from probes.judge.knowledge import Refusal, TargetKnowledge, node_verdict, signature_keys
from probes.judge.reasons import ADVICE, render
from probes.judge.risk import (
    any_reaches,
    assess,
    reaches,
    summary,
    three_colours,
    worst_level,
)
from probes.judge.verdict import Claim
from tests.probes.judge.make import core, make_facts, make_keys, make_verdict, rest

CONV = ("ai.onnx", "Conv")


def knowledge(**changes):
    return TargetKnowledge("device.runtime.default@1.0", **changes)


def assess_node(op="Conv", node=None, **changes):
    facts = make_facts((op, 0, node or {}))
    [finding] = assess(facts, knowledge(**changes), make_keys(facts))
    return finding


RUNGS = [
    ("exact", {"exact": "exact0"}),
    ("class", {"same_class": "class0"}),
    ("dtype", {"same_version": "version0"}),
    ("dtype", {"same_dtype": "dtype0"}),
    ("operator", {"cells": CONV}),
]


@pytest.mark.parametrize("level", ["green", "yellow", "red"])
@pytest.mark.parametrize(("rung", "place"), RUNGS, ids=[rung for rung, _ in RUNGS])
def test_each_rung_speaks_with_its_own_level(rung, place, level):
    verdict = make_verdict(
        level, {"green": "core_pass", "yellow": "close", "red": "refused"}[level]
    )
    finding = assess_node(**{name: {key: verdict} for name, key in place.items()})
    assert (finding.level, finding.rung, finding.kind) == (level, rung, "measured")
    assert finding.reason.code == f"{rung}_{level}"
    assert (finding.detail, finding.evidence_ref) == (verdict.reason, f"{level}-probe")


def test_the_nearest_evidence_decides():
    green, red = make_verdict(), make_verdict("red", "refused")
    yellow = make_verdict("yellow", "core_some")
    passing_node = assess_node(exact={"exact0": green}, cells={CONV: yellow})
    assert (passing_node.level, passing_node.advice) == ("green", None)
    assert assess_node(same_class={"class0": green}, cells={CONV: red}).level == "green"
    failing_node = assess_node(exact={"exact0": red}, cells={CONV: green})
    assert (failing_node.level, failing_node.advice.code) == ("red", "replace_node")


def test_nearer_evidence_that_says_nothing_is_passed_over():
    finding = assess_node(exact={"exact0": make_verdict("unknown")}, cells={CONV: make_verdict()})
    assert finding.rung == "operator"


def test_nearness_is_told_as_confidence():
    told = [
        assess_node(**{name: {key: make_verdict()} for name, key in place.items()}).confidence
        for _, place in RUNGS
    ]
    assert told == ["very high", "high", "medium", "medium", "low"]


def test_a_form_not_tried_of_an_operator_with_failures_is_yellow():
    finding = assess_node(cells={CONV: make_verdict("yellow", "rest_failed")})
    assert render(finding.reason) == "the operator has limits or failures; this form was not tried"
    assert finding.advice.code == "check_form"


@pytest.mark.parametrize(("rung", "level"), [("same_class", "yellow"), ("exact", "red")])
def test_a_wrong_size_condemns_itself_and_only_warns_of_others(rung, level):
    mixed = make_verdict("red", "wrong_values", core_passed=1, core_total=2)
    key = {"same_class": "class0", "exact": "exact0"}[rung]
    assert assess_node(**{rung: {key: mixed}}).level == level


def test_a_claim_is_a_rung_of_its_own():
    claim = make_verdict("green", "claim_full", kind="documented")
    finding = assess_node(cells={CONV: claim})
    assert (finding.rung, finding.kind, finding.level) == ("documented", "documented", "green")
    assert finding.advice.code == "probe_claim"


def test_another_version_of_the_operator_speaks_only_where_its_own_was_not_tried():
    known = {"same_version": {"version0": make_verdict("green")}}
    assert assess_node(**known, same_dtype={"dtype0": make_verdict("yellow")}).level == "green"


@pytest.mark.parametrize(
    ("listed", "dtype", "level"),
    [
        ("fp16;int8", "float", "green"),  # narrowed by the converter
        ("fp16;int8", "double", "yellow"),
        ("fp32;fp16;int32", "int64", "green"),
        ("fp32;fp16", "bool", "yellow"),
        ("per backend", "double", "green"),  # not a list of types
        ("", "double", "green"),
    ],
)
def test_a_claim_reaches_as_far_as_its_data_types(listed, dtype, level):
    facts = make_facts(("Conv", 0))
    facts["signatures"][0]["inputs"] = [{"dtype": dtype, "shape": [1], "const": False}]
    known = TargetKnowledge(
        "t",
        cells={CONV: make_verdict("green", "claim_full", kind="documented")},
        claims={CONV: Claim("full", dtypes=listed)},
    )
    (finding,) = assess(facts, known, make_keys(facts))
    assert (finding.level, finding.rung) == (level, "documented")


def test_a_list_that_ends_before_the_models_opset_is_told_as_a_claim():
    facts = make_facts(("Conv", 0), opset=28)
    known = TargetKnowledge("t", max_opset=19, stamps_from="stamp_listed")
    stamp = next(each for each in assess(facts, known, make_keys(facts)) if not each.nodes)
    assert (stamp.level, stamp.kind, stamp.detail.code) == ("yellow", "documented", "stamp_listed")


def test_the_contradiction_of_a_cell_reaches_the_report():
    assert assess_node(cells={CONV: make_verdict(contradiction=True)}).contradiction


def test_advice_names_the_data_types_that_work():
    verdict = make_verdict("yellow")
    verdict = verdict._replace(
        reason=verdict.reason._replace(
            code="core_some_dtype", params={"good": ["float"], "bad": ["bfloat16"], "total": 2}
        )
    )
    advice = assess_node(cells={CONV: verdict}).advice
    assert render(advice, templates=ADVICE) == "Use one of these data types here: float."


UNKNOWN = [
    ("Frobnicate", {}, "Frobnicate was not tried on this target"),
    (
        "Bar",
        {"domain": "com.acme"},
        "nobody knows the operator domain com.acme (Bar)",
    ),
    ("Conv", {"sig": None}, "the inputs of Conv could not be worked out"),
]


@pytest.mark.parametrize(("op", "node", "sentence"), UNKNOWN)
def test_unknown_says_why(op, node, sentence):
    finding = assess_node(op, node)
    assert (finding.level, finding.rung, finding.kind) == ("unknown", "none", "none")
    assert render(finding.reason) == sentence
    assert finding.advice.code in ADVICE


def test_an_unknown_cell_says_why_it_is_unknown():
    finding = assess_node(cells={CONV: make_verdict("unknown", "undeclared_only")})
    assert (finding.level, finding.detail.code) == ("unknown", "undeclared_only")


def test_a_domain_that_the_knowledge_base_holds_is_known():
    cells = {("com.acme", "Foo"): make_verdict()}
    finding = assess_node("Bar", {"domain": "com.acme"}, cells=cells)
    assert finding.reason.code == "untried"


@pytest.mark.parametrize(
    ("op", "node", "code"),
    [("Constant", {}, "constant"), ("Shape", {"folds": True}, "folded")],
)
def test_what_folds_is_green_whatever_the_operator_is(op, node, code):
    red = {("ai.onnx", op): make_verdict("red", "refused")}
    finding = assess_node(op, node, cells=red, exact={"exact0": make_verdict("red", "refused")})
    assert (finding.level, finding.reason.code, finding.free) == ("green", code, True)


def test_nodes_of_one_signature_are_one_finding_and_the_worst_comes_first():
    facts = make_facts(("Relu", 0), ("Conv", 1), ("Conv", 1), ("Constant", None), ("Foo", 2))
    known = knowledge(
        cells={CONV: make_verdict("red", "refused"), ("ai.onnx", "Relu"): make_verdict()}
    )
    findings = assess(facts, known, make_keys(facts))
    assert [(f.level, f.nodes, f.group) for f in findings] == [
        ("red", (1, 2), "exact1"),
        ("unknown", (4,), "exact2"),
        ("green", (0,), "exact0"),
        ("green", (3,), ""),
    ]
    assert summary(findings, facts)._asdict() == {
        "green": 1,
        "yellow": 0,
        "red": 2,
        "unknown": 1,
        "free": 1,
        "nodes": 5,
        "worst": "red",
    }


def test_a_node_without_a_finding_counts_as_unknown_and_the_worst_of_two_counts():
    facts = make_facts(("Conv", 0), ("Relu", 1))
    [finding, _] = assess(facts, knowledge(cells={CONV: make_verdict()}), make_keys(facts))
    audit = finding._replace(level="yellow")
    for findings in ([finding, audit], [audit, finding]):
        totals = summary(findings, facts)
        assert (totals.yellow, totals.unknown, totals.green) == (1, 1, 0)


REFUSED = Refusal("measured", "ONNX opset 21 is not supported\n  at load", 7)
STAMPS = [
    # model, newest operator, knowledge, level, sentence, advice
    ({"opset": 19}, 13, {"max_opset": 19}, None, "", ""),
    ({"opset": 21}, 13, {}, None, "", ""),
    (
        {"opset": 21},
        13,
        {"max_opset": 19, "opset_refusal": REFUSED},
        "red",
        "the model is stamped opset 21; the runtime stops at 19",
        "Lower the version stamp to 19: no operator of the model is newer.",
    ),
    (
        {"opset": 21},
        21,
        {"max_opset": 19},
        "yellow",
        "the model is stamped opset 21; the runtime stops at 19",
        "Export for opset 19, or convert down: the model uses newer operators.",
    ),
    (
        {"ir_version": 14},
        13,
        {"max_ir": 13, "ir_refusal": REFUSED},
        "red",
        "the model is stamped IR version 14; the runtime stops at 13",
        "Lower the IR version stamp to 13; the graph stays.",
    ),
]


@pytest.mark.parametrize(("model", "since", "limits", "level", "sentence", "advice"), STAMPS)
def test_version_stamps(model, since, limits, level, sentence, advice):
    facts = make_facts(("Conv", 0), **model)
    facts["signatures"][0]["since"] = since
    known = knowledge(cells={CONV: make_verdict()}, **limits)
    stamps = [each for each in assess(facts, known, make_keys(facts)) if not each.nodes]
    assert [each.level for each in stamps] == ([level] if level else [])
    for finding in stamps:
        assert render(finding.reason) == sentence
        assert render(finding.advice, templates=ADVICE) == advice


def test_a_refused_stamp_shows_the_probe_and_makes_the_target_red():
    facts = make_facts(("Conv", 0), opset=21)
    known = knowledge(cells={CONV: make_verdict()}, max_opset=19, opset_refusal=REFUSED)
    findings = assess(facts, known, make_keys(facts))
    assert (findings[0].evidence_ref, findings[0].kind) == (7, "measured")
    assert render(findings[0].detail) == (
        "refused for its version stamp: ONNX opset 21 is not supported"
    )
    totals = summary(findings, facts)
    assert (totals.worst, totals.green, totals.red) == ("red", 1, 0)


def test_unknown_is_kept_apart_from_the_worst_level():
    assert worst_level(["green", "unknown"]) == "green"
    assert worst_level(["unknown", "unknown"]) == worst_level([]) == "unknown"
    assert worst_level(["green", "red", "yellow"]) == "red"


@pytest.mark.parametrize(
    ("fail_on", "reached"),
    [
        ("never", set()),
        ("red", {"red"}),
        ("yellow", {"red", "yellow"}),
        ("unknown", {"red", "yellow", "unknown"}),
    ],
)
def test_what_a_caller_fails_on(fail_on, reached):
    levels = {"green", "yellow", "red", "unknown"}
    assert {level for level in levels if reaches(level, fail_on)} == reached


def test_a_green_worst_level_still_fails_for_who_fails_on_unknown():
    facts = make_facts(("Conv", 0), ("Foo", 1))
    findings = assess(facts, knowledge(cells={CONV: make_verdict()}), make_keys(facts))
    assert not any_reaches(findings, "red")
    assert any_reaches(findings, "unknown")


def test_three_colours_name_the_worst_target():
    red = make_verdict("red", "refused", kind="simulated")
    colours = three_colours(
        {
            CONV: {"a": make_verdict(), "b": red, "c": make_verdict("red", "crashed"), "d": red},
            ("ai.onnx", "Foo"): {"a": make_verdict("unknown", kind="none"), "b": make_verdict()},
            ("ai.onnx", "Bar"): {"a": make_verdict("unknown", kind="none")},
            ("ai.onnx", "Baz"): {},
        }
    )
    assert [(op, c.level, c.target, c.unknown_targets) for (_, op), c in colours.items()] == [
        ("Conv", "red", "c", ()),
        ("Foo", "green", "b", ("a",)),
        ("Bar", "unknown", "a", ("a",)),
    ]
    assert colours[CONV].reason.code == "crashed"


def test_findings_survive_json():
    facts = make_facts(("Conv", 0), ("Constant", None), ("Foo", 1), opset=21)
    known = knowledge(cells={CONV: make_verdict()}, max_opset=19, opset_refusal=REFUSED)
    findings = assess(facts, known, make_keys(facts))
    document = json.loads(json.dumps(findings_to_json(findings)))
    assert findings_from_json(document) == findings
    assert document["findings"][0]["confidence"] == "high"
    with pytest.raises(ValueError, match="schema 1"):
        findings_from_json(document | {"schema": 2})


def test_a_node_passes_whatever_stamp_or_form_the_case_had():
    stamped = [rest("a", "rejected"), rest("a", form="restamped")]
    assert node_verdict(stamped).level == "green"
    assert node_verdict([rest("a", form="constant")]).level == "green"
    assert node_verdict([core("a"), rest("b", "mismatch")]).level == "red"
    assert node_verdict([rest("a", "harness_error")]).level == "unknown"


def test_keys_are_those_of_the_signatures():
    signature = {
        "schema": 1, "domain": "ai.onnx", "op": "Relu", "since": 14, "attrs": {}, "subgraphs": 0,
        "inputs": [{"dtype": "float", "shape": [1, 3], "const": False}],
        "outputs": [{"dtype": "float", "shape": [1, 3]}],
    }  # fmt: skip
    larger = signature | {"inputs": [{"dtype": "float", "shape": [2, 3], "const": False}]}
    first, second = signature_keys({"signatures": [signature, larger]})
    assert first.exact != second.exact
    assert (first.same_class, first.same_dtype) == (second.same_class, second.same_dtype)
