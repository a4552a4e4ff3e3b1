"""Deterministic tensor contents: splitmix64 and exact float32 arithmetic, equal on every numpy.

numpy's own distributions may change between releases, so none of them is used here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from math import prod, sqrt
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LANE = np.uint64(0xFFFF)


def words(seed: str, count: int) -> Array:
    """`count` uint64 of the splitmix64 stream that starts at a hash of `seed`."""
    start = np.frombuffer(hashlib.sha256(seed.encode()).digest()[:8], "<u8")[0]
    state = start + np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN
    state = (state ^ (state >> np.uint64(30))) * _MIX_1
    state = (state ^ (state >> np.uint64(27))) * _MIX_2
    mixed: Array = state ^ (state >> np.uint64(31))
    return mixed


def _normal(seed: str, shape: Shape) -> Array:
    """Sum of four 16-bit uniforms: mean 0, deviation 1.15, all within -4..4, exact in float32."""
    raw = words(seed, prod(shape))
    total = sum((raw >> np.uint64(16 * lane)) & _LANE for lane in range(4))
    centred = np.asarray(total).astype(np.int64) - 2 * 65535
    return (centred.astype(np.float32) / np.float32(32768)).reshape(shape)


def _unit(seed: str, shape: Shape) -> Array:
    """Uniform in [0, 1) in steps of 2**-24."""
    raw = words(seed, prod(shape)) >> np.uint64(40)
    return (raw.astype(np.float32) / np.float32(1 << 24)).reshape(shape)


def _convolution(seed: str, shape: Shape) -> Array:
    """Weights (out, in, kernel...) scaled so that outputs stay near the size of the inputs."""
    return _normal(seed, shape) * np.float32(1 / sqrt(prod(shape[1:])))


def _columns(seed: str, shape: Shape) -> Array:
    """Weights (in, out) of a MatMul, scaled by the number of inputs."""
    return _normal(seed, shape) * np.float32(1 / sqrt(shape[-2]))


def _distinct(seed: str, shape: Shape) -> Array:
    """Every value of i / n once, shuffled: no ties for TopK or sorting."""
    count = prod(shape)
    ranks = np.argsort(words(seed, count), kind="stable").astype(np.float32)
    return (ranks / np.float32(count)).reshape(shape)


def _boxes(seed: str, shape: Shape) -> Array:
    """Boxes (..., 4) as x1, y1, x2, y2 in pixels of a 640 x 640 picture, all of positive area."""
    raw = _unit(seed, shape)
    corner, size = raw[..., :2] * np.float32(512), raw[..., 2:] * np.float32(120) + np.float32(8)
    return np.concatenate([corner, corner + size], axis=-1)


def _bits(seed: str, shape: Shape) -> Array:
    return (words(seed, prod(shape)) >> np.uint64(63)).astype(np.bool_).reshape(shape)


def _integers(seed: str, shape: Shape, low: int, high: int, dtype: str) -> Array:
    drawn = words(seed, prod(shape)) % np.uint64(high - low)
    return (drawn.astype(np.int64) + low).astype(dtype).reshape(shape)


FILLS: dict[str, Callable[[str, Shape], Array]] = {
    "normal": _normal,
    "unit": _unit,
    "signed_unit": lambda seed, shape: _unit(seed, shape) * np.float32(2) - np.float32(1),
    "positive": lambda seed, shape: _unit(seed, shape) + np.float32(0.5),
    "square": lambda seed, shape: _normal(seed, shape) ** 2 + np.float32(2**-10),
    "scale": lambda seed, shape: (_unit(seed, shape) + np.float32(0.5)) / np.float32(64),
    "small": lambda seed, shape: _normal(seed, shape) / np.float32(8),
    "nonzero": lambda seed, shape: (
        np.where(_bits(seed, shape), 1, -1).astype(np.float32)
        * (_unit(seed + "/size", shape) + np.float32(0.25))
    ),
    "conv": _convolution,
    "matmul": _columns,
    "recurrent": lambda seed, shape: _normal(seed, shape) * np.float32(1 / sqrt(shape[-1])),
    "distinct": _distinct,
    "boxes": _boxes,
    "bits": _bits,
    "uint8": lambda seed, shape: _integers(seed, shape, 0, 256, "<u1"),
    "int8": lambda seed, shape: _integers(seed, shape, -127, 128, "<i1"),
    "int32": lambda seed, shape: _integers(seed, shape, -(2**12), 2**12, "<i4"),
}


def fill(name: str, seed: str, shape: Shape) -> Array:
    """An array of `shape` by the fill of that name; "below:N" draws int64 indices under N."""
    if name.startswith("below:"):
        return _integers(seed, shape, 0, int(name[6:]), "<i8")
    return np.asarray(FILLS[name](seed, shape))
