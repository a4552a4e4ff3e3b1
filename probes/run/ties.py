"""Discrete answers under half precision: where it cannot tell two values apart, either is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

from probes.model.values import Tensor, to_numpy

if TYPE_CHECKING:
    from probes.cases.case import Case

    Array = np.ndarray[Any, Any]

SMALLEST = 1e-30  # a value that something is divided by
Distance = Callable[[onnx.NodeProto, "list[Array]", "Array", "Array"], "Array"]


def is_a_tie(case: Case, output: int, actual: Tensor, expected: Tensor, part: float) -> bool:
    """Whether every answer that differs hangs on values that are apart by at most `part` of the
    largest one, and by more than nothing: for equal values the operator says which answer is right.
    """
    row = DECIDED_BY.get((case.op_type, output))
    if row is None or actual.dims != expected.dims:
        return False
    told, wanted = to_numpy(actual), to_numpy(expected)
    moved = told != wanted
    try:
        node, operands = _operands(case)
        distance = np.broadcast_to(row(node, operands, told, wanted), moved.shape)[moved]
    except (IndexError, KeyError, StopIteration, ValueError):  # an index beyond the input is wrong
        return False
    off = part * float(np.abs(operands[0]).max(initial=0))
    return bool((distance <= off).all() and (distance > 0).all())


def _operands(case: Case) -> tuple[onnx.NodeProto, list[Array]]:
    """The node that the case proves and its inputs, as it is fed or holds them."""
    graph = onnx.load_from_string(case.model).graph
    node = next(each for each in graph.node if each.op_type == case.op_type)
    known = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    fed = [info.name for info in graph.input if info.name not in known]
    tensors = zip(fed, case.inputs, strict=False)
    known |= {name: to_numpy(value) for name, value in tensors if isinstance(value, Tensor)}
    return node, [known[name].astype(np.float64) for name in node.input if name]


def _of_indices(default_axis: int) -> Distance:
    """How far apart the values are that the indices point at."""

    def distance(node: onnx.NodeProto, operands: list[Array], told: Array, wanted: Array) -> Array:
        attributes = {each.name: each.i for each in node.attribute}
        axis = attributes.get("axis", default_axis)
        squeezed = node.op_type != "TopK" and not attributes.get("keepdims", 1)
        got, want = (_pick(operands[0], each, axis, squeezed) for each in (told, wanted))
        apart: Array = np.abs(got - want).reshape(told.shape)
        return apart

    return distance


def _pick(values: Array, indices: Array, axis: int, squeezed: bool) -> Array:
    where = np.expand_dims(indices, axis) if squeezed else indices
    picked: Array = np.take_along_axis(values, where.astype(np.int64), axis)
    return picked


def _of_operands(node: onnx.NodeProto, operands: list[Array], told: Array, wanted: Array) -> Array:
    """How far apart the two are that were compared."""
    return np.asarray(np.abs(operands[0] - operands[1]))


def _from_step(offset: float) -> Distance:
    """How far each value is from where the answer jumps: at every whole number + `offset`.

    A rounding is a part of the value itself, so distances are stretched to the largest one. An
    answer that is not whole, or more than one jump off, is as far as that.
    """

    def distance(node: onnx.NodeProto, operands: list[Array], told: Array, wanted: Array) -> Array:
        if node.op_type == "Cast" and told.dtype.kind not in "iu":
            return np.asarray(np.inf)  # nothing jumps
        value, answer = operands[0], told.astype(np.float64)
        apart, uneven = (np.abs(each - np.round(each)) for each in (value - offset, answer))
        jumps = np.abs(answer - wanted.astype(np.float64)) - 1
        stretch = np.abs(value).max(initial=0) / np.maximum(np.abs(value), SMALLEST)
        worst: Array = np.where(apart > 0, np.maximum(np.maximum(apart, uneven), jumps), 0)
        return np.asarray(worst * stretch)

    return distance


# (operator, output): how far apart what decides each answer is
DECIDED_BY: dict[tuple[str, int], Distance] = {
    ("TopK", 1): _of_indices(-1),
    ("ArgMax", 0): _of_indices(0),
    ("ArgMin", 0): _of_indices(0),
    ("Round", 0): _from_step(0.5),
    **{(name, 0): _from_step(0.0) for name in ("Floor", "Ceil", "Cast")},
    **{
        (name, 0): _of_operands
        for name in ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal")
    },
}
