"""Interpolation, region sampling and selection of detections."""

from __future__ import annotations

from typing import Any

import numpy as np

from probes.cases.references.base import Array, Attrs, Inputs, Outputs, Reference, optional


def _coordinates(size: int, length: int, scale: float, mode: str) -> Array:
    """Where each of `size` outputs lies on an axis of `length` inputs."""
    out = np.arange(size, dtype=np.float64)
    table = {
        "half_pixel": (out + 0.5) / scale - 0.5,
        "pytorch_half_pixel": (out + 0.5) / scale - 0.5 if size > 1 else out * 0,
        "asymmetric": out / scale,
        "align_corners": out * (length - 1) / max(size - 1, 1),
    }
    return table[mode]


def _kernel(mode: str, distance: Array, cubic: float) -> Array:
    """Weight of an input at this distance."""
    d = np.abs(distance)
    if mode == "linear":
        return np.asarray(np.maximum(1 - d, 0))
    near = (cubic + 2) * d * d * d - (cubic + 3) * d * d + 1
    far = cubic * d * d * d - 5 * cubic * d * d + 8 * cubic * d - 4 * cubic
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


_NEAREST: dict[str, Any] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round_prefer_floor": lambda at: np.ceil(at - 0.5),
    "round_prefer_ceil": lambda at: np.floor(at + 0.5),
}


def axis_matrix(size: int, length: int, scale: float, attrs: Attrs) -> Array:
    """(size, length) weights that resize one axis; positions outside repeat the edge."""
    mode = attrs.get("mode", "nearest")
    at = _coordinates(
        size, length, scale, attrs.get("coordinate_transformation_mode", "half_pixel")
    )
    matrix = np.zeros((size, length))
    rows = np.arange(size)
    if mode == "nearest":
        chosen = _NEAREST[attrs.get("nearest_mode", "round_prefer_floor")](at)
        matrix[rows, np.clip(chosen, 0, length - 1).astype(np.int64)] = 1
        return matrix
    for offset in range(-1, 3):
        source = np.floor(at) + offset
        weight = _kernel(mode, at - source, attrs.get("cubic_coeff_a", -0.75))
        np.add.at(matrix, (rows, np.clip(source, 0, length - 1).astype(np.int64)), weight)
    return matrix


def _resize(inputs: Inputs, attrs: Attrs) -> Outputs:
    """Inputs x, roi (ignored), scales, sizes; every axis is a matrix product of its own."""
    out = inputs[0]
    scales, sizes = optional(inputs, 2), optional(inputs, 3)
    for axis, length in enumerate(out.shape):
        scale = float(scales[axis]) if sizes is None else float(sizes[axis]) / length
        size = int(np.floor(length * scale)) if sizes is None else int(sizes[axis])
        if size != length:
            matrix = axis_matrix(size, length, scale, attrs)
            out = np.moveaxis(np.moveaxis(out, axis, -1) @ matrix.T, -1, axis)
    return (out,)


def _bilinear(image: Array, y: Array, x: Array, outside: str) -> Array:
    """Samples (C, ...) of an image (C, H, W); outside it "zeros" or the "border" counts."""
    height, width = image.shape[1:]
    if outside == "border":
        y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    total: Any = 0.0
    for row in (top, top + 1):
        for column in (left, left + 1):
            weight = np.maximum(1 - np.abs(y - row), 0) * np.maximum(1 - np.abs(x - column), 0)
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            picked = image[:, np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]
            total = total + picked * (weight * inside)
    return np.asarray(total)


def _grid_sample(inputs: Inputs, attrs: Attrs) -> Outputs:
    """x (N, C, H, W), grid (N, h, w, 2) of x, y in -1..1."""
    image, grid = inputs
    lengths = np.asarray([image.shape[3], image.shape[2]])
    if attrs.get("align_corners", 0):
        at = (grid + 1) / 2 * (lengths - 1)
    else:
        at = ((grid + 1) * lengths - 1) / 2
    outside = attrs.get("padding_mode", "zeros")
    picture = [
        _bilinear(one, where[..., 1], where[..., 0], outside)
        for one, where in zip(image, at, strict=True)
    ]
    return (np.stack(picture),)


