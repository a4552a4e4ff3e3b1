"""Hostile models: dimensions, payloads, types and weights elsewhere."""

import onnx
from onnx import TensorProto, helper

from tests.security.models.make import (
    FLOAT,
    GRAPH_INITIALIZER,
    INT64,
    MODEL_GRAPH,
    MODEL_OPSET,
    external,
    field,
    hostile,
    model,
    relu,
    tensor,
    value,
    varint,
)


@hostile
def external_absolute() -> bytes:
    return external("/etc/passwd")


@hostile
def external_unc() -> bytes:
    return external(r"\\evil.example\share\w.bin")


@hostile
def external_symlink_name() -> bytes:
    return external("link/../../../proc/self/environ")


@hostile
def external_in_attribute() -> bytes:
    held = tensor("k", [4])
    held.data_location = TensorProto.EXTERNAL
    held.external_data.add(key="location", value="../../etc/passwd")
    return model(
        [
            helper.make_node("Constant", [], ["k"], value=held),
            helper.make_node("Add", ["x", "k"], ["y"]),
        ],
        inputs=[value("x", dims=[4])],
    ).SerializeToString()


@hostile
def external_only_by_location_bit() -> bytes:
    """data_location says EXTERNAL, no entry says where."""
    held = tensor("k", [4])
    held.data_location = TensorProto.EXTERNAL
    return model(
        [helper.make_node("Add", ["x", "k"], ["y"])],
        initializers=[held],
        inputs=[value("x", dims=[4])],
    ).SerializeToString()


@hostile
def dims_overflow() -> bytes:
    big = tensor("k", [2**62, 2**62, 2**62], raw=b"\0" * 16)
    return model(
        [helper.make_node("Add", ["x", "k"], ["y"])], initializers=[big]
    ).SerializeToString()


@hostile
def dims_overflow_to_zero() -> bytes:
    """2**32 * 2**32 wraps to 0 in 64 bits, as does the size of what is there."""
    big = tensor("k", [2**32, 2**32], raw=b"")
    return model(
        [helper.make_node("Add", ["x", "k"], ["y"])], initializers=[big]
    ).SerializeToString()


@hostile
def dims_of_the_largest_number() -> bytes:
    return model([relu()], inputs=[value("x", dims=[2**63 - 1, 2**63 - 1])]).SerializeToString()


@hostile
def initializer_without_data() -> bytes:
    return model(
        [helper.make_node("Add", ["x", "k"], ["y"])], initializers=[tensor("k", [2, 3])]
    ).SerializeToString()


@hostile
def initializer_twice() -> bytes:
    held = helper.make_tensor("k", FLOAT, [1], [1.0])
    return model(
        [helper.make_node("Add", ["x", "k"], ["y"])], initializers=[held, held]
    ).SerializeToString()


@hostile
def sparse_indices_outside() -> bytes:
    built = model([helper.make_node("Add", ["x", "k"], ["y"])], inputs=[value("x", dims=[4])])
    sparse = built.graph.sparse_initializer.add()
    sparse.dims.extend([2**40])
    sparse.values.CopyFrom(helper.make_tensor("k", FLOAT, [1], [1.0]))
    sparse.indices.CopyFrom(helper.make_tensor("i", INT64, [1], [2**50]))
    return built.SerializeToString()


@hostile
def constant_of_two_gigabytes() -> bytes:
    big = tensor("c", [2**29])
    return model([helper.make_node("Constant", [], ["y"], value=big)]).SerializeToString()


@hostile
def constant_of_shape_of_terabytes() -> bytes:
    shape = helper.make_tensor("s", INT64, [3], [2**20, 2**20, 2**20])
    return model(
        [helper.make_node("ConstantOfShape", ["s"], ["y"])], initializers=[shape], inputs=[]
    ).SerializeToString()


@hostile
def range_without_end() -> bytes:
    """Constant propagation must not make 2**62 numbers."""
    parts = [helper.make_tensor(n, INT64, [], [v]) for n, v in (("a", 0), ("b", 2**62), ("c", 1))]
    return model(
        [helper.make_node("Range", ["a", "b", "c"], ["y"])], initializers=parts, inputs=[]
    ).SerializeToString()


