"""What is fixed before anything runs: initializers, Constant nodes and what depends on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from onnx import AttributeProto, NodeProto, TensorProto, helper

from probes.model.attributes import small_array
from probes.model.types import TensorInfo, dtype_name, element_count

FOLDED_ELEMENTS = 1024  # shape arithmetic is small; a larger constant is a weight
Array = np.ndarray[Any, Any]
Attrs = Mapping[str, Any]

# Not a function of their inputs, so constant inputs do not make their outputs constant.
RANDOM = frozenset(
    {
        "RandomNormal",
        "RandomUniform",
        "RandomNormalLike",
        "RandomUniformLike",
        "Multinomial",
        "Bernoulli",
        "Dropout",
    }
)


def read_initializer(tensor: TensorProto) -> TensorInfo:
    """Type, dimensions and (up to 1024 elements, where the bytes are there) the values."""
    shape = tuple(tensor.dims)
    count = element_count(shape)
    small = count is not None and 0 <= count <= FOLDED_ELEMENTS
    value = small_array(tensor) if small else None
    return TensorInfo(dtype_name(tensor.data_type), shape, True, value)


def read_constant(node: NodeProto) -> TensorInfo | None:
    """What a Constant node holds; None for one that holds no tensor."""
    for attr in node.attribute:
        if attr.type == AttributeProto.TENSOR:
            return read_initializer(attr.t)
        if attr.type == AttributeProto.SPARSE_TENSOR:
            shape = tuple(attr.sparse_tensor.dims)
            return TensorInfo(dtype_name(attr.sparse_tensor.values.data_type), shape, True)
        if attr.name in CONSTANT_TYPES:
            value = np.asarray(helper.get_attribute_value(attr), CONSTANT_TYPES[attr.name][1])
            kept = value if value.size <= FOLDED_ELEMENTS else None
            return TensorInfo(CONSTANT_TYPES[attr.name][0], value.shape, True, kept)
        if attr.name in ("value_string", "value_strings"):
            count = () if attr.name == "value_string" else (len(attr.strings),)
            return TensorInfo("string", count, True)
    return None


CONSTANT_TYPES: dict[str, tuple[str, Any]] = {
    "value_int": ("int64", np.int64),
    "value_ints": ("int64", np.int64),
    "value_float": ("float", np.float32),
    "value_floats": ("float", np.float32),
}


def is_folded(node: NodeProto, inputs: list[TensorInfo]) -> bool:
    """True when a converter can compute the node: every input is fixed before anything runs."""
    if node.op_type in RANDOM or any(attr.type in SUBGRAPHS for attr in node.attribute):
        return False
    if node.op_type in ("Shape", "Size"):
        return bool(inputs) and element_count(inputs[0].shape) is not None
    return all(info.const for info in inputs) and (bool(inputs) or node.op_type == "Constant")


SUBGRAPHS = (AttributeProto.GRAPH, AttributeProto.GRAPHS)


def fold_value(op: str, attrs: Attrs, inputs: list[TensorInfo]) -> Array | None:
    """The small array that a foldable node yields, None where it is large or not worth knowing."""
    rule = FOLDS.get(op)
    if rule is None:
        return None
    if op not in ("Shape", "Size") and any(info.value is None for info in inputs):
        return None
    try:
        with np.errstate(all="ignore"):
            result = rule(inputs, attrs)
    except (ValueError, IndexError, TypeError, KeyError, ZeroDivisionError, OverflowError):
        return None  # an ill-typed node; shape inference reports it in its own words
    return result if result is not None and result.size <= FOLDED_ELEMENTS else None


Rule = Callable[[list[TensorInfo], Attrs], "Array | None"]


def from_values(function: Callable[..., Any]) -> Rule:
    return lambda inputs, attrs: np.asarray(function(*[info.value for info in inputs]))


def shape_of(inputs: list[TensorInfo], attrs: Attrs) -> Array:
    shape = list(inputs[0].shape or ())
    return np.asarray(shape[attrs.get("start", 0) : attrs.get("end")], np.int64)


def size_of(inputs: list[TensorInfo], attrs: Attrs) -> Array:
    return np.asarray(element_count(inputs[0].shape), np.int64)


def gather(inputs: list[TensorInfo], attrs: Attrs) -> Array:
    data, index = (info.value for info in inputs)
    return np.asarray(np.take(data, index, axis=attrs.get("axis", 0)))  # type: ignore[arg-type]


def concat(inputs: list[TensorInfo], attrs: Attrs) -> Array:
    parts = [info.value for info in inputs if info.value is not None]
    return np.concatenate(parts, axis=attrs["axis"])


def axes_of(inputs: list[TensorInfo], attrs: Attrs) -> tuple[int, ...] | None:
    found = inputs[1].value if len(inputs) > 1 else attrs.get("axes")
    return None if found is None else tuple(int(axis) for axis in np.ravel(found))


def unsqueeze(inputs: list[TensorInfo], attrs: Attrs) -> Array:
    return np.expand_dims(inputs[0].value, axes_of(inputs, attrs) or ())  # type: ignore[arg-type]


def squeeze(inputs: list[TensorInfo], attrs: Attrs) -> Array:
    return np.squeeze(inputs[0].value, axes_of(inputs, attrs))  # type: ignore[arg-type]


def cut(inputs: list[TensorInfo], attrs: Attrs) -> Array | None:
    values = [info.value for info in inputs]
    data = values[0]
    if data is None or data.ndim != 1:
        return None
    start, end = (values[1], values[2]) if len(values) > 2 else (attrs["starts"], attrs["ends"])
    step = values[4] if len(values) > 4 else [1]
    first, last, stride = (int(np.ravel(one)[0]) for one in (start, end, step))  # type: ignore[arg-type]
    return np.asarray(data[first:last:stride])


def cast(inputs: list[TensorInfo], attrs: Attrs) -> Array | None:
    kind = helper.tensor_dtype_to_np_dtype(int(attrs["to"]))
    value = inputs[0].value
    return None if value is None or kind.kind not in "iufb" else value.astype(kind)


def divide(left: Array, right: Array) -> Array:
    if left.dtype.kind not in "iu":
        return np.asarray(left / right)
    return np.asarray(np.trunc(left / right)).astype(left.dtype)


def reshape(data: Array, target: Array) -> Array:
    return data.reshape([data.shape[at] if dim == 0 else dim for at, dim in enumerate(target)])


# Operators of the shape arithmetic that exporters write: enough to know a Reshape's target.
FOLDS: dict[str, Rule] = {
    "Shape": shape_of,
    "Size": size_of,
    "Identity": from_values(lambda data: data),
    "Gather": gather,
    "Concat": concat,
    "Unsqueeze": unsqueeze,
    "Squeeze": squeeze,
    "Slice": cut,
    "Cast": cast,
    "Reshape": from_values(reshape),
    "Add": from_values(np.add),
    "Sub": from_values(np.subtract),
    "Mul": from_values(np.multiply),
    "Div": from_values(divide),
    "Neg": from_values(np.negative),
    "Floor": from_values(np.floor),
    "Ceil": from_values(np.ceil),
    "Sqrt": from_values(np.sqrt),
    "Equal": from_values(np.equal),
    "Where": from_values(np.where),
}
