"""Convolutions and pools as a sum (or maximum) over kernel taps, for any number of dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from probes.cases.references.base import Array, Attrs, Inputs, Outputs, Reference, optional


@dataclass(frozen=True)
class Window:
    """Kernel geometry over the spatial axes; pads are (before..., after...)."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    ceil: bool = False

    def span(self, axis: int) -> int:
        """Input elements that the dilated kernel covers along an axis."""
        return self.dilations[axis] * (self.kernel[axis] - 1) + 1

    def sizes(self, spatial: tuple[int, ...]) -> tuple[int, ...]:
        """Output sizes over an input of these spatial sizes."""
        return tuple(self._size(axis, length) for axis, length in enumerate(spatial))

    def _size(self, axis: int, length: int) -> int:
        room = length + self.before[axis] + self.after[axis] - self.span(axis)
        if not self.ceil:
            return room // self.strides[axis] + 1
        size = -(-room // self.strides[axis]) + 1
        # A window that would start in the padding after the input is dropped.
        last_start = (size - 1) * self.strides[axis]
        return size - 1 if last_start >= length + self.before[axis] else size


def window_of(attrs: Attrs, kernel: tuple[int, ...], spatial: tuple[int, ...]) -> Window:
    """The geometry that an operator's attributes describe, auto_pad resolved."""
    rank = len(kernel)
    strides = tuple(attrs.get("strides", (1,) * rank))
    dilations = tuple(attrs.get("dilations", (1,) * rank))
    pads = tuple(attrs.get("pads", (0,) * (2 * rank)))
    before, after = pads[:rank], pads[rank:]
    auto = attrs.get("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        totals = [
            max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0)
            for n, s, d, k in zip(spatial, strides, dilations, kernel, strict=True)
        ]
        small, large = tuple(t // 2 for t in totals), tuple(t - t // 2 for t in totals)
        before, after = (small, large) if auto == "SAME_UPPER" else (large, small)
    return Window(kernel, strides, dilations, before, after, bool(attrs.get("ceil_mode", 0)))


def taps(x: Array, window: Window, value: float) -> Iterator[tuple[tuple[int, ...], Array]]:
    """(kernel position, the input elements that it meets), x being (N, C, spatial...)."""
    sizes = window.sizes(x.shape[2:])
    padding = [(0, 0), (0, 0)]
    for axis, length in enumerate(x.shape[2:]):
        need = (sizes[axis] - 1) * window.strides[axis] + window.span(axis)
        first = window.before[axis]
        padding.append((first, max(need - first - length, 0)))
    padded = np.pad(x, padding, constant_values=value)
    for position in product(*map(range, window.kernel)):
        cut = tuple(
            slice(p * d, p * d + (n - 1) * s + 1, s)
            for p, d, n, s in zip(position, window.dilations, sizes, window.strides, strict=True)
        )
        yield position, padded[(slice(None), slice(None), *cut)]


def convolve(x: Array, weight: Array, attrs: Attrs) -> Array:
    """Grouped cross-correlation of x (N, C, ...) with weight (M, C / group, kernel...)."""
    groups, (outputs, depth) = attrs.get("group", 1), weight.shape[:2]
    window = window_of(attrs, weight.shape[2:], x.shape[2:])
    sizes = window.sizes(x.shape[2:])
    batch = x.shape[0]
    kernels: Any = weight.reshape(groups, outputs // groups, depth, *window.kernel)
    total = np.zeros((batch, groups, outputs // groups, int(np.prod(sizes))))
    for position, met in taps(x, window, 0):
        columns = met.reshape(batch, groups, depth, -1)
        total += np.matmul(kernels[(..., *position)], columns)
    return total.reshape(batch, outputs, *sizes)


def _conv(inputs: Inputs, attrs: Attrs) -> Outputs:
    out = convolve(inputs[0], inputs[1], attrs)
    bias = optional(inputs, 2)
    return (out if bias is None else out + bias.reshape(-1, *[1] * (out.ndim - 2)),)


def _conv_transpose(inputs: Inputs, attrs: Attrs) -> Outputs:
    """x (N, C, ...) and weight (C, M / group, kernel...): each input scatters its kernel."""
    x, weight = inputs[0], inputs[1]
    groups, rank = attrs.get("group", 1), x.ndim - 2
    window = window_of(attrs, weight.shape[2:], x.shape[2:])
    extra = attrs.get("output_padding", (0,) * rank)
    full = [
        (n - 1) * window.strides[i] + window.span(i) + extra[i] for i, n in enumerate(x.shape[2:])
    ]
    batch, channels, outputs = x.shape[0], x.shape[1] // groups, weight.shape[1]
    columns = x.reshape(batch, groups, channels, -1)
    kernels: Any = weight.reshape(groups, channels, outputs, *window.kernel).swapaxes(1, 2)
    out = np.zeros((batch, groups * outputs, *full))
    for position in product(*map(range, window.kernel)):
        cut = tuple(
            slice(p * d, p * d + (n - 1) * s + 1, s)
            for p, d, n, s in zip(
                position, window.dilations, x.shape[2:], window.strides, strict=True
            )
        )
        part = np.matmul(kernels[(..., *position)], columns)
        out[(slice(None), slice(None), *cut)] += part.reshape(batch, -1, *x.shape[2:])
    crop = tuple(slice(b, n - a) for b, a, n in zip(window.before, window.after, full, strict=True))
    out = out[(slice(None), slice(None), *crop)]
    bias = optional(inputs, 2)
    return (out if bias is None else out + bias.reshape(-1, *[1] * rank),)


def _max_pool(inputs: Inputs, attrs: Attrs) -> Outputs:
    x = inputs[0]
    window = window_of(attrs, tuple(attrs["kernel_shape"]), x.shape[2:])
    return (np.maximum.reduce([met for _, met in taps(x, window, -np.inf)]),)


def _average_pool(inputs: Inputs, attrs: Attrs) -> Outputs:
    x = inputs[0]
    window = window_of(attrs, tuple(attrs["kernel_shape"]), x.shape[2:])
    total: Any = sum(met for _, met in taps(x, window, 0))
    counted = np.ones((1, 1, *x.shape[2:]))
    if attrs.get("count_include_pad", 0):
        edges = zip(window.before, window.after, strict=True)
        padded = np.pad(counted, [(0, 0), (0, 0), *edges], constant_values=1)
        bare = (0,) * len(window.kernel)
        window = Window(window.kernel, window.strides, window.dilations, bare, bare, window.ceil)
        counted = padded
    count: Any = sum(met for _, met in taps(counted, window, 0))
    return (total / count,)


def _over_space(x: Array) -> tuple[int, ...]:
    return tuple(range(2, x.ndim))


WINDOWS: dict[str, Reference] = {
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "GlobalAveragePool": lambda i, a: (i[0].mean(axis=_over_space(i[0]), keepdims=True),),
    "GlobalMaxPool": lambda i, a: (i[0].max(axis=_over_space(i[0]), keepdims=True),),
}
