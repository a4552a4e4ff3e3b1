"""Each runtime on small real models, in its sandbox: right, refused, wrong, and never by us."""

from dataclasses import replace

import numpy as np
import pytest
from onnx import TensorProto as T
from onnx import helper

from probes.model.values import from_numpy, numpy_dtype
from probes.run.outcome import Outcome, Stage
from probes.run.registry import RUNTIMES, installed_version
from probes.run.sandbox import Limits, ProbeRequest, Sandbox
from tests.probes.run.make import make_case, make_model, relu_case, tensor

ALL = ("onnxruntime-cpu", "openvino-cpu", "reference")


@pytest.fixture(scope="module")
def sandboxes():
    running = {slug: Sandbox(slug, limits=Limits(seconds=60)) for slug in ALL}
    yield running
    for sandbox in running.values():
        sandbox.close()


def probe(sandbox, model, inputs, expected, **changes):
    return sandbox.run(ProbeRequest(make_case(model, inputs, expected, **changes)))


def cast(array, number):
    return from_numpy(np.asarray(array).astype(numpy_dtype(number)), number)


def unary(op, dtype, shape, out=None, **attributes):
    return make_model(op, inputs=[(dtype, shape)], outputs=[(out or dtype, shape)], **attributes)


@pytest.mark.parametrize("slug", ALL)
def test_a_plain_operator_passes(sandboxes, slug):
    model = make_model("Add", inputs=[(T.FLOAT, [2]), (T.FLOAT, [2])], outputs=[(T.FLOAT, [2])])
    result = probe(sandboxes[slug], model, [tensor([1, 2]), tensor([3, 4])], [tensor([4, 6])])
    assert (result.outcome, result.message) == (Outcome.PASSED, "")
    assert result.bit_exact
    assert result.placement.value == "accelerator"
    assert result.runtime_version == sandboxes[slug].describe()[0]


@pytest.mark.parametrize("slug", ALL)
def test_a_scalar_stays_a_scalar(sandboxes, slug):
    model = unary("Neg", T.FLOAT, [])
    assert probe(sandboxes[slug], model, [tensor(2)], [tensor(-2)]).outcome is Outcome.PASSED


@pytest.mark.parametrize("slug", ALL)
@pytest.mark.parametrize("number", [T.BFLOAT16, T.FLOAT8E4M3FN, T.FLOAT8E5M2, T.INT4, T.UINT4])
def test_types_that_numpy_lacks_cross_as_bits(sandboxes, slug, number):
    model = unary("Cast", number, [3], T.FLOAT, opset=21, ir=10, to=T.FLOAT)
    inputs, expected = [cast([1, 2, 3], number)], [tensor(np.float32([1, 2, 3]))]
    if number in (T.FLOAT8E5M2,):
        inputs, expected = [cast([1, 2, 4], number)], [tensor(np.float32([1, 2, 4]))]
    result = probe(sandboxes[slug], model, inputs, expected)
    assert (result.outcome, result.message) == (Outcome.PASSED, "")
    back = unary("Cast", T.FLOAT, [3], number, opset=21, ir=10, to=number)
    result = probe(sandboxes[slug], back, expected, inputs)
    assert result.outcome in (Outcome.PASSED, Outcome.REJECTED, Outcome.MISMATCH), result.message


@pytest.mark.parametrize("slug", ALL)
def test_strings_cross(sandboxes, slug):
    words = from_numpy(np.array(["a", "é"], object))
    result = probe(sandboxes[slug], unary("Identity", T.STRING, [2]), [words], [words])
    if slug == "openvino-cpu":  # it answers, and frees the strings twice when the request ends
        assert result.outcome in (Outcome.PASSED, Outcome.CRASHED), result.message
    else:
        assert (result.outcome, result.message) == (Outcome.PASSED, "")


def test_an_input_that_openvino_drops_is_found_by_the_names_of_the_others(sandboxes):
    """Shape decides nothing here but a constant: the first input disappears in conversion."""
    inputs = [(T.FLOAT, [2]), (T.FLOAT, [3])]
    names = ["x0", "x1"]
    nodes = [
        helper.make_node("Shape", ["x0"], ["s"]),
        helper.make_node("Cast", ["s"], ["f"], to=T.FLOAT),
        helper.make_node("Add", ["x1", "f"], ["y0"]),
    ]
    infos = [helper.make_tensor_value_info(n, *spec) for n, spec in zip(names, inputs, strict=True)]
    out = [helper.make_tensor_value_info("y0", T.FLOAT, [3])]
    graph = helper.make_graph(nodes, "g", infos, out)
    imports = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()
    fed = [tensor([9, 9]), tensor([1, 2, 3])]
    result = probe(sandboxes["openvino-cpu"], model, fed, [tensor([3, 4, 5])])
    assert (result.outcome, result.message) == (Outcome.PASSED, "")


@pytest.mark.parametrize("slug", ["onnxruntime-cpu", "reference"])
def test_sequences_cross(sandboxes, slug):
    one = helper.make_tensor_value_info("x", T.FLOAT, [2])
    made = helper.make_tensor_sequence_value_info("y", T.FLOAT, None)
    node = helper.make_node("SequenceConstruct", ["x", "x"], ["y"])
    graph = helper.make_graph([node], "g", [one], [made])
    imports = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()
    value = tensor([1, 2])
    result = probe(sandboxes[slug], model, [value], [[value, value]])
    assert (result.outcome, result.message) == (Outcome.PASSED, "")


