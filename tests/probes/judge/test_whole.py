"""From files and recorded probes to findings: the documents of the other rooms fit."""

import time

import pytest
from onnx import parser

from probes.cases.case import Case
from probes.judge.knowledge import Keys, TargetKnowledge, signature_keys
from probes.judge.recorded import evidence_of
from probes.judge.risk import assess, summary
from probes.judge.support import judge
from probes.model.facts import make_facts, without_names
from probes.run.outcome import Outcome, Placement, ProbeResult, Stage
from tests.probes.judge.make import make_facts as make_plain_facts
from tests.probes.judge.make import make_verdict

MODEL = """
<ir_version: 8, opset_import: ["" : 17, "local" : 1, "com.acme" : 1]>
agraph (float[1, 4] X) => (float[4] Y)
{
    A = local.Warp(X)
    B = com.acme.Mystery(A)
    C = Relu(A)
    D = Relu(C)
    shape = Constant <value_ints = [4]> ()
    Y = Reshape(D, shape)
}
<opset_import: ["" : 17], domain: "local">
Warp (x) => (y) { y = Erf(x) }
"""


@pytest.fixture
def facts(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(parser.parse_model(MODEL).SerializeToString())
    return make_facts(path)


def levels(findings):
    return {finding.operator[1]: (finding.level, finding.reason.code) for finding in findings}


def test_a_file_is_assessed_into_the_bodies_of_its_functions(facts):
    relu = next(i for i, each in enumerate(facts["signatures"]) if each["op"] == "Relu")
    keys = signature_keys(facts)
    known = TargetKnowledge(
        "t",
        same_class={keys[relu].same_class: make_verdict()},
        cells={
            ("ai.onnx", "Erf"): make_verdict("red", "refused"),
            ("ai.onnx", "Relu"): make_verdict("yellow", "rest_failed"),
        },
        max_opset=17,
    )
    findings = assess(facts, known)
    assert levels(findings) == {
        "Erf": ("red", "operator_red"),
        "Mystery": ("unknown", "unknown_domain"),
        "Reshape": ("unknown", "untried"),
        "Relu": ("green", "class_green"),
        "Constant": ("green", "constant"),
    }
    totals = summary(findings, facts)
    assert (totals.red, totals.unknown, totals.green, totals.free) == (1, 2, 2, 1)
    assert findings == assess(facts, known, keys)


def test_names_make_no_difference(facts):
    known = TargetKnowledge("t", cells={("ai.onnx", "Erf"): make_verdict("red", "refused")})
    assert assess(without_names(facts), known) == assess(facts, known)


def make_case(**changes):
    fields = {
        "id": "0" * 32, "name": "mainstream/Relu/1", "domain": "ai.onnx", "op_type": "Relu",
        "since_version": 14, "origin": "mainstream", "core": True,
        "model": b"", "opset": 17, "ir_version": 8,
        "inputs": (), "expected": (), "oracle": "float64 numpy", "oracles_agree": "both",
        "rtol": 0.0, "atol": 0.0, "compare": "values", "timed": False, "citation": "",
        "signature": {"inputs": [{"dtype": "float"}, {"dtype": "absent"}]}, "operators": (),
    }  # fmt: skip
    return Case(**(fields | changes))


def test_a_recorded_probe_is_evidence():
    refused = ProbeResult("0" * 32, "as_is", "t", Outcome.REJECTED, Stage.CONVERT, "no kernel")
    passed = ProbeResult(
        "0" * 32, "as_is", "t", Outcome.PASSED, Stage.COMPARE, placement=Placement.ACCELERATOR
    )
    for result, level, code in ((refused, "red", "refused"), (passed, "green", "core_pass")):
        row = evidence_of(result, make_case(), kind="measured")
        verdict = judge([row], [])
        assert (verdict.level, verdict.reason.code) == (level, code)
        assert (row.dtypes, verdict.evidence_ref) == (("float",), "mainstream/Relu/1")
    assert judge([evidence_of(refused, make_case(), kind="measured")], []).reason.params == {
        "stage": "convert",
        "message": "no kernel",
    }


def test_a_model_of_thousands_of_nodes_is_assessed_at_once():
    facts = make_plain_facts(*(("Conv", at % 600) for at in range(5000)))
    keys = [Keys(f"e{i}", f"c{i}", f"v{i}", f"d{i}") for i in range(600)]
    known = TargetKnowledge("t", same_dtype={f"d{i}": make_verdict() for i in range(0, 600, 2)})
    start = time.process_time()
    findings = assess(facts, known, keys)
    assert summary(findings, facts).green == 2500
    assert time.process_time() - start < 0.5
