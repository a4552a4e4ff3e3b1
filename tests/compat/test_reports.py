"""Reports: the same question twice, what the findings rest on, and what is stored."""

import io
import json
from tempfile import NamedTemporaryFile

import onnx
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from compat import reports
from compat.knowledge import knowledge_for
from compat.matrix import MatrixFilters, load_matrix
from compat.models import Report
from compat.reports import ReportError, operators_of, submit_model
from compat.targets import TargetError
from probes.judge.knowledge import signature_keys
from probes.model.facts import make_facts
from probes.model.refusals import ModelFileError
from tests.make import (
    make_case,
    make_cell,
    make_claim,
    make_column,
    make_device,
    make_model,
    make_operator,
    make_probe,
    make_target,
)

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture(autouse=True)
def quick(tmp_path, settings, monkeypatch):
    """These files are our own: their facts need no child process."""
    settings.UPLOAD_DIR = tmp_path / "uploads"
    monkeypatch.setattr("probes.run.analyse.facts_of", make_facts)


def facts_of_bytes(model):
    with NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model)
        file.flush()
        return make_facts(file.name)


def submit(data, *targets, file_name="model.onnx", keep=False):
    file = SimpleUploadedFile("ignored", data)
    return submit_model(file=file, file_name=file_name, target_names=targets, keep=keep)


def make_exact_case(model, **fields):
    """A case whose signature is that of the model's only node."""
    facts = facts_of_bytes(model)
    (signature,), (keys,) = facts["signatures"], signature_keys(facts)
    return make_case(
        make_operator(signature["op"]),
        signature=signature,
        signature_key=keys.exact,
        class_key=keys.same_class,
        dtype_key=keys.same_dtype,
        **fields,
    )


def only_finding(report, target=0):
    (finding,) = report.results[target]["findings"]
    return finding


def test_an_unknown_target_is_told_before_the_file_is_read():
    class Unreadable(io.BytesIO):
        def chunks(self):
            raise AssertionError("read")

    with pytest.raises(TargetError):
        submit_model(file=Unreadable(), file_name="m", target_names=["no.such.target"])


def test_the_same_question_twice_is_one_report_until_the_knowledge_changes():
    cell = make_cell(make_operator("Relu"))
    other = make_cell(make_operator("Relu"), make_column("openvino-cpu"))
    first = submit(make_model("Relu"), file_name="a.onnx")
    assert submit(make_model("Relu"), file_name="b.onnx") == first
    swapped = submit(make_model("Relu"), other.column.slug, cell.column.slug)
    assert swapped == first
    assert submit(make_model("Relu"), cell.column.slug) != first
    assert submit(make_model("Relu", "Relu")) != first
    cell.level, cell.reason_code = "red", "refused"
    cell.save()
    again = submit(make_model("Relu"))
    assert again != first
    assert again.token != first.token
    assert Report.objects.count() == 4


def test_every_shown_column_is_asked_when_none_is_named():
    make_cell(make_operator("Relu"))
    make_cell(make_operator("Relu"), make_column("hidden", shown=False))
    make_column("empty")
    report = submit(make_model("Relu"))
    assert report.targets == ["test-cpu.onnxruntime-cpu.default"]


def test_totals_count_nodes_and_unknown_ones_are_kept_apart():
    make_cell(make_operator("Relu"))
    make_cell(make_operator("Exp"), level="red", reason_code="refused")
    (result,) = submit(make_model("Relu", "Relu", "Exp", "Tanh")).results
    assert result["level"] == "red"
    totals = {"green": 2, "yellow": 0, "red": 1, "unknown": 1, "free": 0, "nodes": 4}
    assert result["totals"] == totals
    assert [finding["level"] for finding in result["findings"]] == ["red", "unknown", "green"]


def test_the_nearest_evidence_decides_and_is_linked():
    model = make_model("Relu")
    target = make_target()
    make_cell(make_operator("Relu"), target.column, "red", target=target, reason_code="refused")
    assert only_finding(submit(model))["rung"] == "operator"
    probe = make_probe(make_exact_case(model), target)
    finding = only_finding(submit(model))
    assert (finding["rung"], finding["level"]) == ("exact", "green")
    assert finding["evidence_ref"] == probe.pk
    assert finding["kind"] == "measured"


def test_the_same_class_in_another_size_is_a_rung_of_its_own():
    target = make_target()
    make_probe(make_exact_case(make_model("Relu")), target, "mismatch")
    wide = onnx.load_from_string(make_model("Relu"))
    for value in (wide.graph.input[0], wide.graph.output[0]):
        value.type.tensor_type.shape.dim[1].dim_value = 77
    make_cell(make_operator("Relu"), target.column)
    finding = only_finding(submit(wide.SerializeToString()))
    assert (finding["rung"], finding["level"]) == ("class", "red")


def test_constant_inputs_say_nothing_of_a_node_that_has_none():
    model = make_model("Relu")
    target = make_target()
    case = make_exact_case(model)
    make_probe(case, target, form="constant")
    make_cell(make_operator("Relu"), target.column, target=target)
    assert only_finding(submit(model))["rung"] == "operator"
    make_probe(case, target, form="restamped")
    assert only_finding(submit(model))["rung"] == "exact"


