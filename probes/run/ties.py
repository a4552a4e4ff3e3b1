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

# How far apart what decides each answer is, and how large it is.
Distance = Callable[
    [onnx.NodeProto, "list[Array]", "Array", "Array"], "tuple[Array, Array | float]"
]


def is_a_tie(
    case: Case, output: int, actual: Tensor, expected: Tensor, part: float, *, of_itself: bool
) -> bool:
    """Whether every answer that differs hangs on values that are apart by at most `part` of
    themselves, or else of the largest one, and by more than nothing: for equal values the operator
    says which answer is right.
    """
    row = DECIDED_BY.get((case.op_type, output))
    if row is None or actual.dims != expected.dims:
        return False
    told, wanted = to_numpy(actual), to_numpy(expected)
    moved = told != wanted
    if told.dtype.kind == wanted.dtype.kind == "f":  # 1.0000001 is whole
        moved &= ~(np.abs(told - wanted) <= part * np.maximum(np.abs(wanted), 1))
    try:
        node, operands = _operands(case)
        with np.errstate(invalid="ignore"):  # infinity minus itself
            apart, size = row(node, operands, told, wanted)
        distance, own = (np.broadcast_to(each, moved.shape)[moved] for each in (apart, size))
    except (IndexError, KeyError, StopIteration, ValueError):  # an index beyond the input is wrong
        return False
    off = part * (own if of_itself else _largest(operands[0]))
    near = np.isfinite(distance) & (distance <= off)
    return bool((near & (distance > 0)).all())


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0, where=np.isfinite(values)))


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
    """The values that the indices point at."""

    def distance(
        node: onnx.NodeProto, operands: list[Array], told: Array, wanted: Array
    ) -> tuple[Array, Array]:
        attributes = {each.name: each.i for each in node.attribute}
        axis = attributes.get("axis", default_axis)
        squeezed = node.op_type != "TopK" and not attributes.get("keepdims", 1)
        got, want = (_pick(operands[0], each, axis, squeezed) for each in (told, wanted))
        size = np.maximum(np.abs(got), np.abs(want))
        return np.abs(got - want).reshape(told.shape), size.reshape(told.shape)

    return distance


def _pick(values: Array, indices: Array, axis: int, squeezed: bool) -> Array:
    where = np.expand_dims(indices, axis) if squeezed else indices
    picked: Array = np.take_along_axis(values, where.astype(np.int64), axis)
    return picked


def _of_operands(
    node: onnx.NodeProto, operands: list[Array], told: Array, wanted: Array
) -> tuple[Array, Array]:
    """The two that were compared."""
    first, second = operands
    return np.asarray(np.abs(first - second)), np.maximum(np.abs(first), np.abs(second))


def _from_step(offset: float) -> Distance:
    """The value, and where the answer jumps: at every whole number + `offset`.

    An answer that is not whole, or more than one jump off, is as far as that.
    """

    def distance(
        node: onnx.NodeProto, operands: list[Array], told: Array, wanted: Array
    ) -> tuple[Array, Array | float]:
        if node.op_type == "Cast" and told.dtype.kind not in "iu":
            return np.asarray(np.inf), 0.0  # nothing jumps
        value, answer = operands[0], told.astype(np.float64)
        apart, uneven = (np.abs(each - np.round(each)) for each in (value - offset, answer))
        jumps = np.abs(answer - wanted.astype(np.float64)) - 1
        worst = np.where(apart > 0, np.maximum(np.maximum(apart, uneven), jumps), 0)
        return worst, np.abs(value)

    return distance


# (operator, output): what decides each answer
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