@pytest.mark.parametrize(
    ("slug", "stage", "said"),
    [
        ("onnxruntime-cpu", Stage.LOAD, "NoSuchOp"),
        ("openvino-cpu", Stage.CONVERT, "No conversion rule found"),
        ("reference", Stage.LOAD, "NoSuchOp"),
    ],
)
def test_an_unknown_operator_is_rejected_at_its_stage(sandboxes, slug, stage, said):
    result = probe(sandboxes[slug], unary("NoSuchOp", T.FLOAT, [1]), [tensor([1])], [tensor([1])])
    assert (result.outcome, result.stage) == (Outcome.REJECTED, stage)
    assert said in result.message.splitlines()[0]


def test_an_error_while_running_is_no_rejection(sandboxes):
    data, index = (T.FLOAT, [2]), (T.INT64, [1])
    model = make_model("Gather", inputs=[data, index], outputs=[(T.FLOAT, [1])])
    out_of_range = from_numpy(np.array([7], np.int64))
    fed = [tensor([1, 2]), out_of_range]
    result = probe(sandboxes["onnxruntime-cpu"], model, fed, [tensor([0])])
    assert (result.outcome, result.stage) == (Outcome.RUN_ERROR, Stage.RUN)
    assert "out of data bounds" in result.message


@pytest.mark.parametrize("slug", ALL)
@pytest.mark.parametrize("inputs", [[], [tensor([1.0]), tensor([1.0])]], ids=["none", "two"])
def test_the_wrong_number_of_inputs_is_our_fault(sandboxes, slug, inputs):
    result = probe(sandboxes[slug], unary("Relu", T.FLOAT, [1]), inputs, [tensor([1])])
    assert result.outcome is Outcome.HARNESS_ERROR, result.message


@pytest.mark.parametrize("slug", ["onnxruntime-cpu", "openvino-cpu"])
@pytest.mark.parametrize("fed", [from_numpy(np.array([1], np.int64)), tensor([1, 2])])
def test_an_input_of_the_wrong_type_or_shape_is_our_fault(sandboxes, slug, fed):
    result = probe(sandboxes[slug], unary("Relu", T.FLOAT, [1]), [fed], [tensor([1])])
    assert result.outcome is Outcome.HARNESS_ERROR, result.message


def test_a_type_that_openvino_has_no_tensor_for_is_our_fault_or_its_refusal(sandboxes):
    model = unary("Identity", T.COMPLEX64, [1])
    value = from_numpy(np.array([1j], np.complex64))
    result = probe(sandboxes["openvino-cpu"], model, [value], [value])
    assert (result.outcome, result.stage) == (Outcome.REJECTED, Stage.CONVERT)


def softmax_case():
    """Opset 11 flattens to two dimensions first: every row of 4 sums to 1, not every pair."""
    model = unary("Softmax", T.FLOAT, [1, 2, 2], opset=11, ir=6, axis=1)
    exponents = np.exp(np.float32([[[1, 2], [3, 4]]]))
    inputs = [tensor([[[1, 2], [3, 4]]])]
    return make_case(model, inputs, [tensor(exponents / exponents.sum())])


@pytest.mark.parametrize(
    ("slug", "outcome"),
    [("onnxruntime-cpu", Outcome.PASSED), ("openvino-cpu", Outcome.MISMATCH)],
)
def test_the_known_wrong_softmax_is_a_mismatch_not_an_error(sandboxes, slug, outcome):
    result = sandboxes[slug].run(ProbeRequest(softmax_case()))
    assert result.outcome is outcome, result.message


def test_onnxruntime_tells_its_newest_stamps(sandboxes):
    told = sandboxes["onnxruntime-cpu"].capabilities()
    assert told.max_opset >= 26
    assert told.max_ir >= 13
    model = unary("Relu", T.FLOAT, [1], opset=told.max_opset, ir=told.max_ir)
    result = probe(sandboxes["onnxruntime-cpu"], model, [tensor([1])], [tensor([1])])
    assert result.outcome is Outcome.PASSED
    newer = unary("Relu", T.FLOAT, [1], opset=told.max_opset, ir=told.max_ir + 1)
    result = probe(sandboxes["onnxruntime-cpu"], newer, [tensor([1])], [tensor([1])])
    assert result.outcome is Outcome.REJECTED


def test_openvino_records_the_precision_it_was_given(sandboxes):
    _, environment = sandboxes["openvino-cpu"].describe()
    assert environment["openvino_properties"]["INFERENCE_PRECISION_HINT"] == "f32"
    assert environment["threads"] == 1


@pytest.mark.parametrize("slug", ["onnxruntime-cpu", "openvino-cpu"])
def test_latency_on_a_real_runtime(sandboxes, slug):
    model = unary("Exp", T.FLOAT, [64])
    value = np.linspace(0, 1, 64, dtype=np.float32)
    result = probe(sandboxes[slug], model, [tensor(value)], [tensor(np.exp(value))], timed=True)
    assert result.outcome in (Outcome.PASSED, Outcome.CLOSE)
    assert result.latency.count >= 3
    assert 0 < result.latency.min_ms <= result.latency.p50_ms <= result.latency.p95_ms


def test_files_that_are_no_model_are_rejected(sandboxes):
    case = replace(relu_case(), model=b"no model")
    for slug in ("onnxruntime-cpu", "openvino-cpu"):
        assert sandboxes[slug].run(ProbeRequest(case)).outcome is Outcome.REJECTED


def test_every_registered_runtime_is_described():
    for slug, runtime in RUNTIMES.items():
        assert runtime.slug == slug
        if runtime.own_env:  # without requirements: one that comes with its device, from no index
            assert all("==" in spec for spec in (*runtime.requirements, *runtime.no_deps))
        else:
            assert runtime.requirements
            assert "threads" in runtime.config
            assert installed_version(slug)
