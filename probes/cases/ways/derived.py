"""Weights of alternatives that are made from the weights of the case they replace."""

from __future__ import annotations

from typing import Any

import numpy as np

from probes.cases.fills import Array
from probes.cases.references.sampling import axis_matrix
from probes.cases.way import Given


def patches(given: Given) -> Array:
    """Weights (M, C, k, k) as a matrix (C * k * k, M) for a patch laid out as C, row, column."""
    weight = given["x1"]
    return weight.reshape(weight.shape[0], -1).T


def blocks(given: Given) -> Array:
    """ConvTranspose weights (C, M, 2, 2) with stride 2 as a 1x1 Conv before DepthToSpace (CRD)."""
    weight = given["x1"]
    return weight.transpose(1, 2, 3, 0).reshape(-1, weight.shape[0], 1, 1)


# Where kernel index k of an axis meets its input: output phase (0 or 1), tap of a 3-wide window.
_PHASES = {0: (1, 2), 1: (0, 1), 2: (1, 1), 3: (0, 0)}


def phases(given: Given) -> Array:
    """ConvTranspose weights (C, M, 4, 4), stride 2, pads 1, as a 3x3 Conv before DepthToSpace."""
    weight = given["x1"]
    channels, outputs = weight.shape[:2]
    out = np.zeros((outputs, 2, 2, channels, 3, 3), np.float32)
    for row, (down, high) in _PHASES.items():
        for column, (right, wide) in _PHASES.items():
            out[:, down, right, :, high, wide] = weight[:, :, row, column].T
    return out.reshape(-1, channels, 3, 3)


def across(given: Given) -> Array:
    """Resize along the last axis as a matrix (W, W')."""
    return _resizing(given, 3).T


def down(given: Given) -> Array:
    """Resize along the axis before the last as a matrix (H', H)."""
    return _resizing(given, 2)


def _resizing(given: Given, axis: int) -> Array:
    length, size = given.shape[axis], given.out[axis]
    attrs: Any = given.attrs
    return axis_matrix(size, length, size / length, attrs)


def tent(given: Given) -> Array:
    """Bilinear weights (C, 1, 2s, 2s) of a ConvTranspose with a stride of s, the scale."""
    stride = given.out[2] // given.shape[2]
    steps = np.arange(2 * stride, dtype=np.float32)
    ramp = 1 - np.abs((steps + np.float32(0.5)) / np.float32(stride) - 1)
    return np.tile(np.outer(ramp, ramp), (given.shape[1], 1, 1, 1))
