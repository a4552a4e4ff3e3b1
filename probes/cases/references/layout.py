"""Operators that move elements: shapes, slices, gathers and scatters."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from probes.cases.references.base import Array, Attrs, Inputs, Outputs, Reference, optional

_PAD_MODES = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}


def _reshape(inputs: Inputs, attrs: Attrs) -> Outputs:
    """0 keeps a dimension (unless allowzero), -1 takes what is left."""
    x, shape = inputs[0], [int(dim) for dim in inputs[1]]
    if not attrs.get("allowzero", 0):
        shape = [x.shape[i] if dim == 0 else dim for i, dim in enumerate(shape)]
    return (x.reshape(shape),)


def _flatten(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, axis = inputs[0], attrs.get("axis", 1)
    return (x.reshape(prod(x.shape[:axis]), -1),)


def _squeeze(inputs: Inputs, attrs: Attrs) -> Outputs:
    axes = optional(inputs, 1)
    return (np.squeeze(inputs[0], None if axes is None else tuple(int(a) for a in axes)),)


def _unsqueeze(inputs: Inputs, attrs: Attrs) -> Outputs:
    return (np.expand_dims(inputs[0], tuple(int(axis) for axis in inputs[1])),)


def _split(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, axis = inputs[0], attrs.get("axis", 0)
    sizes = optional(inputs, 1)
    if sizes is None:
        return tuple(np.array_split(x, attrs["num_outputs"], axis))
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis))


def _slice(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, starts, ends = inputs[:3]
    axes = optional(inputs, 3, np.arange(len(starts)))
    steps = optional(inputs, 4, np.ones(len(starts), np.int64))
    cut = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        stop = None if step < 0 and end < -x.shape[axis] else int(end)
        cut[axis] = slice(int(start), stop, int(step))
    return (x[tuple(cut)],)


def _pad(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, pads = inputs[0], [int(pad) for pad in inputs[1]]
    edges = list(zip(pads[: x.ndim], pads[x.ndim :], strict=True))
    mode: Any = _PAD_MODES[attrs.get("mode", "constant")]
    if mode == "constant":
        return (np.pad(x, edges, mode, constant_values=optional(inputs, 2, 0)),)
    return (np.pad(x, edges, mode),)


def _expand(inputs: Inputs, attrs: Attrs) -> Outputs:
    shape = np.broadcast_shapes(inputs[0].shape, tuple(int(dim) for dim in inputs[1]))
    return (np.broadcast_to(inputs[0], shape),)


def _gather_elements(inputs: Inputs, attrs: Attrs) -> Outputs:
    return (np.take_along_axis(inputs[0], inputs[1], attrs.get("axis", 0)),)


def _gather_nd(inputs: Inputs, attrs: Attrs) -> Outputs:
    """Each last-axis row of indices picks one slice (batch_dims 0)."""
    return (inputs[0][tuple(np.moveaxis(inputs[1], -1, 0))],)


def _scatter_nd(inputs: Inputs, attrs: Attrs) -> Outputs:
    out, where = inputs[0].copy(), tuple(np.moveaxis(inputs[1], -1, 0))
    if attrs.get("reduction", "none") == "add":
        np.add.at(out, where, inputs[2])
    else:
        out[where] = inputs[2]
    return (out,)


def _scatter_elements(inputs: Inputs, attrs: Attrs) -> Outputs:
    out, indices, axis = inputs[0].copy(), inputs[1], attrs.get("axis", 0)
    where = list(np.indices(indices.shape))
    where[axis] = indices
    if attrs.get("reduction", "none") == "add":
        np.add.at(out, tuple(where), inputs[2])
    else:
        out[tuple(where)] = inputs[2]
    return (out,)


def _depth_to_space(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, block = inputs[0], attrs["blocksize"]
    batch, depth, height, width = x.shape
    if attrs.get("mode", "DCR") == "DCR":
        split = x.reshape(batch, block, block, -1, height, width).transpose(0, 3, 4, 1, 5, 2)
    else:
        split = x.reshape(batch, -1, block, block, height, width).transpose(0, 1, 4, 2, 5, 3)
    return (split.reshape(batch, depth // block**2, height * block, width * block),)


def _space_to_depth(inputs: Inputs, attrs: Attrs) -> Outputs:
    x, block = inputs[0], attrs["blocksize"]
    batch, depth, height, width = x.shape
    split = x.reshape(batch, depth, height // block, block, width // block, block)
    moved = split.transpose(0, 3, 5, 1, 2, 4)
    return (moved.reshape(batch, depth * block**2, height // block, width // block),)


def _one_hot(inputs: Inputs, attrs: Attrs) -> Outputs:
    """Indices (any shape), depth, [off, on]; the new axis is the last unless said."""
    indices, depth, (off, on) = inputs[0], int(np.asarray(inputs[1]).reshape(())), inputs[2]
    hot = np.arange(depth) == np.expand_dims(indices % depth, -1)
    return (np.moveaxis(np.where(hot, on, off), -1, attrs.get("axis", -1)),)


def _trilu(inputs: Inputs, attrs: Attrs) -> Outputs:
    k = int(optional(inputs, 1, 0))
    return ((np.triu if attrs.get("upper", 1) else np.tril)(inputs[0], k),)


def _constant_of_shape(inputs: Inputs, attrs: Attrs) -> Outputs:
    value = attrs.get("value", np.zeros(1, np.float32))
    return (np.full([int(dim) for dim in inputs[0]], value[0], value.dtype),)


def _reverse_sequence(inputs: Inputs, attrs: Attrs) -> Outputs:
    """The first sequence_lens[b] steps of each batch element backwards, the rest kept."""
    out = inputs[0].copy()
    time, batch = attrs.get("time_axis", 0), attrs.get("batch_axis", 1)
    view, source = (np.moveaxis(part, (time, batch), (0, 1)) for part in (out, inputs[0]))
    for index, length in enumerate(inputs[1]):
        view[:length, index] = source[:length, index][::-1]
    return (out,)


def _shape(x: Array) -> Array:
    return np.asarray(x.shape, np.int64)


LAYOUT: dict[str, Reference] = {
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Transpose": lambda i, a: (i[0].transpose(a.get("perm", None)),),
    "Concat": lambda i, a: (np.concatenate(list(i), a["axis"]),),
    "Split": _split,
    "Slice": _slice,
    "Pad": _pad,
    "Expand": _expand,
    "Tile": lambda i, a: (np.tile(i[0], [int(n) for n in i[1]]),),
    "Gather": lambda i, a: (np.take(i[0], i[1], a.get("axis", 0)),),
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "ScatterND": _scatter_nd,
    "ScatterElements": _scatter_elements,
    "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth,
    "OneHot": _one_hot,
    "Trilu": _trilu,
    "NonZero": lambda i, a: (np.stack(np.nonzero(i[0])).astype(np.int64),),
    "Shape": lambda i, a: (_shape(i[0]),),
    "Size": lambda i, a: (np.asarray(i[0].size, np.int64),),
    "Range": lambda i, a: (np.arange(int(i[0]), int(i[1]), int(i[2]), dtype=np.int64),),
    "Constant": lambda i, a: (a["value"],),
    "ConstantOfShape": _constant_of_shape,
    "ReverseSequence": _reverse_sequence,
}
