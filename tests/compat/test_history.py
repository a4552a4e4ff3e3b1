"""The pages behind a cell: everything that a verdict rests on can be found and run again."""

import io
import zipfile
from datetime import UTC, datetime

import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from compat import history
from probes.cases.case import Case, case_id
from probes.cases.pack import CaseStore
from probes.model.values import from_numpy
from tests.make import (
    make_case,
    make_cell,
    make_claim,
    make_column,
    make_device,
    make_environment,
    make_operator,
    make_probe,
    make_source,
    make_sweep,
    make_target,
)

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def relu():
    """Relu: passes at 1.32 and failed at 1.30 on a CPU, claimed for a board by two compilers."""
    operator = make_operator("Relu", since_versions=[1, 6, 13, 14])
    column = make_column()
    old, new = make_target("1.30.0", column), make_target("1.32.0", column)
    core = make_case(operator, "mainstream/Relu/1x64x56x56-v1", citation="ResNet-50, layer 1")
    rest = make_case(operator, "node/test_relu", core=False)
    make_probe(core, old, "rejected", message="no kernel")
    made_at = datetime(2026, 11, 29, tzinfo=UTC)
    best = make_probe(
        core,
        new,
        max_abs=1e-7,
        p50_ms=0.2,
        p95_ms=0.3,
        min_ms=0.19,
        finished_at=made_at,
        log={"text": "printed", "latency": {"samples_ms": [0.2], "warmup": 3}},
    )
    make_probe(rest, new, "mismatch", max_abs=2.0)
    make_probe(core, new, "crashed", form="restamped")
    make_probe(core, new, "crashed", latest=False, sweep=make_sweep(new))
    make_cell(operator, column, "yellow", target=new, probe=best, reason_code="rest_failed")
    board = make_column("rknn", make_device("rk3588", "rk3588"))
    make_cell(operator, board, "green", "documented", reason_code="claim_full")
    make_claim(operator, "rknn", device_class="rk3588", unit="NPU")
    make_claim(operator, "iree", "none", device_class="rk3588", source=make_source("other-list"))
    return operator


def test_a_cell_shows_the_probes_of_the_deciding_version(relu, django_assert_num_queries):
    with django_assert_num_queries(7):
        cell = history.load_cell("ai.onnx", "Relu", "test-cpu.onnxruntime-cpu.default")
    assert cell.verdict.level == "yellow"
    assert cell.target_slug == "test-cpu.onnxruntime-cpu.default@1.32.0"
    core, rest = cell.groups
    assert [(row.form, row.outcome, row.support) for row in core.probes] == [
        ("as_is", "passed", "yes"),
        ("restamped", "crashed", "no"),
    ]
    assert [row.case_name for row in rest.probes] == ["node/test_relu"]


def test_a_cell_keeps_older_versions_as_history(relu):
    cell = history.load_cell("ai.onnx", "Relu", "test-cpu.onnxruntime-cpu.default")
    assert [(row.runtime_version, row.supports["no"], row.current) for row in cell.versions] == [
        ("1.32.0", 2, True),
        ("1.30.0", 1, False),
    ]


def test_a_newer_version_that_was_asked_for_others_only_does_not_name_the_cell(relu):
    conv = make_operator("Conv")
    newer = make_target("1.33.0", make_column())
    make_cell(conv, make_column(), target=newer, probe=make_probe(make_case(conv), newer))
    versions = {
        name: history.load_cell("ai.onnx", name, "test-cpu.onnxruntime-cpu.default").column.version
        for name in ("Relu", "Conv")
    }
    assert versions == {"Relu": "1.32.0", "Conv": "1.33.0"}


def test_what_another_compiler_says_stays_beside_the_columns_own_claims(relu):
    cell = history.load_cell("ai.onnx", "Relu", "rk3588.rknn.default")
    assert [claim.source_slug for claim in cell.claims] == ["test-list"]
    assert [(claim.runtime, claim.level) for claim in cell.other_claims] == [("iree", "none")]
    assert cell.groups == ()
    assert cell.verdict.kind == "documented"


