import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from probes.model.signature import (
    class_key,
    dtype_key,
    main_signature,
    node_signatures,
    signature_key,
)


def make_model(nodes, inputs, initializers=(), opset=17, outputs=("y",)):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [helper.make_tensor(*entry) for entry in initializers],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def conv(shape=(1, 4, 8, 8), weight=(4, 4, 3, 3), **attrs):
    count = 1
    for dim in weight:
        count *= dim
    node = helper.make_node("Conv", ["x", "w"], ["y"], **attrs)
    model = make_model(
        [node],
        [("x", TensorProto.FLOAT, shape)],
        [("w", TensorProto.FLOAT, weight, [0.5] * count)],
    )
    return main_signature(model, "Conv")


def unary(op, shape=(1, 3, 8, 8), opset=17, **attrs):
    model = make_model(
        [helper.make_node(op, ["x"], ["y"], **attrs)], [("x", TensorProto.FLOAT, shape)], (), opset
    )
    return main_signature(model, op)


def test_a_signature_document_holds_what_decides_support():
    signature = conv()
    assert signature == {
        "schema": 1,
        "domain": "ai.onnx",
        "op": "Conv",
        "since": 11,
        "inputs": [
            {"dtype": "float", "shape": [1, 4, 8, 8], "const": False},
            {"dtype": "float", "shape": [4, 4, 3, 3], "const": True},
        ],
        "outputs": [{"dtype": "float", "shape": [1, 4, 6, 6]}],
        "attrs": {
            "auto_pad": "NOTSET",
            "dilations": [1, 1],
            "group": 1,
            "kernel_shape": [3, 3],
            "pads": [0, 0, 0, 0],
            "strides": [1, 1],
        },
        "subgraphs": 0,
    }


@pytest.mark.parametrize(
    "attrs",
    [
        {"strides": [1, 1]},
        {"pads": [0, 0, 0, 0], "dilations": [1, 1]},
        {"auto_pad": "NOTSET", "group": 1},
        {"kernel_shape": [3, 3]},
    ],
)
def test_a_default_written_out_is_the_same_signature(attrs):
    assert signature_key(conv(**attrs)) == signature_key(conv())


def test_a_weight_is_never_read_and_does_not_split_signatures():
    small = conv(weight=(4, 4, 1, 1))
    assert "value" not in small["inputs"][1]


def test_names_and_order_of_nodes_do_not_matter():
    first = unary("Relu")
    model = make_model(
        [
            helper.make_node("Neg", ["in"], ["t"]),
            helper.make_node("Relu", ["t"], ["out"], name="any"),
        ],
        [("in", TensorProto.FLOAT, (1, 3, 8, 8))],
        outputs=("out",),
    )
    assert signature_key(main_signature(model, "Relu")) == signature_key(first)


SAME_CLASS = [
    (conv(), conv(shape=(1, 8, 20, 20), weight=(16, 8, 3, 3)), True),
    (conv(), conv(pads=[1, 1, 1, 1]), False),
    (conv(), conv(dilations=[2, 2]), False),
    (conv(), conv(weight=(4, 4, 7, 7)), False),
    (conv(), conv(shape=(None, 4, 8, 8)), False),
    (conv(group=4, weight=(4, 1, 3, 3)), conv(group=2, weight=(4, 2, 3, 3)), False),
    (unary("Softmax", axis=-1), unary("Softmax", axis=3), True),
    (unary("Softmax", axis=-1), unary("Softmax", axis=1), False),
    (unary("Softmax", opset=11), unary("Softmax", opset=13), False),
    (unary("LeakyRelu", alpha=0.1), unary("LeakyRelu", alpha=0.2), True),
    (unary("Transpose", perm=[0, 2, 3, 1]), unary("Transpose", perm=[0, 3, 1, 2]), False),
    (unary("Relu"), unary("Relu", shape=(1, 3, 8)), False),
]


@pytest.mark.parametrize(("left", "right", "same"), SAME_CLASS)
def test_class_keys_keep_what_decides_support(left, right, same):
    assert (class_key(left) == class_key(right)) is same
    assert dtype_key(left) == dtype_key(right)


def test_dtype_keys_tell_what_comes_out():
    """A Cast to float4 that fails says nothing of a Cast to int64."""
    casts = [unary("Cast", to=to) for to in (TensorProto.INT64, TensorProto.FLOAT16)]
    assert dtype_key(casts[0]) != dtype_key(casts[1])


