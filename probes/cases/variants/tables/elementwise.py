"""One value at a time: types, ranks, broadcasting, and the values at which answers differ."""

from __future__ import annotations

from typing import Any

from probes.cases.variants.vocabulary import (
    DTYPES,
    FLOATS,
    SHAPES,
    WHOLE,
    Choice,
    Draft,
    From,
    Spec,
    attributes,
    k,
    t,
    v,
)

NUMBERS = (*FLOATS, *WHOLE)
RANKS = (3, 4, 1, 0, 2, 5)
BROADCASTS = ("same", "scalar", "vector", "ones", "first", "both")


def _unary(c: Choice) -> Draft:
    return Draft([t(*c.shape, kind=c.kind)], attributes(c))


def pair(c: Choice) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shapes of two operands that broadcast as the choice says."""
    shape = SHAPES[c["rank"]]
    ones = tuple(1 if at % 2 else length for at, length in enumerate(shape))
    other = tuple(length if at % 2 else 1 for at, length in enumerate(shape))
    table = {
        "same": (shape, shape),
        "scalar": (shape, ()),
        "vector": (shape, shape[-1:]),
        "ones": (shape, ones),
        "first": (shape[1:], shape),
        "both": (ones, other),
    }
    return table[c["broadcast"]]


def _binary(c: Choice) -> Draft:
    first, second = pair(c)
    other = {"Div": "nonzero", "Mod": "nonzero"}.get(c.op, c.kind)
    if c.kind == "edge" and c.op == "Div" and c.dtype in FLOATS:
        other = "ties"  # zeros of both signs
    return Draft([t(*first, kind=c.kind), t(*second, kind=other)], attributes(c))


def _pow(c: Choice) -> Draft | None:
    first, second = pair(c)
    exponent = {"same": "", "float": "float", "int64": "int64"}[c["exponent"]]
    base = "positive" if c["base"] == "positive" else "nonzero"
    kind = "unit" if exponent in ("", "int64") and c.dtype in WHOLE else "small"
    if base == "nonzero" and exponent != "int64" and c.dtype in FLOATS:
        return None
    return Draft([t(*first, kind=base), t(*second, kind=kind, dtype=exponent)])


def _mod(c: Choice) -> Draft | None:
    first, second = pair(c)
    if c.dtype in FLOATS and not c["fmod"]:
        return None
    return Draft([t(*first, kind=c.kind), t(*second, kind="nonzero")], {"fmod": c["fmod"]})


def _variadic(c: Choice) -> Draft:
    first, second = pair(c)
    shapes = {1: [first], 2: [first, second], 3: [first, second, first]}[c["count"]]
    return Draft([t(*shape, kind=c.kind) for shape in shapes])


def _shift(c: Choice) -> Draft:
    first, second = pair(c)
    return Draft(
        [t(*first, kind="wide"), t(*second, kind="signed_unit")], {"direction": c["direction"]}
    )


def _clip(c: Choice) -> Draft | None:
    choices: dict[str, dict[str, Any]] = {
        "both": {"min": -1, "max": 2},
        "min": {"min": 0},
        "max": {"max": 1},
        "none": {},
        "crossed": {"min": 2, "max": 1},
        "fraction": {"min": 0.25, "max": 1.5},
    }
    bounds = choices[c["bounds"]]
    if c.dtype.startswith("uint"):
        bounds = {name: abs(value) for name, value in bounds.items()}
    if c["bounds"] == "fraction" and c.dtype not in FLOATS:
        return None
    if "min" in c.schema.attributes:
        return Draft([t(*c.shape, kind=c.kind)], {n: float(b) for n, b in bounds.items()})
    return Draft([t(*c.shape, kind=c.kind)], {name: v(value, "") for name, value in bounds.items()})


def _prelu(c: Choice) -> Draft:
    shape = c.shape
    slope = {
        "same": shape,
        "channel": (shape[1], *[1] * (len(shape) - 2)) if len(shape) > 1 else shape,
        "scalar": (1,),
    }[c["slope"]]
    return Draft([t(*shape), t(*slope, kind="positive")])


def _where(c: Choice) -> Draft:
    first, second = pair(c)
    mask = {"full": SHAPES[c["rank"]], "vector": SHAPES[c["rank"]][-1:], "scalar": ()}[c["mask"]]
    return Draft([t(*mask, dtype="bool"), t(*first, kind=c.kind), t(*second, kind=c.kind)])


def _dropout(c: Choice) -> Draft:
    ratio = c["ratio"]
    params: dict[str, Any] = {}
    if ratio is not None:
        params["ratio"] = ratio if c.since < 12 else k(ratio, "float")
    if c["training"] is not None:
        params["training_mode"] = k(False, "bool")
    return Draft([t(*c.shape)], params, c["outputs"])


def _identity(c: Choice) -> Draft:
    return Draft([t(*c.shape, kind=c.kind)])


def _swiglu(c: Choice) -> Draft:
    shape = (*c.shape[:-1], 6)
    return Draft([t(*shape)], attributes(c))


_ALL = (*FLOATS, *WHOLE, "bool")
_FLOAT_VALUES = ("plain", "ties", "edge", "wide")
# Beyond single precision.
BEYOND = {"values": ("beyond",), "dtype": tuple(d for d in DTYPES if d != "double")}
SPECS = (
    Spec(
        "Add Sub Mul",
        _binary,
        {
            "rank": (3, 4, 1, 2, 5),
            "broadcast": BROADCASTS,
            "values": ("plain", "wide", "edge", "beyond"),
        },
        without=(
            BEYOND, {"dtype": ("int32", "uint8", "int8"), "values": ("edge",)},),
        dtypes=NUMBERS,
        budget=20,
        older=4,
    ),
    Spec(
        "Div",
        _binary,
        {"rank": (3, 4, 1, 2, 5), "broadcast": BROADCASTS, "values": ("plain", "wide", "edge")},
        dtypes=NUMBERS,
        budget=20,
        older=4,
    ),
    Spec(
        "Pow",
        _pow,
        {
            "rank": (3, 4, 2, 1),
            "broadcast": BROADCASTS,
            "exponent": ("same", From(12, "float"), From(12, "int64")),
            "base": ("positive", "nonzero"),
        },
        dtypes=("float", "float16", "bfloat16", "double", "int32", "int64"),
        budget=16,
    ),
    Spec(
        "Mod",
        _mod,
        {
            "rank": (3, 1, 2),
            "broadcast": BROADCASTS,
            "fmod": (None, 1),
            "values": ("plain", "wide"),
        },
        without=({"dtype": FLOATS, "values": ("wide",)},),
        dtypes=NUMBERS,
        budget=16,
    ),
    Spec(
        "Max Min Sum Mean",
        _variadic,
        {
            "rank": (3, 2, 4),
            "broadcast": BROADCASTS,
            "count": (2, 1, 3),
            "values": ("plain", "wide", "ties"),
        },
        dtypes=NUMBERS,
        budget=14,
    ),
    Spec(
        "Equal Greater Less GreaterOrEqual LessOrEqual",
        _binary,
        {"rank": (3, 2, 4), "broadcast": BROADCASTS, "values": ("ties", "wide", "edge")},
        dtypes=_ALL,
        budget=14,
    ),
    Spec(
        "And Or Xor",
        _binary,
        {"rank": (3, 4, 2, 1, 5), "broadcast": BROADCASTS},
        dtypes=("bool",),
        budget=8,
    ),
    Spec(
        "BitwiseAnd BitwiseOr BitwiseXor",
        _binary,
        {"rank": (3, 2, 4), "broadcast": BROADCASTS, "values": ("wide",)},
        dtypes=("int32", "int64", "uint8", "int8"),
        budget=10,
    ),
    Spec(
        "BitShift",
        _shift,
        {"rank": (3, 2), "broadcast": BROADCASTS, "direction": ("LEFT", "RIGHT")},
        dtypes=("uint8", "uint32", "uint64", "uint16", "int32", "int8"),
        budget=10,
    ),
    Spec(
        "Where",
        _where,
        {
            "rank": (3, 4, 2),
            "broadcast": BROADCASTS,
            "mask": ("full", "vector", "scalar"),
            "values": ("plain", "edge"),
        },
        dtypes=_ALL,
        typed=1,
        budget=16,
    ),
    Spec(
        "Clip",
        _clip,
        {
            "rank": (3, 4, 1, 2, 0, 5),
            "bounds": ("both", "min", "max", "none", From(11, "crossed"), "fraction"),
            "values": ("plain", "wide", "edge"),
        },
        without=({"dtype": FLOATS, "values": ("edge",)},),
        dtypes=NUMBERS,
        budget=24,
        older=5,
    ),
    Spec(
        "PRelu",
        _prelu,
        {"rank": (4, 3, 2, 5), "slope": ("channel", "same", "scalar")},
        dtypes=(*FLOATS, "int32"),
        budget=12,
    ),
    Spec("Not", _unary, {"rank": RANKS}, dtypes=("bool",), budget=8),
    Spec("BitwiseNot", _unary, {"rank": (3, 1), "values": ("wide",)}, dtypes=WHOLE, budget=6),
    Spec(
        "Sign",
        _unary,
        {"rank": RANKS, "values": ("plain", "wide", "ties")},
        dtypes=NUMBERS,
        budget=12,
    ),
    Spec(
        "Abs Neg",
        _unary,
        {"rank": RANKS, "values": ("plain", "wide", "ties", "edge")},
        dtypes=NUMBERS,
        budget=14,
    ),
    Spec("Relu", _unary, {"rank": RANKS, "values": ("plain", "wide")}, dtypes=NUMBERS, budget=14),
    Spec(
        "Identity",
        _identity,
        {"rank": RANKS, "values": ("plain", "wide", "edge", "beyond")},
        without=(BEYOND,),
        budget=14,
    ),
    Spec(
        "Ceil Floor Round",
        _unary,
        {"rank": RANKS, "values": ("ties", "plain", "wide", "edge")},
        dtypes=FLOATS,
    ),
    Spec(
        "Sqrt Log",
        _unary,
        {"rank": RANKS, "values": ("positive", "at_least_zero", "edge")},
        dtypes=FLOATS,
    ),
    Spec(
        "Reciprocal Exp Erf Sigmoid Tanh Softplus Atan",
        _unary,
        {"rank": RANKS, "values": ("nonzero", "plain", "wide", "edge")},
        without=({"values": ("wide", "edge"), "dtype": ("float16", "bfloat16")},),
        dtypes=FLOATS,
    ),
    Spec(
        "Softsign HardSwish Mish",
        _unary,
        {"rank": RANKS, "values": ("nonzero", "plain", "wide")},
        without=({"values": ("wide",), "dtype": ("float16", "bfloat16")},),
        dtypes=FLOATS,
    ),
    Spec("Sin Cos", _unary, {"rank": RANKS, "values": ("plain", "ties")}, dtypes=FLOATS, budget=10),
    Spec(
        "Tan Asin Acos Atanh",
        _unary,
        {"rank": RANKS, "values": ("open_unit",)},
        dtypes=FLOATS,
        budget=8,
    ),
    Spec("Sinh Cosh Asinh", _unary, {"rank": RANKS, "values": ("plain",)}, dtypes=FLOATS, budget=8),
    Spec("Acosh", _unary, {"rank": RANKS, "values": ("above_one",)}, dtypes=FLOATS, budget=8),
    Spec(
        "IsNaN",
        _unary,
        {"rank": RANKS, "values": ("edge", "plain")},
        dtypes=(*FLOATS, "float8e4m3fn", "float8e5m2"),
    ),
    Spec(
        "IsInf",
        _unary,
        {
            "rank": RANKS,
            "values": ("edge", "plain"),
            "detect_negative": (None, 0),
            "detect_positive": (None, 0),
        },
        dtypes=(*FLOATS, "float8e4m3fn", "float8e5m2"),
    ),
    Spec("Elu", _unary, {"rank": RANKS, "alpha": (None, 0.5)}, dtypes=FLOATS, budget=10),
    Spec("Celu", _unary, {"rank": RANKS, "alpha": (None, 2.0)}, dtypes=FLOATS, budget=10),
    Spec("Selu", _unary, {"rank": RANKS, "alpha": (None, 1.5), "gamma": (None, 2.0)},
         dtypes=FLOATS, budget=10),
    Spec("LeakyRelu", _unary, {"rank": RANKS, "alpha": (None, 0.25, -0.5)}, dtypes=FLOATS),
    Spec("ThresholdedRelu", _unary, {"rank": RANKS, "alpha": (None, 0.25), "values":
         ("plain", "ties")}, dtypes=FLOATS, budget=10),
    Spec("HardSigmoid", _unary, {"rank": RANKS, "alpha": (None, 0.5), "beta": (None, 0.25)},
         dtypes=FLOATS),
    Spec("Shrink", _unary, {"rank": RANKS, "lambd": (None, 1.5), "bias": (None, 0.5)},
         dtypes=FLOATS),
    Spec("Gelu", _unary, {"rank": RANKS, "approximate": (None, "tanh"),
         "values": ("plain", "wide")}, without=({"values": ("wide",), "dtype": ("float16",
         "bfloat16")},), dtypes=FLOATS),
    Spec("Swish", _unary, {"rank": RANKS, "alpha": (None, 0.5)}, dtypes=FLOATS, budget=10),
    Spec("SwiGLU", _swiglu, {"rank": (3, 2, 4)}, dtypes=FLOATS, budget=6),
    Spec(
        "Dropout",
        _dropout,
        {
            "rank": (3, 4, 1),
            "ratio": (None, 0.25, 0.0),
            "training": (None, From(12, 0)),
            "outputs": (1, 2),
        },
        dtypes=FLOATS,
        budget=12,
    ),
)  # fmt: skip
