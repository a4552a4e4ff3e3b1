"""Normalizations, reductions and scans."""

from __future__ import annotations

from typing import Any

import numpy as np

from probes.cases.references.base import Array, Attrs, Inputs, Outputs, Reference, along, optional


def _standardized(x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    mean = x.mean(axis=axes, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=axes, keepdims=True)
    return np.asarray((x - mean) / np.sqrt(variance + epsilon))


def _batch(inputs: Inputs, attrs: Attrs) -> Outputs:
    x = inputs[0]
    scale, bias, mean, variance = (along(part, x.ndim, 1) for part in inputs[1:5])
    return ((x - mean) / np.sqrt(variance + attrs.get("epsilon", 1e-5)) * scale + bias,)


def _instance(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, scale, bias = inputs
    normal = _standardized(x, tuple(range(2, x.ndim)), attrs.get("epsilon", 1e-5))
    return (normal * along(scale, x.ndim, 1) + along(bias, x.ndim, 1),)


def _layer(inputs: Inputs, attrs: Attrs) -> Outputs:
    x = inputs[0]
    axes = tuple(range(attrs.get("axis", -1) % x.ndim, x.ndim))
    normal = _standardized(x, axes, attrs.get("epsilon", 1e-5))
    return (normal * inputs[1] + optional(inputs, 2, 0.0),)


def _group(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, scale, bias = inputs
    grouped = x.reshape(x.shape[0], attrs["num_groups"], -1)
    normal = _standardized(grouped, (2,), attrs.get("epsilon", 1e-5)).reshape(x.shape)
    return (normal * along(scale, x.ndim, 1) + along(bias, x.ndim, 1),)


def _rms(inputs: Inputs, attrs: Attrs) -> Outputs:
    x = inputs[0]
    axes = tuple(range(attrs.get("axis", -1) % x.ndim, x.ndim))
    power = (x**2).mean(axis=axes, keepdims=True)
    return (x / np.sqrt(power + attrs.get("epsilon", 1e-5)) * inputs[1],)


def _lp(inputs: Inputs, attrs: Attrs) -> Outputs:
    order, axis = attrs.get("p", 2), attrs.get("axis", -1)
    norm = (np.abs(inputs[0]) ** order).sum(axis=axis, keepdims=True) ** (1 / order)
    return (inputs[0] / norm,)


def _lrn(inputs: Inputs, attrs: Attrs) -> Outputs:
    """Divides by a power of the sum of squares over neighbouring channels."""
    x, size = inputs[0], attrs["size"]
    before, after = (size - 1) // 2, size - 1 - (size - 1) // 2
    squares = np.pad(x**2, [(0, 0), (before, after), (0, 0), (0, 0)])
    total: Any = sum(squares[:, i : i + x.shape[1]] for i in range(size))
    scale = attrs.get("bias", 1.0) + attrs.get("alpha", 1e-4) / size * total
    return (x / scale ** attrs.get("beta", 0.75),)


def _mean_variance(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, axes = inputs[0], tuple(attrs.get("axes", (0, 2, 3)))
    return ((x - x.mean(axis=axes, keepdims=True)) / x.std(axis=axes, keepdims=True),)


def _reduction(function: Any) -> Reference:
    """A reference that reduces the axes of the attribute or of the second input."""

    def reduce(inputs: Inputs, attrs: Attrs) -> Outputs:
        axes = attrs.get("axes", optional(inputs, 1))
        chosen = None if axes is None else tuple(int(axis) for axis in axes)
        return (np.asarray(function(inputs[0], chosen, bool(attrs.get("keepdims", 1)))),)

    return reduce


def _log_sum_exp(x: Array, axes: Any, keep: bool) -> Any:
    top = x.max(axis=axes, keepdims=True)
    total = np.log(np.exp(x - top).sum(axis=axes, keepdims=True)) + top
    return total if keep else np.squeeze(total, axis=axes)


def _position(function: Any) -> Reference:
    """ArgMax or ArgMin along one axis; ties go to the first."""

    def locate(inputs: Inputs, attrs: Attrs) -> Outputs:
        found = function(inputs[0], axis=attrs.get("axis", 0), keepdims=attrs.get("keepdims", 1))
        return (np.asarray(found, np.int64),)

    return locate


def _cumulative(inputs: Inputs, attrs: Attrs) -> Outputs:
    """Running sum along the axis of the second input; exclusive leaves out the element itself."""
    x, axis = inputs[0], int(inputs[1])
    x = np.flip(x, axis) if attrs.get("reverse", 0) else x
    total = np.cumsum(x, axis=axis, dtype=x.dtype)
    total = total - x if attrs.get("exclusive", 0) else total
    return (np.flip(total, axis) if attrs.get("reverse", 0) else total,)


STATISTICS: dict[str, Reference] = {
    "BatchNormalization": _batch,
    "InstanceNormalization": _instance,
    "LayerNormalization": _layer,
    "GroupNormalization": _group,
    "RMSNormalization": _rms,
    "LpNormalization": _lp,
    "LRN": _lrn,
    "MeanVarianceNormalization": _mean_variance,
    "ReduceMean": _reduction(lambda x, axes, keep: x.mean(axis=axes, keepdims=keep)),
    "ReduceSum": _reduction(lambda x, axes, keep: x.sum(axis=axes, keepdims=keep)),
    "ReduceMax": _reduction(lambda x, axes, keep: x.max(axis=axes, keepdims=keep)),
    "ReduceMin": _reduction(lambda x, axes, keep: x.min(axis=axes, keepdims=keep)),
    "ReduceProd": _reduction(lambda x, axes, keep: x.prod(axis=axes, keepdims=keep)),
    "ReduceL1": _reduction(lambda x, axes, keep: np.abs(x).sum(axis=axes, keepdims=keep)),
    "ReduceL2": _reduction(lambda x, axes, keep: np.sqrt((x**2).sum(axis=axes, keepdims=keep))),
    "ReduceSumSquare": _reduction(lambda x, axes, keep: (x**2).sum(axis=axes, keepdims=keep)),
    "ReduceLogSumExp": _reduction(_log_sum_exp),
    "ArgMax": _position(np.argmax),
    "ArgMin": _position(np.argmin),
    "CumSum": _cumulative,
}
