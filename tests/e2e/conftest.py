"""A served site in a browser: Relu fails on one measured column and is claimed on another."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from probes.cases.case import Case, case_id
from probes.cases.pack import CaseStore
from probes.model.values import from_numpy
from tests.make import (
    make_case,
    make_cell,
    make_claim,
    make_column,
    make_device,
    make_operator,
    make_probe,
    make_target,
)

COLUMN = "test-cpu.onnxruntime-cpu.default"


@pytest.fixture(scope="session")
def relu_model() -> bytes:
    tensors = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 3]) for n in ("x", "y")]
    node = helper.make_node("Relu", ["x"], ["y"], name="activation")
    graph = helper.make_graph([node], "relu", tensors[:1], tensors[1:])
    opset = [helper.make_opsetid("", 17)]
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=opset, ir_version=8)
    return model.SerializeToString()


@pytest.fixture
def relu_file(tmp_path, relu_model):
    path = tmp_path / "tiny.onnx"
    path.write_bytes(relu_model)
    return path


@pytest.fixture
def site(transactional_db, live_server, relu_model, tmp_path, settings):
    """The address of the site; its probe can be downloaded."""
    settings.CASE_DIR = tmp_path / "cases"
    value = from_numpy(np.float32([[-1, 0, 2]]))
    case = Case(
        id=case_id(relu_model, [value]), name="mainstream/Relu/tiny-v1", domain="ai.onnx",
        op_type="Relu", since_version=14, origin="mainstream", core=True, model=relu_model,
        opset=17, ir_version=8, inputs=(value,), expected=(value,), oracle="float64 numpy",
        oracles_agree="both", rtol=1e-3, atol=1e-7, compare="values", timed=True, citation="",
        signature={}, operators=(("ai.onnx", "Relu"),),
    )  # fmt: skip
    CaseStore(settings.CASE_DIR).put(case)
    operator, target = make_operator("Relu"), make_target()
    row = make_case(operator, case.name, id=case.id, opset=17, ir_version=8)
    probe = make_probe(row, target, "mismatch", stage="compare", message="output 0 is wrong")
    make_cell(
        operator, target.column, "red", reason_code="wrong_values", target=target, probe=probe,
        reason_params={"count": 1, "total": 1, "which": case.name},
    )  # fmt: skip
    make_claim(operator, device_class="rk3588")
    make_cell(
        operator, make_column("rknn", make_device("rk3588", "rk3588")), "green", "documented",
        reason_code="claim_full", reason_params={"source": "rknn 2.3.2"},
    )  # fmt: skip
    for runtime in ("tensorrt", "openvino-cpu"):
        make_cell(operator, make_column(runtime, make_device("other", "x86_gpu")), "unknown")
    for name in ("Conv", "Gelu", "InstanceNormalization"):
        make_cell(make_operator(name), target.column, target=target)
    return live_server.url


@pytest.fixture
def page(browser, site):
    """A wide page of the site that fails on any script error or blocked resource."""
    yield from open_page(browser, site, viewport={"width": 1440, "height": 900})


@pytest.fixture
def narrow_page(browser, site):
    yield from open_page(browser, site, viewport={"width": 390, "height": 844})


@pytest.fixture
def plain_page(browser, site):
    """A page without JavaScript."""
    yield from open_page(browser, site, java_script_enabled=False)


def open_page(browser, site, **options):
    context = browser.new_context(base_url=site, locale="en-GB", **options)
    page, complaints = context.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    yield page
    context.close()
    assert [text for text in complaints if " 422 " not in text] == []
