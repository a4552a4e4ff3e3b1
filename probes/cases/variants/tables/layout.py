"""Shapes moved, cut, joined and padded."""

from __future__ import annotations

from typing import Any

import numpy as np

from probes.cases.variants.vocabulary import (
    SHAPES,
    Choice,
    Draft,
    From,
    Slot,
    Spec,
    attributes,
    k,
    t,
    v,
)

ANY = ("float", "float16", "bfloat16", "double", "int64", "int32", "int8", "uint8", "bool",
       "float8e4m3fn", "int4")  # fmt: skip
COMMON = ANY[:9]


def _reshape(c: Choice) -> Draft | None:
    shape = {"flat": [-1], "split": [2, -1, 3], "copied": [0, -1], "grown": [1, 2, 1, -1, 3],
             "empty": [0, 5]}[c["to"]]  # fmt: skip
    if c["to"] == "empty":
        if not c["allowzero"]:
            return None
        return Draft([t(0, 3), v(shape)], {"allowzero": 1})
    if c["allowzero"] and 0 in shape:
        return None
    return Draft([t(2, 6, 3), v(shape)], {"allowzero": c["allowzero"]})


def _transpose(c: Choice) -> Draft:
    rank = c["rank"]
    perm = {
        "left-out": None,
        "last-two": [*range(rank - 2), rank - 1, rank - 2],
        "channels-last": [0, *range(2, rank), 1],
        "rotated": [rank - 1, *range(rank - 1)],
        "same": list(range(rank)),
    }[c["perm"]]
    return Draft([t(*c.shape)], {"perm": perm})


def _squeeze(c: Choice) -> Draft | None:
    shape = (1, 3, 1, 4, 1)
    axes = {"left-out": None, "one": [0], "two": [0, 2], "negative": [-1], "mixed": [-3, 0]}[
        c["axes"]
    ]
    if axes and min(axes) < 0 and c.since < 11:
        return None
    return Draft([t(*shape)], {"axes": axes})


def _unsqueeze(c: Choice) -> Draft | None:
    axes = {"one": [0], "two": [1, 3], "negative": [-1], "unordered": [3, 0]}[c["axes"]]
    if min(axes) < 0 and c.since < 11:
        return None
    return Draft([t(*c.shape)], {"axes": axes})


def _flatten(c: Choice) -> Draft | None:
    axis = c["axis"]
    if axis is not None and (axis > c["rank"] or (axis < 0 and c.since < 11)):
        return None
    return Draft([t(*c.shape)], {"axis": axis})


def _concat(c: Choice) -> Draft | None:
    rank, axis = (
        c["rank"],
        {"first": 0, "last": c["rank"] - 1, "negative": -1, "middle": 1}[c["axis"]],
    )
    if axis >= rank or (axis < 0 and c.since < 11):
        return None
    shapes = []
    for number in range(c["count"]):
        shape = list(SHAPES[rank])
        shape[axis] += number
        shapes.append(shape)
    if c["empty"]:
        shapes[-1][axis] = 0
    return Draft([t(*shape) for shape in shapes], {"axis": axis})