def test_a_cell_of_which_nothing_is_known_is_a_page_too(relu):
    make_operator("Gelu")
    cell = history.load_cell("ai.onnx", "Gelu", "rk3588.rknn.default")
    assert cell.verdict is None
    assert cell.groups == cell.claims == cell.versions == ()


@pytest.mark.parametrize(
    ("domain", "name", "column"),
    [
        ("ai.onnx", "NoSuch", "rk3588.rknn.default"),
        ("com.evil", "Relu", "rk3588.rknn.default"),
        ("ai.onnx", "Relu", "../../etc/passwd"),
        ("ai.onnx", "<script>alert(1)</script>", "rk3588.rknn.default"),
    ],
)
def test_what_is_not_in_the_catalogue_is_not_known(relu, domain, name, column):
    with pytest.raises(history.NotKnown):
        history.load_cell(domain, name, column)


def test_an_operator_page_shows_every_column_and_each_case_in_the_probed_ones(
    relu, django_assert_num_queries
):
    with django_assert_num_queries(7):
        page = history.load_operator("ai.onnx", "Relu")
    assert page.operator.since_versions == (1, 6, 13, 14)
    assert [(cell.column.runtime, cell.verdict.level) for cell in page.cells] == [
        ("rknn", "green"),
        ("onnxruntime-cpu", "yellow"),
    ]
    assert [claim.runtime for claim in page.claims] == ["rknn"]
    assert [claim.runtime for claim in page.other_claims] == ["iree"]
    (column,) = page.probed_columns
    assert column.runtime == "onnxruntime-cpu"
    assert [(case.name, case.marks[0].outcome) for case in page.cases] == [
        ("mainstream/Relu/1x64x56x56-v1", "passed"),  # the best of its forms
        ("node/test_relu", "mismatch"),
    ]


def test_a_column_page_tells_device_versions_environment_and_what_fails(
    relu, django_assert_num_queries
):
    make_cell(make_operator("Conv"), make_column(), "red", reason_code="refused")
    with django_assert_num_queries(10):
        page = history.load_column("test-cpu.onnxruntime-cpu.default")
    assert page.device.title == "Test Cpu"
    assert page.counts == {"green": 0, "yellow": 1, "red": 1, "unknown": 0}
    assert [(row.level, row.name) for row in page.failing] == [("red", "Conv"), ("yellow", "Relu")]
    assert [(row.runtime_version, row.probes, row.current) for row in page.versions] == [
        ("1.32.0", 3, True),
        ("1.30.0", 1, False),
    ]
    assert page.environments[0].facts["cpu_model"] == "Test CPU"
    assert len(page.sweeps) == 3


def test_a_claimed_column_lists_its_sources(relu):
    page = history.load_column("rk3588.rknn.default")
    assert [(source.slug, source.claims) for source in page.sources] == [("test-list", 1)]
    assert page.versions == page.environments == ()
    with pytest.raises(history.NotKnown):
        history.load_column("no.such.column")


def test_a_probe_page_shows_what_was_measured_and_under_which_conditions(
    relu, django_assert_num_queries
):
    probe_id = history.load_cell(
        "ai.onnx", "Relu", "test-cpu.onnxruntime-cpu.default"
    ).verdict.probe_id
    with django_assert_num_queries(4):
        page = history.load_probe(probe_id)
    assert (page.outcome, page.support, page.kind) == ("passed", "yes", "measured")
    assert page.latency.p50_ms == 0.2
    assert page.latency.document["samples_ms"] == [0.2]
    assert page.errors.max_abs == 1e-7
    assert page.log == "printed"
    assert page.environment["threads"] == 1
    assert page.case.citation == "ResNet-50, layer 1"
    assert {(row.form, row.target_id == page.column.id) for row in page.elsewhere}
    assert len(page.elsewhere) == 2  # the older version, the restamped form


