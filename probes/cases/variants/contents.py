"""Values of variant inputs by kind and data type: what breaks runtimes matters as much as shape."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from probes.cases.fills import Array, Shape, fill, words
from probes.model.values import NUMBER_OF, numpy_dtype

# Beyond half precision.
WIDE = {"float": 1e5, "float16": 8e3, "bfloat16": 1e5, "double": 1e5}
BEYOND_SINGLE = 1e40
LARGEST = {"float16": 65504.0}
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0)
# Whole numbers by kind: half-open ranges; unsigned types take the upper end alone.
RANGES: dict[str, tuple[int, int]] = {
    "plain": (-8, 9),
    "ties": (-4, 5),
    "small": (-3, 4),
    "positive": (1, 9),
    "unit": (0, 2),
    "signed_unit": (-1, 2),
    "distinct": (-60, 61),
}
WIDEST = {"int64": 45, "int32": 30, "uint64": 45, "uint32": 30}
LIMITS = {"int4": (-8, 8), "uint4": (0, 16), "int2": (-2, 2), "uint2": (0, 4)}


def contents(kind: str, dtype: str, seed: str, shape: Shape) -> Array:
    """An array of this ONNX data type; "below:N" draws indices, "within:N" also negative ones."""
    target = numpy_dtype(NUMBER_OF[dtype])
    if ":" in kind:
        return _indices(kind, seed, shape).astype(target)
    if dtype == "bool":
        return fill("bits", seed, shape)
    if "int" in dtype:
        return _whole(kind, dtype, seed, shape).astype(target)
    return _real(kind, dtype, seed, shape).astype(target)


def _indices(kind: str, seed: str, shape: Shape) -> Array:
    name, _, size = kind.partition(":")
    drawn = fill(f"below:{size}", seed, shape)
    if name == "below":
        return drawn
    return np.where(_draw(seed + "/sign", shape, 2) == 1, drawn - int(size), drawn)


def _draw(seed: str, shape: Shape, count: int) -> Array:
    drawn: Array = (words(seed, prod(shape)) % np.uint64(count)).astype(np.int64).reshape(shape)
    return drawn


def _whole(kind: str, dtype: str, seed: str, shape: Shape) -> Array:
    low, high = LIMITS.get(dtype) or _limits(dtype)
    if kind in ("wide", "edge"):
        return _spread(kind, dtype, seed, shape, low, high)
    if kind == "nonzero":
        drawn = 1 + _draw(seed, shape, 7)
        sign = 1 if low == 0 else 2 * _draw(seed + "/sign", shape, 2) - 1
        return np.asarray(drawn * sign)
    first, last = RANGES.get(kind, RANGES["plain"])
    first, last = max(first, low), min(last, high)
    if kind == "distinct":
        ranks = np.argsort(words(seed, prod(shape)), kind="stable").reshape(shape)
        return np.asarray(ranks + first)
    return first + _draw(seed, shape, last - first)


def _limits(dtype: str) -> tuple[int, int]:
    info = np.iinfo(numpy_dtype(NUMBER_OF[dtype]))
    return int(info.min), int(info.max) + 1


def _spread(kind: str, dtype: str, seed: str, shape: Shape, low: int, high: int) -> Array:
    """Over the type's range, of the longest types over part of it: sums must not overflow."""
    bits = WIDEST.get(dtype)
    if bits is None:
        return low + _draw(seed, shape, high - low)
    drawn = _draw(seed, shape, 2 ** (bits + 1)) - (2**bits if low else 0)
    if kind == "edge" and low and drawn.size:
        ends = np.asarray([low, high - 1, 0, -1, 1, 2**31 - 1, -(2**31)], np.int64)
        place = _draw(seed + "/place", shape, 3) == 0
        return np.where(place, ends[_draw(seed + "/end", shape, len(ends))], drawn)
    return drawn


def _real(kind: str, dtype: str, seed: str, shape: Shape) -> Array:
    if kind in REAL:
        return np.asarray(REAL[kind](seed, shape), np.float64)
    if kind == "wide":
        return fill("normal", seed, shape).astype(np.float64) * WIDE.get(dtype, 4.0)
    if kind == "beyond":
        return fill("normal", seed, shape).astype(np.float64) * BEYOND_SINGLE
    if kind == "edge":
        return _special(dtype, seed, shape)
    return fill(kind, seed, shape).astype(np.float64)


def _special(dtype: str, seed: str, shape: Shape) -> Array:
    """NaN, infinities, zeros of both signs and the largest values between plain ones."""
    values = np.asarray((*SPECIAL, LARGEST.get(dtype, 3e38), -LARGEST.get(dtype, 3e38)))
    if dtype.startswith("float8"):
        values = values[3:7]
    plain = fill("normal", seed, shape).astype(np.float64)
    place = _draw(seed + "/place", shape, 2) == 0
    return np.where(place, values[_draw(seed + "/special", shape, len(values))], plain)


def _ties(seed: str, shape: Shape) -> Array:
    """Multiples of a half in -4..4, each often; half of the zeros are negative."""
    halves = (_draw(seed, shape, 17) - 8) / 2
    return np.where((halves == 0) & (_draw(seed + "/sign", shape, 2) == 1), -0.0, halves)


REAL: dict[str, Callable[[str, Shape], Array]] = {
    "plain": lambda seed, shape: fill("normal", seed, shape),
    "ties": _ties,
    "open_unit": lambda seed, shape: fill("signed_unit", seed, shape) * np.float32(0.96875),
    "above_one": lambda seed, shape: fill("unit", seed, shape) * 4 + np.float32(1.0625),
    "at_least_zero": lambda seed, shape: fill("square", seed, shape),
}