def test_a_retired_case_decides_nothing():
    model = make_model("Relu")
    target = make_target()
    make_probe(make_exact_case(model, retired=True), target, "mismatch")
    make_cell(make_operator("Relu"), target.column, target=target)
    assert only_finding(submit(model))["rung"] == "operator"


def test_a_named_version_is_judged_by_its_own_probes():
    model = make_model("Relu")
    column = make_column()
    old, new = make_target("1.30.0", column), make_target("1.32.0", column)
    case = make_exact_case(model)
    make_probe(case, old, "rejected", message="no kernel for Relu")
    make_probe(case, new)
    make_cell(make_operator("Relu"), column, target=new)
    report = submit(model, old.slug, new.slug, column.slug)
    assert [result["level"] for result in report.results] == ["red", "green", "green"]
    assert [result["id"] for result in report.results] == [old.slug, new.slug, column.slug]
    far = submit(make_model("Relu", opset=13), old.slug)  # another since-version: no case is near
    assert only_finding(far)["level"] in ("red", "yellow")


def test_a_version_of_which_only_a_vendor_speaks_is_documented():
    column = make_column("rknn", make_device("rk3588", "rk3588"))
    make_claim(make_operator("Relu"), "rknn", "partial", device_class="rk3588")
    target = make_target("2.3.2", column)
    make_cell(make_operator("Relu"), column, "yellow", "documented", reason_code="claim_partial")
    for name in (column.slug, target.slug):
        finding = only_finding(submit(make_model("Relu"), name))
        assert (finding["rung"], finding["kind"]) == ("documented", "documented")


def test_a_newer_version_that_was_not_asked_about_an_operator_leaves_the_older_word():
    model = make_model("Relu")
    column = make_column()
    old, new = make_target("1.30.0", column), make_target("1.32.0", column)
    probe = make_probe(make_exact_case(model), old)
    make_probe(make_case(make_operator("Exp")), new)
    make_cell(make_operator("Relu"), column, target=old)
    assert only_finding(submit(model, column.slug))["evidence_ref"] == probe.pk


def test_a_stamp_that_was_refused_is_red_and_a_declared_one_yellow():
    target = make_target(capabilities={"max_opset": 17, "max_ir": 8, "dtypes": []})
    make_cell(make_operator("Relu"), target.column, target=target)
    make_probe(make_case(make_operator("Relu"), opset=16, ir_version=8), target)
    model = make_model("Relu")
    assert submit(model).results[0]["level"] == "yellow"
    case = make_case(make_operator("Relu"), opset=19, ir_version=9)
    refused = make_probe(case, target, "rejected", message="opset 19 is under development")
    make_probe(case, target, form="restamped")
    report = submit(model)
    stamps = [each for each in report.results[0]["findings"] if not each["nodes"]]
    assert [(stamp["level"], stamp["evidence_ref"]) for stamp in stamps] == [
        ("red", refused.pk),
        ("red", refused.pk),
    ]


def test_knowledge_takes_a_fixed_number_of_queries(django_assert_num_queries):
    model = make_model("Relu", "Exp", "Tanh")
    columns = [make_column(f"runtime{at}") for at in range(8)]
    for column in columns:
        target = make_target("1.0", column)
        for name in ("Relu", "Exp", "Tanh"):
            make_probe(make_case(make_operator(name)), target)
            make_cell(make_operator(name), column, target=target)
    facts = facts_of_bytes(model)
    with django_assert_num_queries(3):
        knowledge_for(columns, facts)


def test_names_in_a_model_are_stored_as_plain_text():
    make_cell(make_operator("Relu"))
    name = "a\x00b\x1b[31m<script>alert(1)</script>" + "x" * 1000
    report = submit(make_model("Relu", name=name))
    report.refresh_from_db()
    (node,) = report.facts["nodes"]
    assert "\x00" not in json.dumps(report.facts, ensure_ascii=False)
    assert "\x1b" not in node["name"]
    assert len(node["name"]) <= 300


def test_an_analysis_that_dies_is_a_sentence(monkeypatch):
    def die(path, sha256=""):
        raise ModelFileError("analysis_crashed", detail="SIGSEGV")

    monkeypatch.setattr("probes.run.analyse.facts_of", die)
    make_cell(make_operator("Relu"))
    with pytest.raises(ReportError, match="crashed"):
        submit(make_model("Relu"))


def test_the_operators_of_a_report_filter_the_matrix():
    make_cell(make_operator("Relu"))
    make_cell(make_operator("Conv"))
    report = submit(make_model("Relu", "Tanh"))
    assert operators_of(report) == (("ai.onnx", "Relu"), ("ai.onnx", "Tanh"))
    rows = load_matrix(MatrixFilters(operators=operators_of(report))).rows
    assert [row.name for row in rows] == ["Relu"]
    assert reports.load_report(report.token) == report
    assert reports.load_report("x" * 500) is None
