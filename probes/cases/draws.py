"""What harvested nodes are fed: drawn numbers of a plausible scale, indices that are in range."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import floor, log2, prod, sqrt
from typing import Any, NamedTuple

import numpy as np

from probes.cases.fills import Array, fill, words
from probes.model.values import NUMBER_OF, DtypeError, numpy_dtype

FLOATS = frozenset({"float", "float16", "double", "bfloat16"})
CODES = {"int8": "int8", "uint8": "uint8"}
WHOLE = frozenset({"int16", "int32", "int64", "uint16", "uint32", "uint64"})
FEW = 8  # integers that index nothing: small, with ties

# Operator and slot -> fill of a float input; what is not here is "normal", constants "small".
FLOAT_FILLS: dict[tuple[str, int], str] = {
    **{(op, 1): "conv" for op in ("Conv", "ConvTranspose", "DeformConv", "FusedConv")},
    **{(op, 1): "matmul" for op in ("MatMul", "FusedMatMul", "Gemm")},
    **{(op, slot): "recurrent" for op in ("LSTM", "GRU", "RNN") for slot in (1, 2)},
    **{(op, 1): "positive" for op in ("BatchNormalization", "InstanceNormalization",
                                      "LayerNormalization", "GroupNormalization",
                                      "RMSNormalization", "SimplifiedLayerNormalization")},
    ("BatchNormalization", 4): "positive",
    **{(op, 0): "positive" for op in ("Sqrt", "Log", "Pow", "Acosh")},
    **{(op, 0): "signed_unit" for op in ("Acos", "Asin", "Atanh")},
    **{(op, 1): "nonzero" for op in ("Div", "Mod")},
    # No ties where a place is the answer.
    **{(op, 0): "distinct" for op in ("TopK", "ArgMax", "ArgMin", "Hardmax", "Unique")},
    ("NonMaxSuppression", 1): "distinct",
    ("Reciprocal", 0): "nonzero",
    ("GridSample", 1): "signed_unit",
    ("NonMaxSuppression", 0): "boxes",
    ("RoiAlign", 1): "boxes",
    **{(op, 1): "scale" for op in ("QuantizeLinear", "DequantizeLinear")},
    **{("QLinearConv", slot): "scale" for slot in (1, 4, 6)},
    **{("QLinearMatMul", slot): "scale" for slot in (1, 4, 6)},
}  # fmt: skip


class Feed(NamedTuple):
    """One input as it is drawn: `shapes` of all inputs, `outputs` where they are known."""

    op: str
    slot: int
    dtype: str
    shape: tuple[int, ...]
    constant: bool
    attrs: Mapping[str, Any]
    shapes: Sequence[tuple[int, ...] | None]
    outputs: Sequence[Sequence[int] | None]


def is_drawable(dtype: str) -> bool:
    """Whether values of this type (ONNX's name) can be made here."""
    return dtype in FLOATS | WHOLE | CODES.keys() | {"bool"}


def needs_value(op: str, slot: int, dtype: str) -> bool:
    """An input that decides shapes and that no rule of this file can give."""
    return (op, slot) in DECIDING and (op, slot) not in GIVEN


def draw(feed: Feed, seed: str) -> Array:
    """An array of the feed's type and shape; raises DtypeError where numpy has no such type."""
    array = GIVEN[feed.op, feed.slot](feed) if (feed.op, feed.slot) in GIVEN else None
    if array is None:
        array = _drawn(feed, seed)
    return np.ascontiguousarray(array).reshape(feed.shape).astype(_numpy(feed.dtype))


def _drawn(feed: Feed, seed: str) -> Array:
    if feed.dtype == "bool":
        return _line("bits", seed, feed.shape)
    if feed.dtype in CODES:
        return _line(CODES[feed.dtype], seed, feed.shape)
    if feed.dtype in WHOLE and FLOAT_FILLS.get((feed.op, feed.slot)) == "distinct":
        return np.argsort(words(seed, prod(feed.shape)), kind="stable").reshape(feed.shape)
    if feed.dtype in WHOLE:
        rule = BOUNDS.get((feed.op, feed.slot))
        bound = rule(feed) if rule else FEW
        return fill(f"below:{max(bound, 1)}", seed, feed.shape)
    name = FLOAT_FILLS.get((feed.op, feed.slot), "small" if feed.constant else "normal")
    if name == "distinct":
        return fill(name, seed, feed.shape)
    if name == "boxes":
        return fill(name, seed, feed.shape) if feed.shape[-1:] == (4,) else _unit(seed, feed.shape)
    if name in SCALED:
        return _line("normal", seed, feed.shape) * _power(SCALED[name](feed.shape))
    return _line(name, seed, feed.shape)


def _unit(seed: str, shape: tuple[int, ...]) -> Array:
    return _line("unit", seed, shape)


def _line(name: str, seed: str, shape: tuple[int, ...]) -> Array:
    """A stretch of one line of numbers in coarse steps: hundreds of tensors stay small together.

    The line's length is prime, so that rows and channels of a tensor are not alike.
    """
    line = fill(name, f"harvest/{name}", (LINE,))
    if line.dtype == np.float32 and name != "scale":
        line = np.round(line * np.float32(STEPS)) / np.float32(STEPS)
    start = int(words(seed, 1)[0] % np.uint64(LINE))
    return np.resize(np.roll(line, -start), prod(shape)).reshape(shape)


def _power(bound: float) -> np.float32:
    """The power of two below: a product with it only moves the exponent."""
    return np.float32(2.0 ** floor(log2(bound)))


LINE = 4093
STEPS = 64  # parts of one
# Weights, so that sums over that many products stay near the size of the inputs.
SCALED: dict[str, Callable[[tuple[int, ...]], float]] = {
    "small": lambda shape: 1 / 8,
    "conv": lambda shape: 1 / sqrt(max(prod(shape[1:]), 1)),
    "matmul": lambda shape: 1 / sqrt(max(shape[-2] if len(shape) > 1 else 64, 1)),
    "recurrent": lambda shape: 1 / sqrt(max(shape[-1] if shape else 1, 1)),
}


def _numpy(dtype: str) -> np.dtype[Any]:
    try:
        return numpy_dtype(NUMBER_OF[dtype])
    except KeyError as error:
        raise DtypeError(f"unknown type {dtype}") from error


def _along(feed: Feed) -> int:
    """Size of the first input along the node's axis."""
    data = feed.shapes[0] or (FEW,)
    return data[int(feed.attrs.get("axis", 0))] if data else 1


def _tuple_bound(feed: Feed) -> int:
    """What every number of an index tuple into the first input is below."""
    data, first = feed.shapes[0] or (FEW,), int(feed.attrs.get("batch_dims", 0))
    width = feed.shape[-1] if feed.shape else 1
    return min(data[first : first + width], default=1)


BOUNDS: dict[tuple[str, int], Callable[[Feed], int]] = {
    ("Gather", 1): _along,
    ("GatherElements", 1): _along,
    ("GatherND", 1): _tuple_bound,
    ("RoiAlign", 2): lambda feed: (feed.shapes[0] or (1,))[0],
}


def _scattered(feed: Feed) -> Array | None:
    """Each index along the axis once, so that no order of writing matters."""
    axis = int(feed.attrs.get("axis", 0)) % max(len(feed.shape), 1)
    count, bound = feed.shape[axis], _along(feed)
    if count > bound:
        return None
    line = np.argsort(words("scattered", bound), kind="stable")[:count]
    return np.broadcast_to(line.reshape([-1 if at == axis else 1 for at in range(len(feed.shape))]),
                           feed.shape)  # fmt: skip


def _scattered_tuples(feed: Feed) -> Array | None:
    """Each index tuple once."""
    width = feed.shape[-1]
    data = (feed.shapes[0] or ())[:width]
    count = prod(feed.shape[:-1])
    if count > prod(data):
        return None
    flat = np.argsort(words("tuples", prod(data)), kind="stable")[:count]
    return np.stack(np.unravel_index(flat, data), axis=-1)


def _output_shape(feed: Feed) -> Array | None:
    shape = feed.outputs[0] if feed.outputs else None
    return np.asarray(shape) if shape is not None and len(shape) == feed.shape[0] else None


def _last_axes(feed: Feed) -> Array:
    return -1 - np.arange(prod(feed.shape))


def _filled(number: int) -> Callable[[Feed], Array]:
    return lambda feed: np.full(feed.shape, number)


REDUCTIONS = tuple(f"Reduce{kind}" for kind in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2",
                                                "LogSum", "LogSumExp", "SumSquare"))  # fmt: skip
