"""The ONNX messages as the reader needs them: which field holds what, and which are left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5  # wire types


class Keep(Enum):
    """What becomes of a field's bytes."""

    DROP = 0  # documentation, annotations, unknown fields: skipped by length
    COPY = 1
    NAME = 2  # text, checked: valid UTF-8 of bounded length
    PAYLOAD = 3  # tensor values: skipped by length, kept for small tensors only


@dataclass
class Message:
    """One message type: field number -> what becomes of it, or the message inside."""

    name: str
    fields: dict[int, Keep | Message] = field(default_factory=dict)
    counted: str | None = None  # the limit that counts these messages


OPSET = Message("an operator set import", {1: Keep.NAME, 2: Keep.COPY})
DIM = Message("a dimension", {1: Keep.COPY, 2: Keep.NAME})
SHAPE = Message("a shape", {1: DIM})
TENSOR_TYPE = Message("a tensor type", {1: Keep.COPY, 2: SHAPE})
TYPE = Message("a type")
HOLDER = Message("a type", {1: TYPE})
MAP_TYPE = Message("a map type", {1: Keep.COPY, 2: TYPE})
TYPE.fields = {1: TENSOR_TYPE, 4: HOLDER, 5: MAP_TYPE, 8: TENSOR_TYPE, 9: HOLDER}
VALUE_INFO = Message("a value description", {1: Keep.NAME, 2: TYPE}, "tensors")

DIMS, DATA_TYPE, TENSOR_NAME, RAW, EXTERNAL, LOCATION = 1, 2, 8, 9, 13, 14
EXTERNAL_ENTRY = Message("an external data entry")
TENSOR = Message(
    "a tensor",
    {
        DIMS: Keep.COPY,
        DATA_TYPE: Keep.COPY,
        4: Keep.PAYLOAD,
        5: Keep.PAYLOAD,
        6: Keep.PAYLOAD,
        7: Keep.PAYLOAD,
        TENSOR_NAME: Keep.NAME,
        RAW: Keep.PAYLOAD,
        10: Keep.PAYLOAD,
        11: Keep.PAYLOAD,
        EXTERNAL: EXTERNAL_ENTRY,
        LOCATION: Keep.COPY,
    },
    "tensors",
)
INDICES = Message("a list of indices")
SPARSE = Message("a sparse tensor", {1: TENSOR, 2: TENSOR, 3: Keep.COPY})
GRAPH = Message("a graph", counted="subgraphs")
ATTRIBUTE = Message(
    "an attribute",
    {
        1: Keep.NAME,
        2: Keep.COPY,
        3: Keep.COPY,
        4: Keep.COPY,
        5: TENSOR,
        6: GRAPH,
        7: Keep.COPY,
        8: Keep.COPY,
        9: Keep.COPY,
        10: TENSOR,
        11: GRAPH,
        14: TYPE,
        15: TYPE,
        20: Keep.COPY,
        21: Keep.NAME,
        22: SPARSE,
        23: SPARSE,
    },
)
NODE = Message(
    "a node",
    {
        1: Keep.NAME,
        2: Keep.NAME,
        3: Keep.NAME,
        4: Keep.NAME,
        5: ATTRIBUTE,
        7: Keep.NAME,
        8: Keep.NAME,
    },
    "nodes",
)
INITIALIZER, SPARSE_INITIALIZER = 5, 15
GRAPH.fields = {
    1: NODE,
    2: Keep.NAME,
    INITIALIZER: TENSOR,
    11: VALUE_INFO,
    12: VALUE_INFO,
    13: VALUE_INFO,
    SPARSE_INITIALIZER: SPARSE,
}
FUNCTION = Message(
    "a function",
    {
        1: Keep.NAME,
        4: Keep.NAME,
        5: Keep.NAME,
        6: Keep.NAME,
        7: NODE,
        9: OPSET,
        10: Keep.NAME,
        11: ATTRIBUTE,
        12: VALUE_INFO,
        13: Keep.NAME,
    },
    "functions",
)
MODEL = Message(
    "the model",
    {
        1: Keep.COPY,
        2: Keep.NAME,
        3: Keep.NAME,
        4: Keep.NAME,
        5: Keep.COPY,
        7: GRAPH,
        8: OPSET,
        25: FUNCTION,
    },
)
