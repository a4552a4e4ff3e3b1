"""The quantized form of a float model: what it computes, its scales, and what has none."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto as T
from onnx import helper, numpy_helper

from probes.run import qdq
from probes.run.adapter import NotApplicable
from tests.probes.run.make import make_model

RANDOM = np.random.default_rng(4)


def numbers(*shape):
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def constant(name, array):
    return numpy_helper.from_array(array, name)


def run(model, feeds):
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    names = [info.name for info in session.get_outputs()]
    return dict(zip(names, session.run(None, feeds), strict=True))


def quantize(model, **feeds):
    """Quantized model, steps, and the answers of both models."""
    made, steps = qdq.quantized(model, {**feeds, **run(qdq.exposed(model), feeds)})
    onnx.checker.check_model(made, full_check=True)
    return made, steps, run(model, feeds), run(made, feeds)


def nodes(model, op):
    return [node for node in onnx.load_from_string(model).graph.node if node.op_type == op]


def stored(model, name):
    found = {
        t.name: numpy_helper.to_array(t) for t in onnx.load_from_string(model).graph.initializer
    }
    return found[name]


def conv(*, bias=True):
    constants = [constant("w", numbers(4, 3, 3, 3)), constant("b", numbers(4))]
    return make_model(
        "Conv", inputs=[(T.FLOAT, [1, 3, 8, 8])], outputs=[(T.FLOAT, [1, 4, 6, 6])],
        initializers=constants[: 1 + bias],
    )  # fmt: skip


def test_a_quantized_convolution_is_near_the_float_one():
    made, steps, exact, coarse = quantize(conv(), x0=numbers(1, 3, 8, 8))
    assert steps == [pytest.approx(np.ptp(exact["y0"]) / 255, rel=1e-3)]
    assert 0 < np.abs(exact["y0"] - coarse["y0"]).max() < 6 * steps[0]
    assert len(nodes(made, "QuantizeLinear")) == 2
    assert len(nodes(made, "DequantizeLinear")) == 4


def test_every_output_is_a_whole_number_of_steps():
    _, (step,), _, coarse = quantize(conv(), x0=numbers(1, 3, 8, 8))
    codes = coarse["y0"] / step
    assert np.abs(codes - np.rint(codes)).max() < 1e-3


def test_weights_are_signed_and_a_bias_has_the_scale_of_the_accumulator():
    made, _, _, _ = quantize(conv(), x0=numbers(1, 3, 8, 8))
    (node,) = nodes(made, "Conv")
    sources = {n.output[0]: n for n in nodes(made, "DequantizeLinear")}
    data, weight, bias = (sources[name] for name in node.input)
    assert stored(made, weight.input[0]).dtype == np.int8
    assert stored(made, weight.input[2]) == 0
    assert stored(made, bias.input[0]).dtype == np.int32
    scales = [stored(made, part.input[1]) for part in (data, weight, bias)]
    assert scales[2] == pytest.approx(scales[0] * scales[1])


def test_a_moved_value_keeps_its_codes():
    """The last axis is dropped: the range of what is left is smaller, its scale must not be."""
    x = np.float32([[1, 2, 3, 4]])
    ends = [constant("from", np.int64([0])), constant("to", np.int64([2])),
            constant("axis", np.int64([1]))]  # fmt: skip
    model = make_model(
        "Slice", inputs=[(T.FLOAT, [1, 4])], outputs=[(T.FLOAT, [1, 2])], initializers=ends
    )
    _, steps, _, _ = quantize(model, x0=x)
    assert steps == [pytest.approx(4 / 255)]


def scatter(*, initializers=()):
    inputs = [(T.FLOAT, [4]), (T.INT64, [1]), (T.FLOAT, [1])]
    return make_model(
        "ScatterElements", inputs=inputs[: 3 - len(initializers)], outputs=[(T.FLOAT, [4])],
        initializers=initializers,
    )  # fmt: skip


@pytest.mark.parametrize("constant_updates", [False, True])
def test_what_is_mixed_into_one_value_has_one_scale(constant_updates):
    x, place, update = np.float32([0.1, 0.2, 0.3, 0.4]), np.int64([1]), np.float32([8])
    feeds = {"x0": x, "x1": place} | ({} if constant_updates else {"x2": update})
    given = [constant("update", update)] if constant_updates else []
    made, steps, exact, coarse = quantize(scatter(initializers=given), **feeds)
    scales = [stored(made, node.input[1]) for node in nodes(made, "DequantizeLinear")]
    assert steps == [pytest.approx(8 / 255)]
    assert scales == pytest.approx([steps[0]] * 3)
    assert coarse["y0"] == pytest.approx(exact["y0"], abs=steps[0])


def test_probabilities_range_from_zero_to_one_whatever_these_are():
    model = make_model("Softmax", inputs=[(T.FLOAT, [1, 8])], outputs=[(T.FLOAT, [1, 8])])
    _, steps, _, _ = quantize(model, x0=np.zeros((1, 8), np.float32))
    assert steps == [pytest.approx(1 / 255)]


def test_shapes_are_written_where_no_rule_infers_them():
    made, _, _, _ = quantize(conv(), x0=numbers(1, 3, 8, 8))
    (info,) = onnx.load_from_string(made).graph.value_info
    assert info.name == "y0_computed"
    assert [dim.dim_value for dim in info.type.tensor_type.shape.dim] == [1, 4, 6, 6]


def test_constants_that_only_their_codes_replace_are_dropped():
    made, _, _, _ = quantize(conv(), x0=numbers(1, 3, 8, 8))
    graph = onnx.load_from_string(made).graph
    read = {name for node in graph.node for name in node.input}
    assert {tensor.name for tensor in graph.initializer} <= read


def test_an_input_that_two_nodes_read_is_quantized_once():
    made = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Add", ["x", "a"], ["y"])]
    infos = [helper.make_tensor_value_info(name, T.FLOAT, [3]) for name in "xy"]
    graph = helper.make_graph(made, "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    quantized, _, exact, coarse = quantize(model.SerializeToString(), x=np.float32([-1, 0.5, 2]))
    assert len(nodes(quantized, "QuantizeLinear")) == 3
    assert coarse["y"] == pytest.approx(exact["y"], abs=0.05)


def test_settings_stay_as_they_are():
    bounds = [constant("low", np.float32(-0.25)), constant("high", np.float32(0.25))]
    model = make_model(
        "Clip", inputs=[(T.FLOAT, [4])], outputs=[(T.FLOAT, [4])], initializers=bounds
    )
    made, _, _, coarse = quantize(model, x0=np.float32([-1, -0.1, 0.1, 1]))
    assert list(nodes(made, "Clip")[0].input[1:]) == ["low", "high"]
    assert coarse["y0"] == pytest.approx([-0.25, -0.1, 0.1, 0.25], abs=0.01)


def test_zeros_alone_have_a_scale():
    model = make_model("Relu", inputs=[(T.FLOAT, [2])], outputs=[(T.FLOAT, [2])])
    _, steps, _, coarse = quantize(model, x0=np.zeros(2, np.float32))
    assert steps == [1.0]
    assert coarse["y0"].tolist() == [0, 0]


def test_a_range_that_lacks_zero_is_widened_to_it():
    codes = qdq.unsigned(np.float32([2, 3]))
    assert (codes.scale, codes.zero) == (pytest.approx(3 / 255), 0)
    assert codes.quantize(np.float32([0, 3])).tolist() == [0, 255]


def test_constants_that_were_inputs_as_well_are_quantized_as_constants():
    """IR version 3 lists every initializer among the inputs."""
    model = onnx.load_from_string(conv(bias=False))
    model.graph.input.append(helper.make_tensor_value_info("w", T.FLOAT, [4, 3, 3, 3]))
    model.ir_version = 3
    made, _, exact, coarse = quantize(model.SerializeToString(), x0=numbers(1, 3, 8, 8))
    assert [info.name for info in onnx.load_from_string(made).graph.input] == ["x0"]
    assert coarse["y0"] == pytest.approx(exact["y0"], abs=0.2)


UNFIT = {
    "coordinates": make_model(
        "GridSample",
        inputs=[(T.FLOAT, [1, 1, 4, 4]), (T.FLOAT, [1, 2, 2, 2])],
        outputs=[(T.FLOAT, [1, 1, 2, 2])],
        opset=16,
    ),
    "integers": make_model("Neg", inputs=[(T.INT32, [2])], outputs=[(T.INT32, [2])]),
    "an index": make_model("ArgMax", inputs=[(T.FLOAT, [2])], outputs=[(T.INT64, [1])]),
    "half": make_model("Relu", inputs=[(T.FLOAT16, [2])], outputs=[(T.FLOAT16, [2])]),
    "old": make_model("Relu", inputs=[(T.FLOAT, [2])], outputs=[(T.FLOAT, [2])], opset=9, ir=4),
    "new": make_model("Relu", inputs=[(T.FLOAT, [2])], outputs=[(T.FLOAT, [2])], opset=28, ir=13),
    "from codes": make_model(
        "DequantizeLinear", inputs=[(T.UINT8, [2]), (T.FLOAT, [])], outputs=[(T.FLOAT, [2])]
    ),
    "codes": make_model(
        "QuantizeLinear", inputs=[(T.FLOAT, [2]), (T.FLOAT, [])], outputs=[(T.UINT8, [2])]
    ),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_has_no_quantized_form_says_so(name):
    with pytest.raises(NotApplicable):
        qdq.check(UNFIT[name])


def test_a_subgraph_is_not_entered():
    inner = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["z"])], "then", [],
        [helper.make_tensor_value_info("z", T.FLOAT, [1])],
    )  # fmt: skip
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
    inputs = [helper.make_tensor_value_info("c", T.BOOL, []),
              helper.make_tensor_value_info("x", T.FLOAT, [1])]  # fmt: skip
    outputs = [helper.make_tensor_value_info("y", T.FLOAT, [1])]
    graph = helper.make_graph([node], "g", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    with pytest.raises(NotApplicable, match="subgraph"):
        qdq.check(model.SerializeToString())


def test_values_that_no_scale_holds_are_not_quantized():
    model = make_model("Log", inputs=[(T.FLOAT, [1])], outputs=[(T.FLOAT, [1])])
    with pytest.raises(NotApplicable, match="finite"):
        quantize(model, x0=np.zeros(1, np.float32))
