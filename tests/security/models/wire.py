"""Hostile files: bytes that no exporter writes, and files that are no models."""

import gzip
import io
import random
import zipfile

from google.protobuf import json_format
from onnx import helper

from tests.security.models.make import (
    GRAPH_INPUT,
    GRAPH_NODE,
    GRAPH_OUTPUT,
    MODEL_GRAPH,
    MODEL_OPSET,
    field,
    hostile,
    model,
    relu,
    varint,
)


@hostile
def names_of_no_text() -> bytes:
    return model([relu()]).SerializeToString().replace(b"Relu", b"Re\xff\xfe")


@hostile
def unknown_fields() -> bytes:
    return model([relu()]).SerializeToString() + field(999, b"x" * 500) + field(536_870_911, 7)


@hostile
def group_wire_type() -> bytes:
    return model([relu()]).SerializeToString() + bytes([0x0B, 0x0C])


@hostile
def wire_type_seven() -> bytes:
    return model([relu()]).SerializeToString() + bytes([0x0F, 0x00])


@hostile
def field_number_zero() -> bytes:
    return model([relu()]).SerializeToString() + bytes([0x02, 0x01, 0x00])


@hostile
def varint_of_ten_bytes() -> bytes:
    return b"\x08" + b"\xff" * 9 + b"\x01" + model([relu()]).SerializeToString()[2:]


@hostile
def varint_of_eleven_bytes() -> bytes:
    return b"\x08" + b"\xff" * 10 + b"\x01" + model([relu()]).SerializeToString()[2:]


@hostile
def length_past_the_end() -> bytes:
    return model([relu()]).SerializeToString() + b"\x3a" + varint(2**40) + b"abc"


@hostile
def length_of_2_63() -> bytes:
    return b"\x3a" + varint(2**63) + b"abc"


@hostile
def graph_in_pieces() -> bytes:
    """protobuf merges a repeated single field: the second graph's nodes join the first's."""
    first = model([relu("x", "t")], outputs=[]).graph
    second = model([helper.make_node("GridSample", ["t", "t"], ["y"])], inputs=[]).graph
    return (
        field(1, 9)
        + field(MODEL_GRAPH, first.SerializeToString())
        + field(MODEL_GRAPH, second.SerializeToString())
        + field(MODEL_OPSET, field(2, 17))
    )


@hostile
def fields_in_reverse() -> bytes:
    graph = model([relu()]).graph
    parts = [
        field(GRAPH_NODE, graph.node[0].SerializeToString()),
        field(GRAPH_INPUT, graph.input[0].SerializeToString()),
        field(GRAPH_OUTPUT, graph.output[0].SerializeToString()),
    ]
    return (
        field(MODEL_OPSET, field(2, 17))
        + field(MODEL_GRAPH, b"".join(reversed(parts)))
        + field(1, 9)
    )


@hostile
def zip_bomb() -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.onnx", b"\0" * 50_000_000)
    return sink.getvalue()


@hostile
def gzip_bomb() -> bytes:
    return gzip.compress(b"\0" * 50_000_000)


@hostile
def onnx_as_text() -> bytes:
    return (
        b'<ir_version: 9, opset_import: ["" : 17]>\n'
        b"agraph (float[2,3] x) => (float[2,3] y) { y = Relu(x) }\n"
    )


@hostile
def onnx_as_textproto() -> bytes:
    return str(model([relu()])).encode()


@hostile
def onnx_as_json() -> bytes:
    return json_format.MessageToJson(model([relu()])).encode()


@hostile
def pickle() -> bytes:
    return b"cposix\nsystem\n(S'touch /tmp/pwned'\ntR."


@hostile
def random_bytes() -> bytes:
    return random.Random(7).randbytes(4096)


@hostile
def zeros() -> bytes:
    return b"\0" * 4096


@hostile
def many_empty_nodes() -> bytes:
    built = model([relu()]).graph.SerializeToString()
    return field(1, 9) + field(8, field(2, 17)) + field(7, built + b"\x0a\x00" * 15_000)


@hostile
def many_empty_initializers() -> bytes:
    built = model([relu()]).graph.SerializeToString()
    return field(1, 9) + field(8, field(2, 17)) + field(7, built + b"\x2a\x00" * 50_000)


@hostile
def overlong_lengths() -> bytes:
    """Lengths and tags written in more bytes than they need."""
    graph = model([relu()]).graph.SerializeToString()
    length = bytes([len(graph) & 0x7F | 0x80, 0x80, 0x80, 0x00]) if len(graph) < 128 else None
    assert length
    return field(1, 9) + b"\xba\x80\x00" + length + graph + field(8, field(2, 17))
