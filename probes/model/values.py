"""Values that cross processes: raw little-endian bytes with an ONNX data type, never pickled."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

if TYPE_CHECKING:
    from onnx import OptionalProto, SequenceProto, TensorProto

    Array = np.ndarray[Any, Any]


class DtypeError(ValueError):
    """This process cannot hold the data type (unknown number, or ml_dtypes is absent)."""


class DtypeRow(NamedTuple):
    """name: ONNX spelling in lower case; numpy: native type or ""; bits: per element on disk."""

    name: str
    numpy: str
    bits: int
    ml_dtype: str = ""


STRING = 8
DTYPES: dict[int, DtypeRow] = {
    1: DtypeRow("float", "<f4", 32),
    2: DtypeRow("uint8", "u1", 8),
    3: DtypeRow("int8", "i1", 8),
    4: DtypeRow("uint16", "<u2", 16),
    5: DtypeRow("int16", "<i2", 16),
    6: DtypeRow("int32", "<i4", 32),
    7: DtypeRow("int64", "<i8", 64),
    STRING: DtypeRow("string", "O", 0),
    9: DtypeRow("bool", "?", 8),
    10: DtypeRow("float16", "<f2", 16),
    11: DtypeRow("double", "<f8", 64),
    12: DtypeRow("uint32", "<u4", 32),
    13: DtypeRow("uint64", "<u8", 64),
    14: DtypeRow("complex64", "<c8", 64),
    15: DtypeRow("complex128", "<c16", 128),
    16: DtypeRow("bfloat16", "", 16, "bfloat16"),
    17: DtypeRow("float8e4m3fn", "", 8, "float8_e4m3fn"),
    18: DtypeRow("float8e4m3fnuz", "", 8, "float8_e4m3fnuz"),
    19: DtypeRow("float8e5m2", "", 8, "float8_e5m2"),
    20: DtypeRow("float8e5m2fnuz", "", 8, "float8_e5m2fnuz"),
    21: DtypeRow("uint4", "", 4, "uint4"),
    22: DtypeRow("int4", "", 4, "int4"),
    23: DtypeRow("float4e2m1", "", 4, "float4_e2m1fn"),
    24: DtypeRow("float8e8m0", "", 8, "float8_e8m0fnu"),
    25: DtypeRow("uint2", "", 2, "uint2"),
    26: DtypeRow("int2", "", 2, "int2"),
    27: DtypeRow("float6e2m3", "", 6, "float6_e2m3fn"),
    28: DtypeRow("float6e3m2", "", 6, "float6_e3m2fn"),
}
NUMBER_OF: dict[str, int] = {row.name: number for number, row in DTYPES.items()}


@dataclass(frozen=True)
class Tensor:
    """dtype: TensorProto.DataType; data: little-endian, sub-byte types packed, strings as JSON."""

    dtype: int
    dims: tuple[int, ...]
    data: bytes

    def size(self) -> int:
        """Number of elements (1 for a scalar)."""
        return prod(self.dims)


Value = Union[Tensor, "list[Value]", None]


@functools.cache
def numpy_dtype(number: int) -> np.dtype[Any]:
    """The numpy (or ml_dtypes) type of an ONNX data type; DtypeError where there is none."""
    row = DTYPES.get(number)
    if row is None:
        raise DtypeError(f"unknown ONNX data type {number}")
    if row.numpy:
        return np.dtype(row.numpy)
    try:
        import ml_dtypes

        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, row.ml_dtype))
    except (ImportError, AttributeError) as error:
        raise DtypeError(f"{row.name} needs a newer ml_dtypes in this environment") from error
    return dtype


@functools.cache
def number_of(dtype: np.dtype[Any]) -> int:
    """The ONNX data type of a numpy (or ml_dtypes) type; DtypeError where there is none."""
    if dtype.kind in "OUS":
        return STRING
    for number, row in DTYPES.items():
        if row.numpy and np.dtype(row.numpy) == dtype.newbyteorder("<"):
            return number
        if row.ml_dtype and row.ml_dtype == dtype.name:
            return number
    raise DtypeError(f"no ONNX data type for numpy {dtype}")


def byte_length(dtype: int, dims: Sequence[int]) -> int:
    """Bytes of the raw encoding (strings excluded: they have no fixed size)."""
    return (prod(dims) * DTYPES[dtype].bits + 7) // 8


def to_numpy(tensor: Tensor) -> Array:
    """A read-only array of exactly `dims`; strings become object arrays of str.

    Raises DtypeError for a type this environment lacks, ValueError when the bytes do not fit.
    """
    dtype = numpy_dtype(tensor.dtype)
    if tensor.dtype == STRING:
        return _strings(tensor)
    if len(tensor.data) != byte_length(tensor.dtype, tensor.dims):
        raise ValueError(f"{len(tensor.data)} bytes for {tensor.dims} of type {tensor.dtype}")
    bits = DTYPES[tensor.dtype].bits
    if bits < 8:
        return _unpack(tensor, bits).view(dtype).reshape(tensor.dims)
    return np.frombuffer(tensor.data, dtype).reshape(tensor.dims)


def from_numpy(array: Any, dtype: int | None = None) -> Tensor:
    """Tensor of an array or numpy scalar; `dtype` says how to read it where numpy cannot.

    With `dtype` the array must already be of that type, or hold its raw bits (uint16 for bfloat16).
    """
    array = np.asarray(array)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    number = number_of(array.dtype) if dtype is None else dtype
    dims = tuple(int(dim) for dim in array.shape)
    if number == STRING:
        texts = [_text(item) for item in array.reshape(-1).tolist()]
        return Tensor(number, dims, json.dumps(texts).encode())
    bits = DTYPES[number].bits
    if bits < 8:
        return Tensor(number, dims, _pack(array, bits))
    if array.dtype.itemsize * 8 != bits:
        raise ValueError(f"numpy {array.dtype} cannot hold {DTYPES[number].name}")
    return Tensor(number, dims, array.tobytes())


def from_proto(proto: TensorProto | SequenceProto | OptionalProto) -> Value:
    """Value of an onnx TensorProto, SequenceProto (of tensors, sequences) or OptionalProto."""
    import onnx

    if isinstance(proto, onnx.TensorProto):
        return _from_tensor_proto(proto)
    table = {
        1: lambda: [from_proto(item) for item in proto.tensor_values],
        3: lambda: [from_proto(item) for item in proto.sequence_values],
        5: lambda: [from_proto(item) for item in proto.optional_values],
    }
    if isinstance(proto, onnx.SequenceProto):
        if proto.elem_type not in table:
            raise ValueError(f"sequence of element type {proto.elem_type} is not supported")
        return table[proto.elem_type]()
    fields = {0: None, 1: "tensor_value", 3: "sequence_value", 5: "optional_value"}
    if proto.elem_type not in fields:
        raise ValueError(f"optional of element type {proto.elem_type} is not supported")
    field = fields[proto.elem_type]
    return from_proto(getattr(proto, field)) if field and proto.HasField(field) else None


def to_proto(value: Value, name: str = "") -> TensorProto | SequenceProto | OptionalProto:
    """The reverse of from_proto; None becomes an OptionalProto without a value."""
    import onnx

    if isinstance(value, Tensor):
        return _to_tensor_proto(value, name)
    if value is None:
        return onnx.OptionalProto(name=name, elem_type=0)
    nested = any(isinstance(item, list) for item in value)
    proto = onnx.SequenceProto(name=name, elem_type=3 if nested else 1)
    target = proto.sequence_values if nested else proto.tensor_values
    for item in value:
        target.append(to_proto(item))
    return proto


def _to_tensor_proto(tensor: Tensor, name: str) -> TensorProto:
    import onnx

    proto = onnx.TensorProto(name=name, data_type=tensor.dtype, dims=tensor.dims)
    if tensor.dtype == STRING:
        texts = json.loads(bytes(tensor.data))
        proto.string_data.extend(text.encode("utf-8", "surrogateescape") for text in texts)
    else:
        proto.raw_data = tensor.data
    return proto


def _from_tensor_proto(proto: TensorProto) -> Tensor:
    from onnx import numpy_helper

    dims = tuple(proto.dims)
    if proto.data_type == STRING:
        texts = [item.decode("utf-8", "surrogateescape") for item in proto.string_data]
        return Tensor(STRING, dims, json.dumps(texts).encode())
    if proto.HasField("raw_data"):
        return Tensor(proto.data_type, dims, bytes(proto.raw_data))
    return from_numpy(numpy_helper.to_array(proto).reshape(dims), proto.data_type)


def _text(item: object) -> str:
    return item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else str(item)


def _strings(tensor: Tensor) -> Array:
    texts = json.loads(bytes(tensor.data))
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array.reshape(tensor.dims)


def _unpack(tensor: Tensor, bits: int) -> Array:
    """One byte an element, sign extended where the type is signed, low bits first."""
    packed = np.frombuffer(tensor.data, np.uint8)
    stream = np.unpackbits(packed, bitorder="little")[: tensor.size() * bits]
    codes: Array = np.packbits(stream.reshape(-1, bits), axis=1, bitorder="little").reshape(-1)
    if not DTYPES[tensor.dtype].name.startswith("int"):
        return codes
    sign = 1 << (bits - 1)
    signed: Array = ((codes ^ sign).astype(np.int16) - sign).astype(np.int8)
    return signed


def _pack(array: Array, bits: int) -> bytes:
    codes = np.frombuffer(array.tobytes(), np.uint8)
    stream = np.unpackbits(codes.reshape(-1, 1), axis=1, bitorder="little")[:, :bits]
    return bytes(np.packbits(stream.reshape(-1), bitorder="little").tobytes())


def pack_values(values: Sequence[Value]) -> tuple[list[Any], list[bytes]]:
    """JSON descriptions and blobs for a frame: [dtype, dims, blob], {"seq": [...]} or null."""
    blobs: list[bytes] = []
    return [_describe(value, blobs) for value in values], blobs


def _describe(value: Value, blobs: list[bytes]) -> Any:
    if isinstance(value, Tensor):
        blobs.append(value.data)
        return [value.dtype, value.dims, len(blobs) - 1]
    if value is None:
        return None
    return {"seq": [_describe(item, blobs) for item in value]}


def unpack_values(described: Sequence[Any], blobs: Sequence[Any], first: int = 0) -> list[Value]:
    """The reverse of pack_values; `first` is the index in `blobs` of its blob 0."""
    return [_restore(item, blobs, first) for item in described]


def _restore(item: Any, blobs: Sequence[Any], first: int) -> Value:
    if item is None:
        return None
    if isinstance(item, dict):
        return [_restore(inner, blobs, first) for inner in item["seq"]]
    return Tensor(int(item[0]), tuple(item[1]), bytes(blobs[first + item[2]]))
