"""The pieces of hostile models, and the table that each builder enters."""

from collections.abc import Callable

import onnx
from onnx import TensorProto, helper

Builder = Callable[[], bytes]
BUILDERS: dict[str, Builder] = {}

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
MODEL_GRAPH, MODEL_OPSET = 7, 8  # field numbers of ModelProto
GRAPH_NODE, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_OUTPUT = 1, 5, 11, 12


def hostile(build: Builder) -> Builder:
    BUILDERS[build.__name__] = build
    return build


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, content: bytes | int) -> bytes:
    """One protobuf field: a varint, or length-prefixed bytes."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content % (1 << 64))
    return varint(number << 3 | 2) + varint(len(content)) + content


def value(name: str, dtype: int = FLOAT, dims: object = (2, 3)) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, dims)  # type: ignore[arg-type]


def model(nodes, inputs=None, outputs=None, initializers=(), opset=17, **more) -> onnx.ModelProto:
    graph = helper.make_graph(
        list(nodes),
        more.pop("name", "g"),
        [value("x")] if inputs is None else inputs,
        [value("y", dims=None)] if outputs is None else outputs,
        list(initializers),
    )
    imports = more.pop("imports", [("", opset)])
    more.setdefault("ir_version", 9)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid(*entry) for entry in imports], **more
    )


def relu(source="x", target="y", **more) -> onnx.NodeProto:
    return helper.make_node("Relu", [source], [target], **more)


def tensor(name: str, dims, dtype=FLOAT, raw: bytes | None = None) -> TensorProto:
    made = TensorProto(name=name, data_type=dtype, dims=dims)
    if raw is not None:
        made.raw_data = raw
    return made


def external(location: str) -> bytes:
    held = tensor("k", [4])
    held.data_location = TensorProto.EXTERNAL
    held.external_data.add(key="location", value=location)
    return model(
        [helper.make_node("Add", ["x", "k"], ["y"])],
        initializers=[held],
        inputs=[value("x", dims=[4])],
    ).SerializeToString()
