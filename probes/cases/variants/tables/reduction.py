"""Reductions, softmaxes and what runs along an axis."""

from __future__ import annotations

from probes.cases.variants.vocabulary import FLOATS, SHAPES, WHOLE, Choice, Draft, From, Spec, t, v

AXES = ("last", "negative-first", "middle", "two", "all", "left-out", "empty")
NUMBERS = (*FLOATS, "int32", "int64", "int8", "uint8")


def _axes(c: Choice) -> list[int] | None:
    rank = c["rank"]
    return {
        "last": [rank - 1],
        "negative-first": [-rank],
        "middle": [rank // 2],
        "two": [0, -1] if rank > 1 else [0],
        "all": list(range(rank)),
        "left-out": None,
        "empty": [],
    }[c["axes"]]


# What a sum of wide whole numbers does, where it does not overflow.
SUMS = ("ReduceSum", "ReduceMean", "ReduceL1")
# How a whole number is rounded there, ONNX does not say.
REAL_ONLY = ("ReduceMean", "ReduceLogSum", "ReduceLogSumExp", "ReduceL2")
FURTHEST = ("ReduceMax", "ReduceMin")
GROWING = ("ReduceProd", "ReduceLogSumExp", "ReduceSumSquare", "ReduceL2")


def _holds(c: Choice) -> bool:
    """Whether the type holds the result over wide values."""
    if c.op in FURTHEST:
        return True
    if c.dtype in FLOATS:
        return c.op not in GROWING and c.dtype != "float16"
    return c.dtype == "int64" and c.op in SUMS


def _reduce(c: Choice) -> Draft | None:
    if c.op in REAL_ONLY and c.dtype not in FLOATS:
        return None
    axes = _axes(c)
    by_input = "axes" not in c.schema.attributes
    negative = axes is not None and any(axis < 0 for axis in axes)
    if (axes == [] and not by_input) or (negative and c.since < 11):
        return None
    kinds = {"ReduceLogSum": "positive"}
    kind = kinds.get(c.op, c.kind)
    if kind == "wide" and not _holds(c):
        return None
    placed = None if axes is None else v(axes) if by_input else axes
    params = {"axes": placed, "keepdims": c["keepdims"], "noop_with_empty_axes": c["noop"]}
    return Draft([t(*c.shape, kind=kind)], params)


def _arg(c: Choice) -> Draft | None:
    axis = {"first": None, "last": -1, "middle": c["rank"] // 2}[c["axis"]]
    if axis == -1 and c.since < 11:
        axis = c["rank"] - 1
    params = {"axis": axis, "keepdims": c["keepdims"], "select_last_index": c["last_index"]}
    return Draft([t(*c.shape, kind=c.kind)], params)


def _softmax(c: Choice) -> Draft | None:
    rank = c["rank"]
    axis = {"left-out": None, "last": -1, "first": 0, "middle": rank // 2}[c["axis"]]
    if axis is None and c.since < 13 and rank < 2:
        return None  # the default was 1
    if axis == -1 and c.since < 11:
        axis = rank - 1
    return Draft([t(*c.shape, kind=c.kind)], {"axis": axis})


def _scan(c: Choice) -> Draft:
    rank = c["rank"]
    axis = {"first": 0, "last": rank - 1, "negative": -1}[c["axis"]]
    kind = "small" if c.op == "CumProd" else c.kind
    axis_slot = v(axis, c["index"])
    return Draft(
        [t(*c.shape, kind=kind), axis_slot],
        {"exclusive": c["exclusive"], "reverse": c["reverse"]},
    )


def _top_k(c: Choice) -> Draft | None:
    axis = {"left-out": None, "first": 0, "negative": -2}[c["axis"]]
    if axis == -2 and c.since < 11:
        axis = 1
    shape = SHAPES[c["rank"]]
    length = shape[-1 if axis is None else axis]
    k = {"one": 1, "some": min(2, length), "all": length}[c["k"]]
    kind = "distinct" if c.kind == "plain" else c.kind
    params = {"axis": axis, "largest": c["largest"], "sorted": c["sorted"], "K": v([k])}
    return Draft([t(*shape, kind=kind)], params, 2)


def _unique(c: Choice) -> Draft:
    outputs = {"one": 1, "four": 4}[c["outputs"]]
    return Draft(
        [t(4, 3, kind="signed_unit" if c.dtype == "int64" else "ties")],
        {"axis": c["axis"], "sorted": c["sorted"]},
        outputs,
    )


def _mean_variance(c: Choice) -> Draft:
    return Draft([t(*c.shape)], {"axes": c["axes"]})


def _lp_norm(c: Choice) -> Draft:
    return Draft([t(*c.shape)], {"axis": c["axis"], "p": c["p"]})


def _hardmax(c: Choice) -> Draft | None:
    return _softmax(c)


_REDUCE = {
    "rank": (3, 4, 2, 1, 5),
    "axes": AXES,
    "keepdims": (None, 0),
    "noop": (None, From(13, 1)),
    "values": ("plain", "wide"),
}
SPECS = (
    Spec(
        "ReduceSum",
        _reduce,
        _REDUCE,
        without=({"axes": AXES[:-1], "noop": (1,)},),
        dtypes=NUMBERS,
        budget=22,
        older=5,
    ),
    Spec(
        "ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare "
        "ReduceLogSum ReduceLogSumExp",
        _reduce,
        {**_REDUCE, "noop": (None, From(18, 1))},
        without=({"axes": AXES[:-1], "noop": (1,)},),
        dtypes=(*NUMBERS, "bool"),
        budget=16,
        older=5,
    ),
    Spec(
        "Softmax LogSoftmax",
        _softmax,
        {
            "rank": (3, 4, 2, 1, 5),
            "axis": ("left-out", "last", "first", "middle"),
            "values": ("plain", "ties", "wide"),
        },
        dtypes=FLOATS,
        budget=20,
        older=12,
    ),
    Spec(
        "Hardmax",
        _hardmax,
        {
            "rank": (3, 4, 2),
            "axis": ("left-out", "last", "first", "middle"),
            "values": ("plain", "ties"),
        },
        dtypes=FLOATS,
        budget=12,
        older=4,
    ),
    Spec(
        "ArgMax ArgMin",
        _arg,
        {
            "rank": (3, 2, 4, 1),
            "axis": ("first", "last", "middle"),
            "keepdims": (None, 0),
            "last_index": (None, From(12, 1)),
            "values": ("ties", "plain", "wide"),
        },
        dtypes=NUMBERS,
        budget=16,
        older=3,
    ),
    Spec(
        "TopK",
        _top_k,
        {
            "rank": (3, 2, 4),
            "axis": ("left-out", "first", "negative"),
            "k": ("some", "one", "all"),
            "largest": (None, From(11, 0)),
            "sorted": (None,),
            "values": ("plain", "ties", "wide"),
        },
        dtypes=NUMBERS,
        budget=20,
        older=4,
    ),
    Spec(
        "CumSum CumProd",
        _scan,
        {
            "rank": (2, 3, 1, 4),
            "axis": ("first", "last", "negative"),
            "exclusive": (None, 1),
            "reverse": (None, 1),
            "index": ("int64", "int32"),
            "values": ("plain", "wide"),
        },
        without=({"values": ("wide",), "dtype": ("float16",)},),
        dtypes=NUMBERS,
        budget=16,
        older=4,
    ),
    Spec(
        "Unique",
        _unique,
        {"outputs": ("four", "one"), "axis": (None, 0, 1, -1), "sorted": (None, 0)},
        dtypes=("float", "double", *WHOLE),
        budget=12,
    ),
    Spec(
        "MeanVarianceNormalization",
        _mean_variance,
        {"rank": (4,), "axes": (None, (0, 1, 2, 3), (1, 3), (2,))},
        # onnx types its function body for float alone.
        dtypes=("float",),
        budget=10,
    ),
    Spec(
        "LpNormalization",
        _lp_norm,
        {"rank": (3, 2, 4), "axis": (None, 0, 1), "p": (None, 1)},
        dtypes=FLOATS,
        budget=12,
        older=3,
    ),
)