def resize(scales, **attrs):
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], **attrs)
    return main_signature(
        make_model(
            [node],
            [("x", TensorProto.FLOAT, (1, 3, 8, 8))],
            [("scales", TensorProto.FLOAT, [4], scales)],
        ),
        "Resize",
    )


def test_resize_shows_its_scales_and_the_input_left_out():
    signature = resize([1, 1, 2, 2])
    assert signature["inputs"][1]["dtype"] == "absent"
    assert signature["inputs"][2]["value"] == [1.0, 1.0, 2.0, 2.0]
    assert class_key(signature) == class_key(resize([1, 1, 4, 4]))
    assert class_key(signature) != class_key(resize([1, 1, 1.5, 1.5]))
    assert class_key(signature) != class_key(resize([1, 1, 2, 2], mode="cubic"))


def test_shape_arithmetic_on_static_shapes_becomes_a_known_constant():
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node(
            "Constant", [], ["zero"], value=numpy_helper.from_array(onnx.numpy_helper.np.array(0))
        ),
        helper.make_node("Gather", ["s", "zero"], ["batch"], axis=0),
        helper.make_node("Constant", [], ["axes"], value_ints=[0]),
        helper.make_node("Unsqueeze", ["batch", "axes"], ["batch1"]),
        helper.make_node("Constant", [], ["rest"], value_ints=[-1]),
        helper.make_node("Concat", ["batch1", "rest"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
    ]
    found = node_signatures(make_model(nodes, [("x", TensorProto.FLOAT, (2, 3, 4))]))
    assert [one.folds for one in found] == [True] * 7 + [False]
    reshape = found[-1].signature
    assert reshape["inputs"][1] == {"dtype": "int64", "shape": [2], "const": True, "value": [2, -1]}
    assert reshape["outputs"] == [{"dtype": "float", "shape": [2, 12]}]


def test_a_dynamic_shape_stays_at_run_time():
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Reshape", ["x", "s"], ["y"]),
    ]
    found = node_signatures(make_model(nodes, [("x", TensorProto.FLOAT, (None, 3))]))
    assert [one.folds for one in found] == [False, False]
    assert found[1].signature["inputs"][1]["const"] is False


def test_random_nodes_are_no_constants():
    nodes = [
        helper.make_node("RandomNormal", [], ["r"], shape=[2]),
        helper.make_node("Add", ["x", "r"], ["y"]),
    ]
    found = node_signatures(make_model(nodes, [("x", TensorProto.FLOAT, (2,))]))
    assert found[1].signature["inputs"][1]["const"] is False


def test_nodes_of_subgraphs_have_paths_and_see_the_outer_tensors():
    branches = {
        f"{label}_branch": helper.make_graph(
            [helper.make_node(op, ["x"], ["b"])],
            label,
            [],
            [helper.make_empty_tensor_value_info("b")],
        )
        for label, op in (("then", "Relu"), ("else", "Neg"))
    }
    node = helper.make_node("If", ["cond"], ["y"], name="pick", **branches)
    model = make_model([node], [("cond", TensorProto.BOOL, ()), ("x", TensorProto.FLOAT16, (2, 3))])
    found = node_signatures(model)
    assert {(one.signature["op"], one.path) for one in found} == {
        ("If", ""),
        ("Neg", "pick/else_branch"),
        ("Relu", "pick/then_branch"),
    }
    assert found[0].signature["subgraphs"] == 2
    assert {one.signature["inputs"][0]["dtype"] for one in found[1:]} == {"float16"}


def test_an_unknown_operator_has_a_signature_too():
    node = helper.make_node("FusedThing", ["x"], ["y"], domain="com.acme", strength=2)
    model = make_model([node], [("x", TensorProto.FLOAT, (2,))])
    model.opset_import.append(helper.make_opsetid("com.acme", 3))
    signature = main_signature(model, "FusedThing", "com.acme")
    assert (signature["domain"], signature["since"]) == ("com.acme", 3)
    assert signature["attrs"] == {"strength": 2}
    assert signature["outputs"] == [{"dtype": "unknown", "shape": None}]
    assert len({signature_key(signature), class_key(signature), dtype_key(signature)}) == 3


def test_infinities_stay_json():
    model = make_model(
        [helper.make_node("Max", ["x", "low"], ["y"])],
        [("x", TensorProto.FLOAT, (2,))],
        [("low", TensorProto.FLOAT, [], [float("-inf")])],
    )
    signature = main_signature(model, "Max")
    assert signature["inputs"][1]["value"] == ["-inf"]
    assert len(signature_key(signature)) == 16
