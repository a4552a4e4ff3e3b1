"""Attributes of a node as plain JSON values, defaults written out so that absent == default."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import onnx
from onnx import AttributeProto, NodeProto, TensorProto, defs, numpy_helper

from probes.model.types import TensorInfo, dtype_name, element_count, read_type

LONGEST_LIST = 64  # longer lists and tensors are weights: counted and hashed, not spelled
LONGEST_STRING = 200

GRAPH_KINDS = (AttributeProto.GRAPH, AttributeProto.GRAPHS)


def domain_name(domain: str) -> str:
    """The default domain is spelled "ai.onnx" in every document."""
    return domain or "ai.onnx"


@cache
def find_schema(op: str, version: int, domain: str) -> defs.OpSchema | None:
    """Schema of `op` in an operator set of `version`, None for operators ONNX does not know."""
    try:
        return defs.get_schema(op, version, "" if domain == "ai.onnx" else domain)
    except (defs.SchemaError, ValueError):
        return None


def read_attributes(
    node: NodeProto, schema: defs.OpSchema | None, inputs: list[TensorInfo]
) -> dict[str, Any]:
    """All attributes but sub-graphs, by name, explicit ones over the schema's and the text's."""
    explicit = {
        attr.name: attribute_value(attr) for attr in node.attribute if attr.type not in GRAPH_KINDS
    }
    merged = {**(schema_defaults(schema) if schema else {}), **explicit}
    for name, default in IMPLIED.get(node.op_type, {}).items():
        if schema is not None and name in schema.attributes and name not in merged:
            value = default(inputs, merged)
            if value is not None:
                merged[name] = value
    if merged.get("auto_pad") in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        merged.pop("pads", None)  # ignored beside auto_pad
    return dict(sorted(merged.items()))


@cache
def schema_defaults(schema: defs.OpSchema) -> dict[str, Any]:
    """Defaults that the schema itself declares."""
    return {
        name: attribute_value(attr.default_value)
        for name, attr in schema.attributes.items()
        if attr.default_value.type != AttributeProto.UNDEFINED
    }


def attribute_value(attr: AttributeProto) -> Any:
    """JSON value of one attribute; tensors and long lists as counts and hashes."""
    reader = READERS.get(attr.type)
    return reader(attr) if reader else None


def plain_float(number: float) -> float | str:
    """Shortest decimal that tells float32 values apart; JSON has no infinities, so words."""
    short = float(f"{number:.7g}")
    return short if abs(short) < float("inf") else str(short)


def plain_string(raw: bytes | str) -> str:
    """Text of at most 200 characters, else its hash; bytes that are no UTF-8 are replaced."""
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    return text if len(text) <= LONGEST_STRING else f"sha256:{short_hash(text)}"


def plain_list(values: Iterable[Any]) -> Any:
    """The list itself up to 64 elements, else its length and hash."""
    items = list(values)
    if len(items) <= LONGEST_LIST:
        return items
    return {"count": len(items), "sha256": short_hash(repr(items))}


def plain_tensor(tensor: TensorProto) -> dict[str, Any]:
    """Type and dimensions, with a hash of the values when it is small enough to matter."""
    found: dict[str, Any] = {"dtype": dtype_name(tensor.data_type), "shape": list(tensor.dims)}
    count = element_count(tuple(tensor.dims))
    if count is not None and count <= LONGEST_LIST:
        array = small_array(tensor)
        if array is not None:
            found["sha256"] = short_hash(repr(array.tolist()))
    return found


def small_array(tensor: TensorProto) -> Any:
    """The values as a numpy array, or None where the proto does not hold what it declares."""
    if tensor.data_location == TensorProto.EXTERNAL:
        return None
    try:
        return numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError):
        return None


def short_hash(text: str) -> str:
    """First 16 hex digits of the SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


READERS: dict[int, Callable[[AttributeProto], Any]] = {
    AttributeProto.INT: lambda attr: attr.i,
    AttributeProto.FLOAT: lambda attr: plain_float(attr.f),
    AttributeProto.STRING: lambda attr: plain_string(attr.s),
    AttributeProto.INTS: lambda attr: plain_list(attr.ints),
    AttributeProto.FLOATS: lambda attr: plain_list(plain_float(one) for one in attr.floats),
    AttributeProto.STRINGS: lambda attr: plain_list(plain_string(one) for one in attr.strings),
    AttributeProto.TENSOR: lambda attr: plain_tensor(attr.t),
    AttributeProto.TENSORS: lambda attr: plain_list(plain_tensor(one) for one in attr.tensors),
    AttributeProto.SPARSE_TENSOR: lambda attr: plain_tensor(attr.sparse_tensor.values),
    AttributeProto.TYPE_PROTO: lambda attr: read_type(attr.tp)[0],
}


# Defaults that the operator's text states and its schema does not.
Implied = Callable[[list[TensorInfo], Mapping[str, Any]], Any]


def spatial_rank(inputs: list[TensorInfo], attrs: Mapping[str, Any]) -> int | None:
    kernel = attrs.get("kernel_shape")
    if isinstance(kernel, list):
        return len(kernel)
    shape = inputs[0].shape if inputs else None
    return len(shape) - 2 if shape is not None and len(shape) > 2 else None


def repeated(number: int, *, sides: int = 1) -> Implied:
    def fill(inputs: list[TensorInfo], attrs: Mapping[str, Any]) -> list[int] | None:
        rank = spatial_rank(inputs, attrs)
        return None if rank is None else [number] * (rank * sides)

    return fill


def kernel_of(slot: int) -> Implied:
    def read(inputs: list[TensorInfo], attrs: Mapping[str, Any]) -> list[int] | None:
        shape = inputs[slot].shape if slot < len(inputs) else None
        if shape is None or any(dim is None for dim in shape[2:]):
            return None
        return [dim for dim in shape[2:] if dim is not None]

    return read


def reversed_axes(inputs: list[TensorInfo], attrs: Mapping[str, Any]) -> list[int] | None:
    shape = inputs[0].shape if inputs else None
    return None if shape is None else list(range(len(shape)))[::-1]


WINDOW: dict[str, Implied] = {
    "dilations": repeated(1),
    "strides": repeated(1),
    "pads": repeated(0, sides=2),
}
IMPLIED: dict[str, dict[str, Implied]] = {
    "Conv": {"kernel_shape": kernel_of(1), **WINDOW},
    "ConvInteger": {"kernel_shape": kernel_of(1), **WINDOW},
    "QLinearConv": {"kernel_shape": kernel_of(3), **WINDOW},
    "DeformConv": {"kernel_shape": kernel_of(1), **WINDOW},
    "ConvTranspose": {
        "kernel_shape": kernel_of(1),
        "output_padding": repeated(0),
        **WINDOW,
    },
    "MaxPool": WINDOW,
    "AveragePool": WINDOW,
    "LpPool": WINDOW,
    "MaxUnpool": WINDOW,
    "Transpose": {"perm": reversed_axes},
}


def since_version(op: str, domain: str, opsets: Mapping[str, int]) -> int:
    """Version that introduced the operator as imported; the import's own for unknown ones."""
    imported = opsets.get(domain_name(domain), 0)
    schema = find_schema(op, imported, domain_name(domain))
    return schema.since_version if schema else imported


def opset_imports(model: onnx.ModelProto) -> dict[str, int]:
    """Imported operator sets by domain ("ai.onnx" spelled out)."""
    return {domain_name(entry.domain): entry.version for entry in model.opset_import}