def test_a_probe_that_waits_is_a_page_without_figures():
    probe = make_probe(outcome="", state="queued", latest=False, environment=None)
    page = history.load_probe(probe.pk)
    assert (page.state, page.latency, page.environment) == ("queued", None, {})
    with pytest.raises(history.NotKnown):
        history.load_probe(probe.pk + 1)


def relu_case(tmp_path, settings):
    """A stored case: Relu at opset 26 and IR 13, one input."""
    node = helper.make_node("Relu", ["x"], ["y"])
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "xy")
    model = helper.make_model(
        helper.make_graph([node], "g", [x], [y]),
        opset_imports=[helper.make_opsetid("", 26)],
        ir_version=13,
    ).SerializeToString()
    import numpy as np

    value = from_numpy(np.float32([-1, 0, 2]))
    expected = from_numpy(np.float32([0, 0, 2]))
    case = Case(
        id=case_id(model, [value]),
        name="node/test_relu",
        domain="ai.onnx",
        op_type="Relu",
        since_version=14,
        origin="node",
        core=False,
        model=model,
        opset=26,
        ir_version=13,
        inputs=(value,),
        expected=(expected,),
        oracle="onnx-node-test 1.23.2",
        oracles_agree="both",
        rtol=1e-3,
        atol=1e-7,
        compare="values",
        timed=False,
        citation="",
        signature={},
        operators=(("ai.onnx", "Relu"),),
    )
    settings.CASE_DIR = tmp_path
    CaseStore(tmp_path).put(case)
    return case


def test_the_reproducer_is_the_model_as_it_was_probed(tmp_path, settings):
    case = relu_case(tmp_path, settings)
    row = make_case(make_operator("Relu"), "node/../test relu;", id=case.id)
    target = make_target(capabilities={"max_opset": 21, "max_ir": 10})
    as_is = history.load_reproducer(make_probe(row, target).pk)
    assert as_is.model == case.model
    assert "/" not in as_is.file_name
    assert as_is.file_name.endswith(".onnx")
    restamped = history.load_reproducer(make_probe(row, target, form="restamped").pk)
    model = onnx.load_from_string(restamped.model)
    assert (model.ir_version, model.opset_import[0].version) == (10, 21)


def test_the_archive_runs_elsewhere(tmp_path, settings):
    case = relu_case(tmp_path, settings)
    probe = make_probe(make_case(make_operator("Relu"), case.name, id=case.id), outcome="mismatch")
    data = history.reproducer_zip(history.load_reproducer(probe.pk))
    assert data == history.reproducer_zip(history.load_reproducer(probe.pk))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        onnx.checker.check_model(onnx.load_from_string(archive.read("model.onnx")))
        tensor = TensorProto.FromString(archive.read("input_0.pb"))
        readme = archive.read("README.txt").decode()
    assert numpy_helper.to_array(tensor).tolist() == [-1, 0, 2]
    assert "mismatch" in readme
    assert "as_is" in readme


def test_a_reproducer_that_cannot_be_made_is_not_known(tmp_path, settings):
    case = relu_case(tmp_path, settings)
    row = make_case(make_operator("Relu"), case.name, id=case.id)
    for probe in (
        make_probe(make_case(make_operator("Relu"))),  # the case file is not here
        make_probe(row, form="from-the-future"),
        make_probe(row, make_target("2.0.0"), form="restamped"),  # nobody knows to which version
    ):
        with pytest.raises(history.NotKnown):
            history.load_reproducer(probe.pk)
    with pytest.raises(history.NotKnown):
        history.load_reproducer(10**9)


def test_environments_name_the_run(relu):
    make_probe(
        make_case(make_operator("Relu")),
        make_target("1.33.0"),
        environment=make_environment("f" * 16, cpu_model="Other CPU"),
        finished_at=datetime(2026, 11, 30, tzinfo=UTC),
    )
    page = history.load_column("test-cpu.onnxruntime-cpu.default")
    assert page.environments[0].facts == {"cpu_model": "Other CPU"}
