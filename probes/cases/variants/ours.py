"""The float64 references of this package, asked of a variant where they speak of its version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from probes.cases.reference import REFERENCES
from probes.cases.references.base import Array, Attrs, Inputs, Outputs, Reference
from probes.cases.references.base import softmax as along_axis
from probes.cases.references.control import attributes_of, run_graph, widened
from probes.cases.variants.generate import Variant
from probes.model.values import DtypeError, Tensor, Value, from_numpy, numpy_dtype, to_numpy


def _flattened(x: Array, axis: int) -> Array:
    """Before opset 13: the axes from this one on are one."""
    rows = int(np.prod(x.shape[: axis % x.ndim if x.ndim else 0], dtype=np.int64))
    return along_axis(x.reshape(rows, -1)).reshape(x.shape)


def _older_softmax(inputs: Inputs, attrs: Attrs) -> Outputs:
    return (_flattened(inputs[0], attrs.get("axis", 1)),)


def _log(x: Array, axis: int) -> Array:
    """Without the logarithm of a zero."""
    shifted = x - x.max(axis=axis, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True)))


def _older_log_softmax(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, axis = inputs[0], attrs.get("axis", 1)
    rows = x.reshape(int(np.prod(x.shape[: axis % x.ndim], dtype=np.int64)), -1)
    return (_log(rows, -1).reshape(x.shape),)


def _log_softmax(inputs: Inputs, attrs: Attrs) -> Outputs:
    return (_log(inputs[0], attrs.get("axis", -1)),)


def _older_roi_align(inputs: Inputs, attrs: Attrs) -> Outputs:
    """Version 10 had no half pixel."""
    default = {"coordinate_transformation_mode": "output_half_pixel"}
    return REFERENCES["RoiAlign"](inputs, {**attrs, **default})


def _older_hardmax(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, axis = inputs[0], attrs.get("axis", 1)
    rows = x.reshape(int(np.prod(x.shape[: axis % x.ndim], dtype=np.int64)), -1)
    out = np.zeros_like(rows)
    out[np.arange(len(rows)), rows.argmax(axis=1)] = 1
    return (out.reshape(x.shape),)


# What an operator meant before this opset.
OLDER: dict[str, tuple[int, Reference]] = {
    "Softmax": (13, _older_softmax),
    "LogSoftmax": (13, _older_log_softmax),
    "Hardmax": (13, _older_hardmax),
    "RoiAlign": (16, _older_roi_align),
}
# Instead of those of the mainstream cases, whose values are mild.
CAREFUL: dict[str, Reference] = {"LogSoftmax": _log_softmax}
# Not read by the reference.
_RECURRENT = {"lengths": (1,), "clip": (0.5,), "activations": ("other",), "input_forget": (1,)}
BEYOND: dict[str, dict[str, tuple[Any, ...]]] = dict.fromkeys(("RNN", "GRU", "LSTM"), _RECURRENT)
REFUSALS = (
    LookupError, ValueError, TypeError, AttributeError, ArithmeticError, AssertionError,
    DtypeError, MemoryError,
)  # fmt: skip
WIDENED = ("float16", "bfloat16")


def answer(variant: Variant, alike: Sequence[Value]) -> tuple[Value, ...] | None:
    """Outputs in the types of `alike`; None where there is no reference, or none for this form."""
    choice = variant.choice
    beyond = BEYOND.get(choice.op, {})
    if any(choice.values.get(name) in options for name, options in beyond.items()):
        return None
    return answer_node(variant.model, variant.inputs, choice.op, choice.since, alike)


def answer_node(
    model: onnx.ModelProto, given: Sequence[Value], op: str, since: int, alike: Sequence[Value]
) -> tuple[Value, ...] | None:
    """As `answer`, of a model of one node that runs this version of an operator."""
    reference = _reference(op, since)
    if reference is None or not all(isinstance(value, Tensor) for value in alike):
        return None
    (node,) = model.graph.node
    try:
        with np.errstate(all="ignore"):
            found = reference(_inputs(model, given, node), attributes_of(node))
            if len(found) < len(alike):
                return None
            return tuple(
                from_numpy(np.asarray(array).astype(numpy_dtype(value.dtype)))
                for array, value in zip(found, alike, strict=False)
                if isinstance(value, Tensor)
            )
    except REFUSALS:
        return None  # a form that the reference was not written for


def answer_graph(
    model: onnx.ModelProto, given: Sequence[Value], opset: int, alike: Sequence[Value]
) -> tuple[Value, ...] | None:
    """As `answer_node`, of several nodes whose versions the references speak of."""
    graph = model.graph
    if any(opset < OLDER[node.op_type][0] for node in graph.node if node.op_type in OLDER):
        return None
    known: dict[str, Any] = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    try:
        for info, value in zip(graph.input, given, strict=True):
            known[info.name] = to_numpy(value)  # type: ignore[arg-type]
        with np.errstate(all="ignore"):
            found = run_graph(graph, {name: _wide(array) for name, array in known.items()})
            return tuple(
                from_numpy(np.asarray(array).astype(numpy_dtype(value.dtype)))
                for array, value in zip(found, alike, strict=True)
                if isinstance(value, Tensor)
            )
    except REFUSALS:
        return None


def _reference(op: str, since: int) -> Reference | None:
    before, older = OLDER.get(op, (0, None))
    if since < before:
        return older
    return CAREFUL.get(op) or REFERENCES.get(op)


def _inputs(model: onnx.ModelProto, given: Sequence[Value], node: onnx.NodeProto) -> list[Any]:
    graph = model.graph
    known: dict[str, Any] = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    for info, value in zip(graph.input, given, strict=True):
        if not isinstance(value, Tensor):
            raise TypeError("the references take tensors")
        known[info.name] = to_numpy(value)
    return [_wide(known[name]) if name else None for name in node.input]


def _wide(array: Array) -> Array:
    if array.dtype.name in WIDENED:
        return array.astype(np.float64)
    return np.asarray(widened(array))