# Inputs that are no data: what they hold decides shapes or places. None: drawn after all.
GIVEN: dict[tuple[str, int], Callable[[Feed], Array | None]] = {
    **{(op, 1): _last_axes for op in REDUCTIONS},
    **{(op, 1): _output_shape for op in ("Reshape", "Expand")},
    ("ConstantOfShape", 0): _output_shape,
    ("CumSum", 1): _filled(0),
    ("TopK", 1): _filled(1),
    ("Slice", 1): _filled(0),
    ("Slice", 2): _filled(2**31 - 1),
    ("Slice", 3): lambda feed: np.arange(prod(feed.shape)),
    ("Slice", 4): _filled(1),
    ("Tile", 1): _filled(1),
    ("OneHot", 1): _filled(FEW),
    **{("Range", slot): _filled(number) for slot, number in enumerate((0, FEW, 1))},
    **{(op, 4): lambda feed: np.full(feed.shape, (feed.shapes[0] or (1,))[0])
       for op in ("LSTM", "GRU", "RNN")},
    ("Scatter", 1): _scattered,
    ("ScatterElements", 1): _scattered,
    ("ScatterND", 1): _scattered_tuples,
}  # fmt: skip
DECIDING = frozenset(
    {("Resize", 1), ("Resize", 2), ("Resize", 3), ("Upsample", 1), ("Pad", 1), ("Split", 1),
     ("Squeeze", 1), ("Unsqueeze", 1), ("CenterCropPad", 1), ("Loop", 0), ("DFT", 1),
     ("Trilu", 1), ("Compress", 1), ("ReverseSequence", 1), ("QuantizeLinear", 2)}
)  # fmt: skip
