"""Integer arithmetic with scales and zero points, and spectra."""

from __future__ import annotations

from typing import Any

import numpy as np

from probes.cases.references.base import Array, Attrs, Inputs, Outputs, Reference, along, optional
from probes.cases.references.windows import convolve


def _per_axis(value: Any, x: Array, axis: int) -> Array:
    array = np.asarray(value)
    return along(array, x.ndim, axis) if array.ndim == 1 else array


def _saturated(x: Array, dtype: Any) -> Array:
    limits = np.iinfo(dtype)
    return np.clip(np.rint(x), limits.min, limits.max).astype(dtype)


def _wide(values: Any, zero: Any) -> Array:
    """Integers as float64 with the zero point taken off; int8 products are exact in it."""
    return np.asarray(values, np.float64) - np.asarray(zero, np.float64)


def _quantize(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, zero = inputs[0], np.asarray(optional(inputs, 2, np.uint8(0)))
    axis = attrs.get("axis", 1)
    scaled = np.rint(x / _per_axis(inputs[1], x, axis))
    return (_saturated(scaled + _per_axis(zero, x, axis), zero.dtype),)


def _dequantize(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, axis = inputs[0], attrs.get("axis", 1)
    zero = _per_axis(optional(inputs, 2, 0), x, axis)
    return (_wide(x, zero) * _per_axis(inputs[1], x, axis),)


def _dynamic_quantize(inputs: Inputs, attrs: Attrs) -> Outputs:
    """uint8 over the range of x widened to hold 0: values, scale, zero point."""
    x = inputs[0]
    low, high = min(float(x.min()), 0.0), max(float(x.max()), 0.0)
    scale = (high - low) / 255
    zero = _saturated(np.asarray(-low / scale), np.uint8)
    return _saturated(np.rint(x / scale) + zero, np.uint8), np.asarray(scale), zero


def _qlinear_conv(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, x_scale, x_zero, weight, w_scale, w_zero, y_scale, y_zero = inputs[:8]
    total = convolve(_wide(x, x_zero), _wide(weight, _per_axis(w_zero, weight, 0)), attrs)
    bias = optional(inputs, 8)
    if bias is not None:
        total = total + along(bias.astype(np.float64), total.ndim, 1)
    scale = _per_axis(x_scale * w_scale / y_scale, total, 1)
    return (_saturated(np.rint(total * scale) + y_zero, y_zero.dtype),)


def _qlinear_matmul(inputs: Inputs, attrs: Attrs) -> Outputs:
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = inputs
    total = _wide(a, a_zero) @ _wide(b, b_zero)
    return (_saturated(np.rint(total * (a_scale * b_scale / y_scale)) + y_zero, y_zero.dtype),)


def _matmul_integer(inputs: Inputs, attrs: Attrs) -> Outputs:
    a, b = inputs[:2]
    total = _wide(a, optional(inputs, 2, 0)) @ _wide(b, optional(inputs, 3, 0))
    return (total.astype(np.int32),)


def _conv_integer(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, weight = inputs[:2]
    total = convolve(_wide(x, optional(inputs, 2, 0)), _wide(weight, optional(inputs, 3, 0)), attrs)
    return (total.astype(np.int32),)


def _spectrum(frames: Array, length: int, onesided: bool) -> Array:
    """Sums of frames (..., length) against cosines and sines -> (..., bins, 2)."""
    bins = length // 2 + 1 if onesided else length
    angle = 2 * np.pi * np.outer(np.arange(length), np.arange(bins)) / length
    return np.stack([frames @ np.cos(angle), -(frames @ np.sin(angle))], axis=-1)


def _dft(inputs: Inputs, attrs: Attrs) -> Outputs:
    """Forward transform of real x (B, n, 1) along axis 1."""
    x = inputs[0][..., 0]
    return (_spectrum(x, x.shape[-1], bool(attrs.get("onesided", 0))),)


def _stft(inputs: Inputs, attrs: Attrs) -> Outputs:
    """signal (B, n, 1), frame_step, window -> (B, frames, bins, 2)."""
    signal, step, window = inputs[0][..., 0], int(inputs[1]), inputs[2]
    length = window.shape[0]
    frames = np.lib.stride_tricks.sliding_window_view(signal, length, axis=1)[:, ::step]
    return (_spectrum(frames * window, length, bool(attrs.get("onesided", 1))),)


QUANTIZED: dict[str, Reference] = {
    "QuantizeLinear": _quantize,
    "DequantizeLinear": _dequantize,
    "DynamicQuantizeLinear": _dynamic_quantize,
    "QLinearConv": _qlinear_conv,
    "QLinearMatMul": _qlinear_matmul,
    "MatMulInteger": _matmul_integer,
    "ConvInteger": _conv_integer,
    "DFT": _dft,
    "STFT": _stft,
}