@hostile
def expand_of_terabytes() -> bytes:
    shape = helper.make_tensor("s", INT64, [2], [2**40, 2**20])
    one = helper.make_tensor("k", INT64, [1], [1])
    return model(
        [
            helper.make_node("Expand", ["k", "s"], ["e"]),
            helper.make_node("Tile", ["e", "s"], ["y"]),
        ],
        initializers=[shape, one],
        inputs=[],
    ).SerializeToString()


@hostile
def many_strings() -> bytes:
    held = TensorProto(name="k", data_type=TensorProto.STRING, dims=[250_000])
    held.string_data.extend([b"a"] * 250_000)
    return model(
        [helper.make_node("Identity", ["k"], ["y"])],
        inputs=[],
        initializers=[held],
        outputs=[value("y", TensorProto.STRING, None)],
    ).SerializeToString()


@hostile
def dims_unpacked_and_packed() -> bytes:
    held = (
        field(1, 2) + field(1, varint(3)) + field(2, FLOAT) + field(8, b"k") + field(9, b"\0" * 24)
    )
    built = model([helper.make_node("Add", ["x", "k"], ["y"])]).graph.SerializeToString()
    return (
        field(1, 9)
        + field(MODEL_GRAPH, built + field(GRAPH_INITIALIZER, held))
        + field(MODEL_OPSET, field(2, 17))
    )


@hostile
def tensor_file() -> bytes:
    return helper.make_tensor("x", FLOAT, [2], [1.0, 2.0]).SerializeToString()


@hostile
def types_nested() -> bytes:
    kind = onnx.TypeProto()
    inner = kind
    for _ in range(80):
        inner = inner.sequence_type.elem_type
    inner.tensor_type.elem_type = FLOAT
    built = model([relu()])
    built.graph.input.add(name="s").type.CopyFrom(kind)
    return built.SerializeToString()


@hostile
def element_type_unknown() -> bytes:
    return model([relu()], inputs=[value("x", 99)]).SerializeToString()


@hostile
def initializer_shadows_an_input_of_another_type() -> bytes:
    return model(
        [relu()], initializers=[helper.make_tensor("x", INT64, [1], [3])]
    ).SerializeToString()


@hostile
def reshape_to_huge() -> bytes:
    shape = helper.make_tensor("s", INT64, [2], [2**62, -1])
    return model(
        [helper.make_node("Reshape", ["x", "s"], ["y"])], initializers=[shape]
    ).SerializeToString()


@hostile
def pads_and_strides_of_2_62() -> bytes:
    node = helper.make_node(
        "MaxPool", ["x"], ["y"], kernel_shape=[2**62, 2**62], pads=[2**62] * 4, strides=[0, 0]
    )
    return model([node], inputs=[value("x", dims=[1, 1, 4, 4])]).SerializeToString()


@hostile
def split_in_2_62() -> bytes:
    node = helper.make_node("Split", ["x"], ["y"], num_outputs=2**62, axis=0)
    return model([node], opset=18).SerializeToString()


@hostile
def gather_out_of_range() -> bytes:
    index = helper.make_tensor("i", INT64, [1], [2**62])
    return model(
        [
            helper.make_node("Shape", ["x"], ["s"]),
            helper.make_node("Gather", ["s", "i"], ["g"]),
            helper.make_node("ConstantOfShape", ["g"], ["y"]),
        ],
        initializers=[index],
    ).SerializeToString()


@hostile
def transpose_outside() -> bytes:
    return model(
        [helper.make_node("Transpose", ["x"], ["y"], perm=[2**40, -9])]
    ).SerializeToString()


@hostile
def repeated_doubling() -> bytes:
    """Shape arithmetic that doubles 60 times: x, x+x, ..."""
    nodes = [helper.make_node("Shape", ["x"], ["s0"])]
    nodes += [
        helper.make_node("Concat", [f"s{i}", f"s{i}"], [f"s{i + 1}"], axis=0) for i in range(60)
    ]
    nodes += [helper.make_node("Identity", ["s60"], ["y"])]
    return model(nodes).SerializeToString()


@hostile
def power_tower() -> bytes:
    nodes = [helper.make_node("Shape", ["x"], ["s0"])]
    nodes += [helper.make_node("Mul", [f"s{i}", f"s{i}"], [f"s{i + 1}"]) for i in range(80)]
    nodes += [helper.make_node("ConstantOfShape", ["s80"], ["y"])]
    return model(nodes).SerializeToString()