def _affine_grid(inputs: Inputs, attrs: Attrs) -> Outputs:
    """theta (N, 2, 3), size (N, C, H, W) -> grid (N, H, W, 2)."""
    theta, (_, _, height, width) = inputs[0], [int(dim) for dim in inputs[1]]
    axes = []
    for length in (width, height):
        step = np.arange(length, dtype=np.float64)
        if attrs.get("align_corners", 0):
            axes.append(step / (length - 1) * 2 - 1)
        else:
            axes.append((step * 2 + 1) / length - 1)
    xs, ys = np.meshgrid(*axes)
    points = np.stack([xs, ys, np.ones_like(xs)], axis=-1)
    return (np.stack([points @ one.T for one in theta]),)


def _roi_align(inputs: Inputs, attrs: Attrs) -> Outputs:
    """Average of bilinear samples in each of output_height x output_width bins of every box."""
    image, boxes, batch = inputs
    rows, columns = attrs.get("output_height", 1), attrs.get("output_width", 1)
    ratio, offset = attrs["sampling_ratio"], 0.5
    if attrs.get("coordinate_transformation_mode", "half_pixel") == "output_half_pixel":
        offset = 0.0
    out = []
    for box, index in zip(boxes * attrs.get("spatial_scale", 1.0) - offset, batch, strict=True):
        left, top, right, bottom = box
        y = top + (np.arange(rows * ratio) + 0.5) * (bottom - top) / (rows * ratio)
        x = left + (np.arange(columns * ratio) + 0.5) * (right - left) / (columns * ratio)
        grid_y, grid_x = np.meshgrid(y, x, indexing="ij")
        samples = _bilinear(image[index], grid_y, grid_x, "border")
        out.append(samples.reshape(-1, rows, ratio, columns, ratio).mean(axis=(2, 4)))
    return (np.stack(out),)


def _top_k(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, k, axis = inputs[0], int(inputs[1][0]), attrs.get("axis", -1)
    order = np.argsort(-x if attrs.get("largest", 1) else x, axis=axis, kind="stable")
    best = np.take(order, np.arange(k), axis=axis)
    return np.take_along_axis(x, best, axis), best.astype(np.int64)


def _overlap(box: Array, others: Array) -> Array:
    """Intersection over union of one box (4,) with others (n, 4), corners in any order."""
    low, high = np.minimum(box[:2], box[2:]), np.maximum(box[:2], box[2:])
    lows, highs = np.minimum(others[:, :2], others[:, 2:]), np.maximum(others[:, :2], others[:, 2:])
    both = np.prod(np.maximum(np.minimum(high, highs) - np.maximum(low, lows), 0), axis=1)
    areas = np.prod(highs - lows, axis=1)
    return np.asarray(both / (np.prod(high - low) + areas - both))


def _suppress(inputs: Inputs, attrs: Attrs) -> Outputs:
    """NonMaxSuppression of corner boxes: rows (batch, class, box) in order of choice."""
    boxes, scores = inputs[:2]
    most = int(np.asarray(inputs[2]).reshape(()))
    limit, floor = (float(np.asarray(part).reshape(())) for part in inputs[3:5])
    rows: list[tuple[int, int, int]] = []
    for batch, label in np.ndindex(*scores.shape[:2]):
        score = scores[batch, label]
        left = [int(i) for i in np.argsort(-score, kind="stable") if score[i] > floor]
        kept = 0
        while left and kept < most:
            best, left = left[0], left[1:]
            rows.append((batch, label, best))
            kept += 1
            overlaps = _overlap(boxes[batch, best], boxes[batch, left])
            left = [i for i, shared in zip(left, overlaps, strict=True) if shared <= limit]
    return (np.asarray(rows, np.int64).reshape(-1, 3),)


SAMPLING: dict[str, Reference] = {
    "Resize": _resize,
    "GridSample": _grid_sample,
    "AffineGrid": _affine_grid,
    "RoiAlign": _roi_align,
    "TopK": _top_k,
    "NonMaxSuppression": _suppress,
}
