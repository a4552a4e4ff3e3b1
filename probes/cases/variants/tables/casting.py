"""Conversions: every pair of types that matters, with values beyond what the narrower one holds."""

from __future__ import annotations

from probes.cases.variants.vocabulary import Choice, Draft, Spec, k, t
from probes.model.values import NUMBER_OF

KINDS = (
    "float", "float16", "bfloat16", "double", "int64", "int32", "int8", "uint8", "bool",
    "float8e4m3fn", "float8e5m2", "int4", "uint4",
)  # fmt: skip
SMALL = ("float8e4m3fn", "float8e5m2", "int4", "uint4")
REAL = ("float", "float16", "bfloat16", "double")


def _is_defined(c: Choice) -> bool:
    """What ONNX gives no answer to: reals beyond the range of a whole type, NaN as a number."""
    to = c["to"]
    if c.dtype == to:
        return False
    if to in ("int4", "uint4", "uint8") and (c.dtype in REAL or c.kind != "plain"):
        return c.dtype not in REAL and to == "uint8"
    if to not in (*REAL, "bool") and c.dtype in (*REAL, *SMALL):
        return c.kind in ("plain", "ties")
    return True


def _named(c: Choice) -> bool:
    """Whether this version can give the wanted type."""
    return f"tensor({c['to']})" in c.schema.outputs[0].types


def _cast(c: Choice) -> Draft | None:
    if not _is_defined(c) or not _named(c):
        return None
    if c.kind == "beyond" and (c.dtype, c["to"]) not in (("double", "float"), ("double", "bool")):
        return None
    return Draft([t(*c.shape, kind=c.kind)], {"to": NUMBER_OF[c["to"]], "saturate": c["saturate"]})


def _cast_like(c: Choice) -> Draft | None:
    if not _is_defined(c) or not _named(c):
        return None
    return Draft([t(*c.shape, kind=c.kind), t(1, kind="unit", dtype=c["to"])])


def _bit_cast(c: Choice) -> Draft | None:
    sizes = {"float": 4, "int32": 4, "uint32": 4, "float16": 2, "bfloat16": 2, "int16": 2,
             "double": 8, "int64": 8, "int8": 1, "uint8": 1, "float8e4m3fn": 1}  # fmt: skip
    to = c["to"]
    if sizes[c.dtype] != sizes[to] or c.dtype == to:
        return None
    return Draft([t(*c.shape, kind=c.kind)], {"to": NUMBER_OF[to]})


def _quantize(c: Choice) -> Draft | None:
    """Scales are powers of two, so that no tie hangs on float32."""
    to, axis = c["to"], c["axis"]
    shape = (4, 6) if c["form"] == "blocked" else (2, 3, 4, 2)
    channels = shape[1 if axis is None else axis]
    block = None
    scales: tuple[int, ...] = ()
    if c["form"] == "per-axis":
        scales = (channels,)
    elif c["form"] == "blocked":
        if axis not in (0, 1):
            return None
        block = 2
        scales = (2, 6) if axis == 0 else (4, 3)
    elif axis is not None:
        return None
    size = 1
    for length in scales:
        size *= length
    steps = [2.0 ** -(at % 3 + 2) for at in range(size)]
    scale = k(_shaped(steps, scales), "" if c.op == "QuantizeLinear" else c["out"])
    zeros = [(at % 3) + (3 if to.startswith("u") else -1) for at in range(size)]
    zero = k(_shaped(zeros, scales), to) if c["zero"] else None
    if zero is None and to != "uint8" and c.op == "QuantizeLinear":
        return None
    real = to.startswith("float")
    if real and c["zero"]:
        zero = k(_shaped([0] * size, scales), to)
    if c.op == "QuantizeLinear":
        params = {"axis": axis, "block_size": block}
        return Draft([t(*shape, kind=c.kind), scale, *([zero] if zero else [])], params)
    return Draft(
        [t(*shape, kind="plain" if real else "wide", dtype=to), scale, *([zero] if zero else [])],
        {"axis": axis, "block_size": block},
    )


def _shaped(values: list[float] | list[int], shape: tuple[int, ...]) -> object:
    if not shape:
        return values[0]
    if len(shape) == 1:
        return values
    return [values[row * shape[1] : (row + 1) * shape[1]] for row in range(shape[0])]


def _dynamic_quantize(c: Choice) -> Draft:
    return Draft([t(*c.shape, kind=c.kind)], {}, 3)


_CODES = ("uint8", "int8", "int4", "uint4", "float8e4m3fn", "float8e5m2", "uint16", "int16")
_QUANTIZED = {
    "to": _CODES,
    "form": ("per-tensor", "per-axis", "blocked"),
    "axis": (None, 1, 0, -1),
    "zero": (1, 0),
}
SPECS = (
    Spec(
        "Cast",
        _cast,
        {
            "to": KINDS,
            "rank": (3, 0, 1, 5),
            "values": ("plain", "ties", "wide", "edge", "beyond"),
            "saturate": (None,),
        },
        without=({"dtype": ("double",), "values": ("wide",), "to": ("float16", "bfloat16")},),
        dtypes=KINDS,
        budget=44,
        older=6,
    ),
    Spec(
        "CastLike",
        _cast_like,
        {"to": KINDS, "rank": (3, 1), "values": ("plain", "ties")},
        dtypes=KINDS,
        budget=24,
        older=3,
    ),
    Spec(
        "BitCast",
        _bit_cast,
        {
            "to": ("int32", "float", "uint32", "int16", "float16", "int64", "double", "uint8"),
            "rank": (3, 1),
            "values": ("plain", "wide"),
        },
        dtypes=("float", "int32", "float16", "double", "int64", "int8", "uint8"),
        budget=10,
    ),
    Spec(
        "QuantizeLinear",
        _quantize,
        {**_QUANTIZED, "values": ("plain", "ties", "wide"), "out": ("float",)},
        dtypes=("float", "float16", "bfloat16"),
        second=False,
        budget=24,
        older=5,
    ),
    Spec(
        "DequantizeLinear",
        _quantize,
        {**_QUANTIZED, "out": ("float", "float16", "bfloat16")},
        dtypes=("float",),
        second=False,
        budget=24,
        older=5,
    ),
    Spec(
        "DynamicQuantizeLinear",
        _dynamic_quantize,
        {"rank": (2, 1, 3, 4), "values": ("plain", "positive")},
        budget=8,
    ),
)
