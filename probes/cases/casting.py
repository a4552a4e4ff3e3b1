"""A graph whose edge has other, wider types, with Casts inside: nothing is rounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import onnx

from probes.model.values import DTYPES, NUMBER_OF, Tensor, Value, from_numpy, numpy_dtype, to_numpy

# Types that hold every value of the one that is named, nearest first; int64 holds what most graphs
# put there in int32, so the values are looked at.
_FLOATS = ("float16", "float", "double")
_SMALL = ("int8", "int16", "int32", "int64", "float16", "float")
_CODES = ("uint8", "int16", "int32", "int64", "float16", "float")
CAST_BY_NUMBER = 6  # before this opset Cast named its type in words, and runtimes lack it
WIDER: dict[str, tuple[str, ...]] = {
    "float16": ("float", "double"),
    "bfloat16": ("float", "double"),
    "float8e4m3fn": _FLOATS,
    "float8e4m3fnuz": _FLOATS,
    "float8e5m2": _FLOATS,
    "float8e5m2fnuz": _FLOATS,
    "float4e2m1": _FLOATS,
    "float6e2m3": _FLOATS,
    "float6e3m2": _FLOATS,
    "bool": ("uint8", "int8", "int32", "int64", "float16", "float"),
    "int2": _SMALL,
    "int4": _SMALL,
    "int8": _SMALL[1:],
    "uint2": _CODES,
    "uint4": _CODES,
    "uint8": _CODES[1:],
    "int16": ("int32", "int64", "float"),
    "uint16": ("int32", "int64", "float"),
    "int32": ("int64", "double"),
    "uint32": ("int64", "double"),
    "int64": ("int32",),
    "uint64": ("int64", "int32"),
}


def can_wrap(edge: Iterable[str], taken: Sequence[str]) -> bool:
    """Whether a type at the graph's edge is not taken, and a wider one is for each such type."""
    odd = [name for name in edge if name not in taken]
    return bool(taken and odd) and all(_wider(name, taken) for name in odd)


def wrap_in_casts(
    proto: onnx.ModelProto, inputs: Sequence[Value], taken: Sequence[str]
) -> Sequence[Value] | None:
    """Change the graph in place; the inputs in their wider types, or None where a type or a value
    has no place in a wider one, or nothing needs it."""
    graph = proto.graph
    opset = max((each.version for each in proto.opset_import if not each.domain), default=1)
    if not taken or len(graph.input) != len(inputs) or opset < CAST_BY_NUMBER:
        return None
    wide = [_widened(value, taken) for value in inputs]
    if any(value is None for value in wide) or not _can_all((*graph.input, *graph.output), taken):
        return None
    before = [_cast_in(graph, info, taken) for info in graph.input]
    after = [_cast_out(graph, info, taken) for info in graph.output]
    casts = [node for node in before if node is not None]
    ends = [node for node in after if node is not None]
    if not casts and not ends:
        return None
    nodes = [*casts, *graph.node, *ends]
    del graph.node[:]
    graph.node.extend(nodes)
    return [value for value in wide if value is not None]


def fits(values: Sequence[Value], taken: Sequence[str]) -> bool:
    """Whether each value, as an output, has a place in a type that is taken."""
    return all(_widened(value, taken) is not None for value in values)


def narrowed(actual: Value, expected: Value) -> Value:
    """An output of a wrapped graph in the type that the case expects; unchanged where it is no
    such tensor, or where a value has no place in it."""
    if not isinstance(actual, Tensor) or not isinstance(expected, Tensor):
        return actual
    name = DTYPES[expected.dtype].name
    if DTYPES[actual.dtype].name not in WIDER.get(name, ()):
        return actual
    array = to_numpy(actual)
    with np.errstate(invalid="ignore", over="ignore"):
        cast = array.astype(numpy_dtype(expected.dtype))
        same = bool((cast.astype(array.dtype) == array).all())
    rounds = name.startswith(("float", "bfloat"))  # 3.5 is no answer of integers
    return from_numpy(cast, expected.dtype) if same or rounds else actual


def _wider(name: str, taken: Sequence[str]) -> str:
    return next((wide for wide in WIDER.get(name, ()) if wide in taken), "")


def _widened(value: Value, taken: Sequence[str]) -> Value:
    """The value in a type that is taken; None where there is none, or it does not fit."""
    if not isinstance(value, Tensor):
        return None
    name = DTYPES[value.dtype].name
    if name in taken:
        return value
    wide = _wider(name, taken)
    if not wide:
        return None
    array = to_numpy(value)
    cast = array.astype(numpy_dtype(NUMBER_OF[wide]))
    kept = cast.astype(array.dtype).tobytes() == array.tobytes()
    return from_numpy(cast, NUMBER_OF[wide]) if kept else None


def _can_all(infos: Iterable[onnx.ValueInfoProto], taken: Sequence[str]) -> bool:
    names = [_name(info) for info in infos]
    return all(name and (name in taken or _wider(name, taken)) for name in names)


def _name(info: onnx.ValueInfoProto) -> str:
    row = DTYPES.get(info.type.tensor_type.elem_type)
    return row.name if row else ""


def _cast_in(
    graph: onnx.GraphProto, info: onnx.ValueInfoProto, taken: Sequence[str]
) -> onnx.NodeProto | None:
    """Give the input a wider type and another name; the Cast that gives the graph what it had."""
    name = _name(info)
    if name in taken:
        return None
    inner, info.name = info.name, _free(graph, f"{info.name}_wide")
    node = _cast(info.name, inner, NUMBER_OF[name])
    info.type.tensor_type.elem_type = NUMBER_OF[_wider(name, taken)]
    return node


def _cast_out(
    graph: onnx.GraphProto, info: onnx.ValueInfoProto, taken: Sequence[str]
) -> onnx.NodeProto | None:
    name = _name(info)
    if name in taken:
        return None
    inner, info.name = info.name, _free(graph, f"{info.name}_wide")
    wide = NUMBER_OF[_wider(name, taken)]
    info.type.tensor_type.elem_type = wide
    return _cast(inner, info.name, wide)


def _cast(source: str, target: str, to: int) -> onnx.NodeProto:
    return onnx.helper.make_node("Cast", [source], [target], to=to)


def _free(graph: onnx.GraphProto, name: str) -> str:
    """A name that no value of the graph has."""
    used = {value for node in graph.node for value in (*node.input, *node.output)}
    used |= {info.name for info in (*graph.input, *graph.output, *graph.initializer)}
    while name in used:
        name += "_"
    return name
