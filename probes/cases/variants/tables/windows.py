"""Convolutions and pools: kernels, strides, dilations, pads of every kind, groups, ceil_mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from probes.cases.variants.vocabulary import FLOATS, Choice, Draft, From, Slot, Spec, k, t, v

SPACE = {3: (7,), 4: (5, 6), 5: (4, 5, 3)}
AUTO = (None, "SAME_UPPER", "SAME_LOWER", "VALID")
PADS: dict[Any, tuple[int, int]] = {None: (0, 0), "pad1": (1, 1), "before": (1, 0), "after": (0, 1)}


def _pads(c: Choice) -> list[int] | None:
    """Before every axis, then after; left out where the choice says so."""
    before, after = PADS[c["pads"]]
    n = c["rank"] - 2
    return [before] * n + [after] * n if c["pads"] else None


def _many(value: int | str | None, n: int) -> list[int] | None:
    """The same along each axis; "mixed" differs in the last one."""
    if value == "mixed":
        return [2] * (n - 1) + [1 if n > 1 else 2]
    return [int(value)] * n if value else None


def _geometry(c: Choice, kernel: Sequence[int]) -> dict[str, Any]:
    n = c["rank"] - 2
    return {
        "kernel_shape": list(kernel),
        "strides": _many(c["strides"], n),
        "dilations": _many(c["dilations"], n),
        "pads": _pads(c),
        "auto_pad": c["auto_pad"],
    }


def _kernel(c: Choice) -> tuple[int, ...]:
    n = c["rank"] - 2
    return (3, *[2] * (n - 1)) if c["kernel"] == "uneven" else (int(c["kernel"]),) * n


def _groups(c: Choice) -> tuple[int, int, int]:
    """Groups, channels in, channels out."""
    return {
        "plain": (1, 3, 4),
        "group2": (2, 4, 6),
        "depthwise": (4, 4, 4),
        "multiplier": (3, 3, 6),
    }[c["group"]]


def _conv(c: Choice) -> Draft:
    groups, inputs, outputs = _groups(c)
    kernel = _kernel(c)
    slots = [t(2, inputs, *SPACE[c["rank"]]), t(outputs, inputs // groups, *kernel)]
    if c["bias"]:
        slots.append(t(outputs))
    params = {**_geometry(c, kernel), "group": groups if groups > 1 else None}
    if c["stated"] == "left-out":
        params["kernel_shape"] = None
    return Draft(slots, params)


def _conv_transpose(c: Choice) -> Draft | None:
    groups, inputs, outputs = _groups(c)
    kernel, n = _kernel(c), c["rank"] - 2
    slots = [t(1, inputs, *SPACE[c["rank"]]), t(inputs, outputs // groups, *kernel)]
    if c["bias"]:
        slots.append(t(outputs))
    params = {**_geometry(c, kernel), "group": groups if groups > 1 else None}
    if c["stated"] == "left-out":
        params["kernel_shape"] = None
    if c["extra"] == "output_padding":
        if c["strides"] is None:
            return None
        params["output_padding"] = [1] + [0] * (n - 1)
    if c["extra"] == "output_shape":
        step = _many(c["strides"], n) or [1] * n
        params["output_shape"] = [
            length * stride for length, stride in zip(SPACE[c["rank"]], step, strict=True)
        ]
    return Draft(slots, params)


def _deform_conv(c: Choice) -> Draft:
    groups, kernel = c["group"], (2, 2)
    points = 2 * c["offset_group"] * 4
    slots: list[Any] = [
        t(1, 4, 5, 5),
        t(2, 4 // groups, *kernel),
        t(1, points, 4, 4, kind="small" if c.dtype == "float" else "signed_unit"),
        t(2) if c["bias"] else None,
    ]
    if c["mask"]:
        slots.append(t(1, points // 2, 4, 4, kind="unit"))
    params = {"kernel_shape": list(kernel), "group": groups, "offset_group": c["offset_group"]}
    return Draft(slots, params)


def _pool(c: Choice) -> Draft:
    params = _geometry(c, _kernel(c))
    for name in ("ceil_mode", "count_include_pad", "storage_order", "p"):
        if name in c.values:
            params[name] = c[name]
    outputs = 2 if c.values.get("indices") else 1
    kind = c.kind
    return Draft([t(2, 2, *SPACE[c["rank"]], kind=kind)], params, outputs)


def _global(c: Choice) -> Draft:
    params = {"p": c["p"]} if "p" in c.values else {}
    return Draft([t(*{3: (2, 3, 5), 4: (2, 3, 4, 3), 5: (1, 3, 2, 3, 2)}[c["rank"]])], params)


def _unpool(c: Choice) -> Draft:
    indices = [[[[0, 7], [8, 15]]], [[[1, 6], [13, 10]]]]
    slots: list[Any] = [t(2, 1, 2, 2), v(indices)]
    params = {"kernel_shape": [2, 2], "strides": [2, 2]}
    return Draft(slots, params)


def _quantized_conv(c: Choice) -> Draft:
    """Scales are powers of two, so that no tie hangs on float32."""
    groups, inputs, outputs = _groups(c)
    kernel = _kernel(c)
    x, w = (
        Slot((1, inputs, *SPACE[c["rank"]]), "wide"),
        t(outputs, inputs // groups, *kernel, kind="wide", dtype=c["weights"]),
    )
    zero = 128 if c.dtype == "uint8" else 0
    params = {**_geometry(c, kernel), "group": groups if groups > 1 else None}
    if c.op == "ConvInteger":
        points: list[Any] = [v(zero, c.dtype)] if c["zero"] else []
        return Draft([x, w, *points], params)
    scale = [2.0**-6] * outputs if c["zero"] == "per-channel" else 2.0**-6
    weight_zero = [0] * outputs if c["zero"] == "per-channel" else 0
    slots: list[Any] = [
        x, k(2.0**-5, "float"), k(zero, c.dtype),
        w, k(scale, "float"), k(weight_zero, c["weights"]),
        k(2.0**-2, "float"), k(zero, c.dtype),
    ]  # fmt: skip
    if c["bias"]:
        slots.append(t(outputs, dtype="int32", kind="plain"))
    return Draft(slots, params)


def _columns(c: Choice) -> Draft:
    size, block = {"square": ((4, 5), (2, 2)), "tall": ((3, 4), (2, 1))}[c["size"]]
    pad = 1 if c["form"] == "padded" else 0
    step = 2 if c["form"] == "strided" else 1
    count = 1
    for length, kernel in zip(size, block, strict=True):
        count *= (length + 2 * pad - kernel) // step + 1
    params = {
        "strides": [step] * 2 if step > 1 else None,
        "pads": [pad] * 4 if pad else None,
    }
    slots = [t(1, 2 * block[0] * block[1], count), v(list(size)), v(list(block))]
    return Draft(slots, params)


_SAME_AND_PADS = {"auto_pad": ("SAME_UPPER", "SAME_LOWER", "VALID"), "pads": tuple(PADS)[1:]}
_SAME_DILATED = {"auto_pad": ("SAME_UPPER", "SAME_LOWER"), "dilations": (2,)}
_KERNEL_1 = {"kernel": (1,), "dilations": (2,)}
_WINDOW = {
    "rank": (4, 3, 5),
    "kernel": (3, 1, "uneven", 2),
    "strides": (None, 2, "mixed"),
    "dilations": (None, 2),
    "pads": (None, "pad1", "before", "after"),
    "auto_pad": AUTO,
}
_CONV = {
    **_WINDOW,
    "group": ("plain", "group2", "depthwise", "multiplier"),
    "bias": (1, 0),
    "stated": (None, "left-out"),
}
_BARRED = (_SAME_AND_PADS, _SAME_DILATED, _KERNEL_1)
_POOL_BARRED = (
    *_BARRED,
    {"kernel": (1,), "pads": tuple(PADS)[1:]},
    {"rank": (5,), "dilations": (2,), "kernel": (3, "uneven")},
)

# Where the last window begins in the padding: all of it.
_ROUNDED: dict[str, Any] = {
    "rank": (4, 3),
    "kernel": (2,),
    "strides": (2,),
    "dilations": (None,),
    "pads": ("pad1", "before", "after", None),
    "auto_pad": (None,),
    "ceil_mode": (From(10, 1), None),
}

SPECS = (
    Spec("Conv", _conv, _CONV, without=_BARRED, dtypes=FLOATS, budget=40, older=12),
    Spec(
        "ConvTranspose",
        _conv_transpose,
        {**_CONV, "extra": (None, "output_padding", "output_shape")},
        without=(
            *_BARRED,
            {"extra": ("output_shape",), "pads": tuple(PADS)[1:]},
            {"extra": ("output_padding",), "auto_pad": AUTO[1:]},
        ),
        dtypes=FLOATS,
        budget=36,
        older=7,
    ),
    Spec(
        "DeformConv",
        _deform_conv,
        {"group": (1, 2), "offset_group": (1, 2), "bias": (0, 1), "mask": (0, 1)},
        dtypes=FLOATS,
        budget=10,
        older=3,
    ),
    Spec(
        "MaxPool AveragePool LpPool",
        _pool,
        _ROUNDED,
        dtypes=("float",),
        sizes=("static",),
        budget=16,
        older=16,
        since=10,
        full=True,
    ),
    Spec(
        "MaxPool",
        _pool,
        {
            **_WINDOW,
            "dilations": (None, From(10, 2)),
            "ceil_mode": (None, From(10, 1)),
            "values": ("plain", "ties"),
        },
        without=_POOL_BARRED,
        dtypes=(*FLOATS, "int8", "uint8"),
        budget=30,
        older=8,
    ),
    Spec(
        "MaxPool",
        _pool,
        {
            **_WINDOW,
            "dilations": (None, From(10, 2)),
            "ceil_mode": (None, From(10, 1)),
            "indices": (1,),
            "storage_order": (None, 1),
            "values": ("plain", "ties"),
        },
        without=_POOL_BARRED,
        dtypes=(*FLOATS, "int8", "uint8"),
        budget=14,
        older=4,
        since=8,
    ),
    Spec(
        "AveragePool",
        _pool,
        {
            **_WINDOW,
            "dilations": (None, From(19, 2)),
            "ceil_mode": (None, From(10, 1)),
            "count_include_pad": (None, 1),
        },
        without=_POOL_BARRED,
        dtypes=FLOATS,
        budget=32,
        older=8,
    ),
    Spec(
        "LpPool",
        _pool,
        {
            **_WINDOW,
            "dilations": (None, From(18, 2)),
            "ceil_mode": (None, From(18, 1)),
            "p": (None, 1, 3),
        },
        without=_POOL_BARRED,
        dtypes=FLOATS,
        budget=20,
        older=5,
    ),
    Spec(
        "GlobalAveragePool GlobalMaxPool",
        _global,
        {"rank": (4, 3, 5)},
        dtypes=FLOATS,
        budget=12,
        older=3,
    ),
    Spec(
        "GlobalLpPool",
        _global,
        {"rank": (4, 3, 5), "p": (None, 1, 3)},
        dtypes=FLOATS,
        budget=12,
        older=3,
    ),
    Spec("MaxUnpool", _unpool, {}, dtypes=FLOATS, budget=8),
    Spec(
        "QLinearConv",
        _quantized_conv,
        {**_CONV, "weights": ("int8", "uint8"), "zero": ("per-tensor", "per-channel")},
        without=_BARRED,
        dtypes=("uint8", "int8"),
        budget=20,
        second=False,
    ),
    Spec(
        "ConvInteger",
        _quantized_conv,
        {**_CONV, "bias": (0,), "weights": ("int8", "uint8"), "zero": (1, 0)},
        without=_BARRED,
        dtypes=("uint8", "int8"),
        budget=14,
    ),
    Spec(
        "Col2Im",
        _columns,
        {"size": ("square", "tall"), "form": ("plain", "strided", "padded")},
        dtypes=(*FLOATS, "int64", "uint8", "bool"),
        budget=12,
    ),
)
