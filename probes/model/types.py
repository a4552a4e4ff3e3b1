"""Names of ONNX types as documents spell them ("float", "int64", "seq(float)", "unknown")."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import TypeProto

from probes.model.values import DTYPES

Shape = tuple[int | None, ...]

UNKNOWN = "unknown"
ABSENT = "absent"


@dataclass(frozen=True)
class TensorInfo:
    """What is known of one tensor before anything runs.

    `shape` is None when even the rank is unknown; a None in it is a dynamic dimension.
    `const` means fixed at conversion; `value` is kept for small constants only.
    """

    dtype: str = UNKNOWN
    shape: Shape | None = None
    const: bool = False
    value: np.ndarray[Any, Any] | None = None


NOTHING = TensorInfo()
MISSING = TensorInfo(dtype=ABSENT)


def dtype_name(number: int) -> str:
    """Lower-case ONNX name of a TensorProto.DataType number ("float", "float16", "int4", ...)."""
    row = DTYPES.get(number)
    return row.name if row else UNKNOWN


def dims_of(tensor_type: TypeProto.Tensor | TypeProto.SparseTensor) -> Shape | None:
    """Static dimensions as integers, dynamic ones as None; None when the rank is unknown."""
    if not tensor_type.HasField("shape"):
        return None
    return tuple(
        dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else None
        for dim in tensor_type.shape.dim
    )


def read_type(proto: TypeProto) -> tuple[str, Shape | None]:
    """Name and shape of a type; sequences and optionals carry the shape of their element."""
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return dtype_name(proto.tensor_type.elem_type), dims_of(proto.tensor_type)
    if kind == "sparse_tensor_type":
        sparse = proto.sparse_tensor_type
        return f"sparse({dtype_name(sparse.elem_type)})", dims_of(sparse)
    if kind == "sequence_type":
        name, _ = read_type(proto.sequence_type.elem_type)
        return f"seq({name})", None
    if kind == "optional_type":
        name, shape = read_type(proto.optional_type.elem_type)
        return f"optional({name})", shape
    if kind == "map_type":
        name, _ = read_type(proto.map_type.value_type)
        return f"map({dtype_name(proto.map_type.key_type)},{name})", None
    return UNKNOWN, None


def element_count(shape: Shape | None) -> int | None:
    """Number of elements, None unless every dimension is known."""
    if shape is None:
        return None
    known = [dim for dim in shape if dim is not None]
    return math.prod(known) if len(known) == len(shape) else None