def _split(c: Choice) -> Draft | None:
    axis = c["axis"]
    if axis is not None and axis < 0 and c.since < 11:
        return None
    shape = (6, 4, 6)
    length = shape[axis or 0]
    parts = {"even": [length // 2] * 2, "uneven": [1, length - 1], "left-out": None}[c["parts"]]
    outputs = len(parts) if parts else 2
    if length == 6 and c["parts"] == "even":
        parts, outputs = [2, 2, 2], 3
    params: dict[str, Any] = {"axis": axis, "split": parts}
    if parts is None and c.since >= 18:
        params["num_outputs"] = outputs = 4 if length == 6 else 3  # the last one is shorter
    if parts is not None and "split" not in c.schema.attributes:
        params["split"] = v(parts)
    return Draft([t(*shape)], params, outputs)


_CUTS: dict[str, tuple[list[int], list[int], list[int] | None, list[int] | None]] = {
    "plain": ([1, 0], [3, 4], [0, 1], None),
    "negative": ([-3, -4], [-1, 4], [0, 1], None),
    "beyond": ([0, 1], [1000, 2**31 - 1], [0, 1], None),
    "largest": ([1], [2**63 - 1], [1], None),
    "no-axes": ([0, 1, 2], [2, 5, 6], None, None),
    "steps": ([0, 1], [4, 5], [1, 2], [2, 3]),
    "reversed": ([-1], [-1000], [1], [-1]),
    "reversed-step": ([5], [0], [2], [-2]),
    "negative-axes": ([1], [3], [-1], [1]),
    "empty": ([2], [2], [1], None),
}


def _slice(c: Choice) -> Draft | None:
    starts, ends, axes, steps = _CUTS[c["cut"]]
    if c.since < 10:
        if steps is not None or (axes and min(axes) < 0):
            return None
        return Draft([t(4, 5, 6)], {"starts": starts, "ends": ends, "axes": axes})
    index = c["index"]
    if index == "int32":
        ends = [min(end, 2**31 - 1) for end in ends]
    slots: list[Any] = [t(4, 5, 6), v(starts, index), v(ends, index)]
    slots.append(None if axes is None else v(axes, index))
    slots.append(None if steps is None else v(steps, index))
    while slots[-1] is None:
        slots.pop()
    return Draft(slots)


_PADDINGS: dict[str, list[int]] = {
    "both": [0, 1, 1, 0, 2, 1],
    "before": [0, 2, 0, 0, 0, 0],
    "after": [0, 0, 0, 1, 0, 2],
    "cropped": [0, -1, 0, 0, 1, -1],
    "none": [0] * 6,
}


def _pad(c: Choice) -> Draft | None:
    pads = _PADDINGS[c["pads"]]
    value: Any = None
    if c["value"] is not None:
        if c["mode"] not in (None, "constant"):
            return None
        value = float(c["value"]) if "value" in c.schema.attributes else v(c["value"], "")
    params: dict[str, Any] = {"mode": c["mode"]}
    if "pads" in c.schema.attributes:
        if c["axes"]:
            return None
        return Draft([t(2, 4, 5)], {**params, "pads": pads, "value": value})
    if c["axes"]:
        axes = {"two": [1, 2], "negative": [-1, 1]}[c["axes"]]
        params["axes"] = v(axes)
        pads = [1, 2, 0, 1]
    return Draft([t(2, 4, 5), v(pads)], {**params, "constant_value": value})


def _expand(c: Choice) -> Draft:
    shape, to = {
        "rows": ((3, 1), [3, 4]),
        "more": ((4,), [2, 3, 4]),
        "fewer": ((2, 3, 1), [1, 4]),
        "scalar": ((), [2, 3]),
        "same": ((2, 3), [2, 3]),
        "five": ((1, 3, 1, 2, 1), [2, 3, 2, 2, 3]),
    }[c["form"]]
    return Draft([t(*shape, kind=c.kind), v(to)])


def _tile(c: Choice) -> Draft:
    rank = c["rank"]
    repeats = {
        "last": [1] * (rank - 1) + [3],
        "first": [2] + [1] * (rank - 1),
        "all": [2] * rank,
        "none": [1] * rank,
    }[c["repeats"]]
    return Draft([t(*c.shape), v(repeats)])


def _shape(c: Choice) -> Draft:
    return Draft([t(*c.shape)], attributes(c))


def _constant(c: Choice) -> Draft | None:
    """A node without inputs, in one of the ways that the version knows."""
    ways: dict[str, dict[str, Any]] = {
        "tensor": {"value": t(2, 3)},
        "scalar": {"value": t()},
        "float": {"value_float": 2.5},
        "floats": {"value_floats": [0.5, -0.0, 3.0]},
        "int": {"value_int": 2**40},
        "ints": {"value_ints": [1, -(2**40), 3]},
    }
    value = ways[c["form"]]
    if next(iter(value)) not in c.schema.attributes:
        return None
    return Draft([], value)


def _fill(c: Choice) -> Draft:
    value = None if c["value"] is None else Slot((1,), "", c["value"], [3])
    shape = {"plain": [2, 3], "scalar": [], "empty": [0, 2], "five": [1, 2, 1, 2, 3]}[c["form"]]
    return Draft([v(shape)], {"value": value})


def _eye(c: Choice) -> Draft:
    return Draft([t(4, 6)], attributes(c))


def _range(c: Choice) -> Draft | None:
    start, limit, step = {"up": (1, 9, 2), "down": (6, -3, -2), "none": (4, 2, 1),
                          "wide": (2**33, 2**33 + 5, 2)}[c["form"]]  # fmt: skip
    if c["form"] == "wide" and c.dtype != "int64":
        return None
    return Draft([v(each, "") for each in (start, limit, step)])


def _trilu(c: Choice) -> Draft:
    slots: list[Any] = [t(*c.shape)]
    if c["k"] is not None:
        slots.append(v(c["k"]))
    return Draft(slots, {"upper": c["upper"]})


def _crop_pad(c: Choice) -> Draft:
    shape = {"crop": [3, 2], "pad": [9, 8], "mixed": [2, 9]}[c["form"]]
    axes = {"last": [1, 2], "negative": [-2, -1]}[c["axes"]]
    return Draft([t(2, 5, 6), v(shape)], {"axes": axes})


def _reverse(c: Choice) -> Draft:
    time, batch = (0, 1) if c["time"] == "first" else (1, 0)
    shape = (5, 3, 2) if time == 0 else (3, 5, 2)
    return Draft([t(*shape), v([5, 1, 3])], {"time_axis": time, "batch_axis": batch})


def _det(c: Choice) -> Draft:
    return Draft([t(*{2: (3, 3), 3: (2, 4, 4), 4: (2, 2, 2, 2)}[c["rank"]])])


def _window(c: Choice) -> Draft:
    return Draft([v(c["size"], c.dtype)], attributes(c))


def _mel(c: Choice) -> Draft:
    values = ((4, "int64"), (16, "int64"), (8000, "int64"), (0.0, "float"), (4000.0, "float"))
    return Draft([v(*each) for each in values], attributes(c))


def _dft(c: Choice) -> Draft | None:
    real = c["form"] == "real"
    shape = (2, 8, 3, 1 if real else 2)
    if c["onesided"] and (not real or c["inverse"]):
        return None
    if c.since >= 20:
        params = {"axis": v(c["axis"]), "inverse": c["inverse"], "onesided": c["onesided"]}
        return Draft([t(*shape), None, params.pop("axis")], params)
    return Draft([t(*shape)], attributes(c))


def _stft(c: Choice) -> Draft:
    length = 8
    window = v(list(np.hanning(length)), "") if c["window"] else None
    return Draft([t(2, 24, 1), k(c["step"]), window, k(length)], {"onesided": c["onesided"]})


SPECS = (
    Spec("Reshape", _reshape, {"to": ("flat", "split", "copied", "grown", "empty"),
         "allowzero": (None, From(14, 1))}, dtypes=ANY, budget=16, older=3),
    Spec("Transpose", _transpose, {"rank": (4, 3, 2, 5), "perm": ("left-out", "last-two",
         "channels-last", "rotated", "same")}, dtypes=ANY, budget=20, older=3),
    Spec("Slice", _slice, {"cut": tuple(_CUTS), "index": ("int64", "int32")}, dtypes=COMMON,
         budget=24, older=5),
    Spec("Pad", _pad, {"mode": (None, "constant", "reflect", "edge", From(19, "wrap")),
         "pads": tuple(_PADDINGS), "value": (None, 1), "axes": (None, From(18, "two"),
         From(18, "negative"))}, dtypes=COMMON, budget=24, older=5),
    Spec("Concat", _concat, {"rank": (3, 4, 1, 2, 5), "axis": ("first", "last", "negative",
         "middle"), "count": (2, 1, 3, 6), "empty": (None, 1)}, dtypes=COMMON, budget=18, older=4,
         without=({"count": (1,), "empty": (1,)},)),
    Spec("Split", _split, {"axis": (None, 1, -1), "parts": ("even", "uneven", "left-out")},
         dtypes=COMMON, budget=16, older=4),
    Spec("Squeeze", _squeeze, {"axes": ("one", "left-out", "two", "negative", "mixed")},
         dtypes=ANY, budget=14, older=3),
    Spec("Unsqueeze", _unsqueeze, {"axes": ("one", "two", "negative", "unordered"),
         "rank": (3, 1, 0, 2)}, without=({"rank": (0,), "axes": ("two", "unordered")},
         {"rank": (1,), "axes": ("unordered",)}), dtypes=ANY, budget=14, older=3),
    Spec("Flatten", _flatten, {"rank": (4, 2, 3, 5), "axis": (None, 0, 2, From(11, -1),
         From(11, -2))}, dtypes=ANY, budget=14, older=3),
    Spec("Expand", _expand, {"form": ("rows", "more", "fewer", "scalar", "same", "five"),
         "values": ("plain", "wide")}, dtypes=COMMON, budget=14),
    Spec("Tile", _tile, {"rank": (2, 3, 4, 1, 5), "repeats": ("last", "first", "all", "none")},
         dtypes=COMMON, budget=16, older=3),
    Spec("Shape Size", _shape, {"rank": (3, 0, 1, 4, 5), "start": (None, From(15, 1),
         From(15, -1)), "end": (None, From(15, -1), From(15, 2))}, dtypes=ANY, budget=10, older=2),
    Spec("Constant", _constant, {"form": ("tensor", "scalar", "float", "floats", "int", "ints")},
         sizes=("static",), dtypes=("float", "int64", "uint8", "bool"), budget=6, older=2),
    Spec("ConstantOfShape", _fill, {"form": ("plain", "scalar", "empty", "five"), "value": (None,
         "float", "int64", "int32", "bool", "uint8", "float16", "double")}, dtypes=("int64",),
         budget=12, older=3),
    Spec("EyeLike", _eye, {"k": (None, 1, -2)  }, dtypes=("float", "double",
         "int32", "int64", "float16", "uint8"), budget=8),
    Spec("Range", _range, {"form": ("up", "down", "none", "wide")}, dtypes=("int64", "float",
         "int32", "double"), budget=10),
    Spec("Trilu", _trilu, {"rank": (2, 3, 4), "k": (None, 1, -1, 9, -9), "upper": (None, 0)},
         dtypes=COMMON, budget=16),
    Spec("CenterCropPad", _crop_pad, {"form": ("crop", "pad", "mixed"), "axes": ("last",
         "negative")}, dtypes=COMMON, budget=10),
    Spec("ReverseSequence", _reverse, {"time": ("first", "second")}, dtypes=COMMON, budget=10),
    Spec("Det", _det, {"rank": (2, 3, 4)}, dtypes=("float", "double", "float16"), budget=8),
    Spec("BlackmanWindow HammingWindow HannWindow", _window, {"size": (8, 9), "periodic":
         (None, 0), "output_datatype": (None, 11)}, dtypes=("int64", "int32"), budget=10),
    Spec("MelWeightMatrix", _mel, {"output_datatype": (None, 11)}, dtypes=("int64",), budget=4),
    Spec("DFT", _dft, {"form": ("real", "complex"), "axis": (1, 2, -2), "inverse": (None, 1),
         "onesided": (None, 1)}, dtypes=("float", "double", "float16"), budget=14, older=5,
         second=False),
    Spec("STFT", _stft, {"window": (1, 0), "step": (4, 3), "onesided": (None, 0)},
         dtypes=("float", "double"), budget=8),
)  # fmt: skip
