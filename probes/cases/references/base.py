"""What every reference shares: its type, and defaults of attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
# Inputs come in node order, floats widened to float64, None where an optional one is omitted.
Inputs = Sequence[Any]
Attrs = Mapping[str, Any]
Outputs = tuple[Array, ...]
# Float results are narrowed by the caller; integer and bool results have their final dtype.
Reference = Callable[[Inputs, Attrs], Outputs]


def optional(inputs: Inputs, index: int, default: Any = None) -> Any:
    """The input at `index`, or the default when the node has fewer or omits it."""
    value = inputs[index] if index < len(inputs) else None
    return default if value is None else value


def along(vector: Array, rank: int, axis: int) -> Array:
    """A 1-D array shaped so that it broadcasts along `axis` of a tensor of `rank`."""
    shape = [1] * rank
    shape[axis] = -1
    return vector.reshape(shape)


def softmax(x: Array, axis: int = -1) -> Array:
    """exp(x) over its sum along one axis, shifted by the maximum."""
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    result: Array = powers / powers.sum(axis=axis, keepdims=True)
    return result


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    result: Array = 1 / (1 + np.exp(-x))
    return result
