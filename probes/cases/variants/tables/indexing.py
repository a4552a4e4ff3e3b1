"""Gathers and scatters: axes, negative indices, reductions, batch dimensions."""

from __future__ import annotations

from typing import Any

from probes.cases.variants.vocabulary import Choice, Draft, From, Spec, attributes, t, v

ANY = ("float", "float16", "bfloat16", "double", "int64", "int32", "int8", "uint8", "bool")


def _kind(c: Choice, length: int) -> str:
    signed = c["indices"] == "negative" and c.since >= 11
    return f"{'within' if signed else 'below'}:{length}"


def _gather(c: Choice) -> Draft:
    axis = c["axis"]
    shape = (4, 3, 5)
    inner = {"vector": (2,), "scalar": (), "matrix": (2, 3), "empty": (0,)}[c["shape"]]
    kind = _kind(c, shape[axis or 0])
    return Draft([t(*shape, kind=c.kind), t(*inner, kind=kind, dtype=c["index"])], {"axis": axis})


def _gather_elements(c: Choice) -> Draft:
    axis, shape = c["axis"], (4, 3, 5)
    inner = [2, 2, 3] if c["shape"] == "smaller" else list(shape)
    return Draft(
        [t(*shape, kind=c.kind), t(*inner, kind=_kind(c, shape[axis or 0]), dtype=c["index"])],
        {"axis": axis},
    )


def _gather_nd(c: Choice) -> Draft | None:
    """Every index must be valid on every axis that it meets, so the axes are of one length."""
    batch = c["batch"]
    depth = {"one": 1, "two": 2, "all": 3 - (batch or 0)}[c["depth"]]
    if depth > 3 - (batch or 0):
        return None
    head = (4,) * (batch or 0)
    indices = t(*head, 2, depth, kind=_kind(c, 4))
    return Draft([t(4, 4, 4, kind=c.kind), indices], {"batch_dims": batch})


def _scatter_elements(c: Choice) -> Draft:
    axis, shape = c["axis"], (3, 4)
    length = shape[axis or 0]
    repeated = c["reduction"] is not None
    if repeated:
        rows = [[0, 1, 0, 2], [2, 2, 1, 0]]
    else:
        rows = [[0, 1, 2, 0], [1, 2, 0, 1]]
    if c["indices"] == "negative" and c.since >= 11:
        rows = [[at - length if at else at for at in row] for row in rows]
    inner = (2, 4)
    if axis in (1, -1):
        rows, inner = [[0, 1], [3, 2], [1, 1 if repeated else 0]], (3, 2)
    return Draft(
        [t(*shape, kind=c.kind), v(rows, c["index"]), t(*inner, kind=c.kind)],
        {"axis": axis, "reduction": c["reduction"]},
    )


def _scatter_nd(c: Choice) -> Draft:
    repeated = c["reduction"] is not None
    rows: Any = {
        "slices": [[2], [0]] if not repeated else [[2], [2]],
        "elements": [[0, 1, 2], [3, 0, 1]] if not repeated else [[0, 1, 2], [0, 1, 2]],
        "pairs": [[[0, 1], [2, 0]]],
    }[c["depth"]]
    if c["indices"] == "negative":
        rows = {"slices": [[-1], [0]], "elements": [[-1, 1, 2], [0, 0, -3]],
                "pairs": [[[-1, 1], [0, -2]]]}[c["depth"]]  # fmt: skip
    shape = {"slices": (2, 3, 3), "elements": (2,), "pairs": (1, 2, 3)}[c["depth"]]
    return Draft(
        [t(4, 3, 3, kind=c.kind), v(rows), t(*shape, kind=c.kind)], {"reduction": c["reduction"]}
    )


def _scatter(c: Choice) -> Draft:
    return Draft([t(3, 4), v([[0, 2, 1, 0]]), t(1, 4)], {"axis": c["axis"]})


def _one_hot(c: Choice) -> Draft:
    index = c.dtype
    indices = {"vector": [1, 0, 3], "matrix": [[0, 2], [1, 4]], "outside": [1, 7, 0]}[c["form"]]
    if c["indices"] == "negative":
        indices = {"vector": [1, -1, 3], "matrix": [[0, -2], [1, 4]], "outside": [1, -9, 0]}[
            c["form"]
        ]
    return Draft(
        [
            v(indices, ""),
            v(5, index),
            v([0, 1] if c["values_"] == "bool" else [2, 5], c["values_"]),
        ],
        {"axis": c["axis"]},
    )


def _compress(c: Choice) -> Draft:
    axis = c["axis"]
    mask = [True, False, True] if axis != 1 else [False, True]
    return Draft([t(3, 4), v(mask, "bool")], {"axis": axis})


def _non_zero(c: Choice) -> Draft:
    return Draft([t(*c.shape, kind="unit")])


def _suppress(c: Choice) -> Draft:
    boxes = [[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1],
              [0, 100, 1, 101]]]  # fmt: skip
    scores = {
        "distinct": [[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3]]],
        "tied": [[[0.5, 0.5, 0.5, 0.5, 0.5, 0.5]]],
        "classes": [[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3], [0.1, 0.2, 0.9, 0.4, 0.8, 0.7]]],
    }[c["scores"]]
    slots: list[Any] = [v(boxes, "float"), v(scores, "float")]
    limits = {"three": ([3], [0.5], [0.0]), "floor": ([3], [0.5], [0.4]),
              "one": ([1], [0.0], [0.0]),
              "none": None, "zero": ([0], [0.5], [0.0])}[c["limits"]]  # fmt: skip
    if limits:
        most, overlap, floor = limits
        slots += [v(most), v(overlap, "float"), v(floor, "float")]
    return Draft(slots, {"center_point_box": c["center"]})


def _tensor_scatter(c: Choice) -> Draft:
    slots: list[Any] = [t(2, 1, 5, 3), t(2, 1, 2, 3)]
    if c["write"]:
        slots.append(v([1, 3]))
    return Draft(slots, {"axis": c["axis"], "mode": c["mode"]})


def _attribute(c: Choice) -> Draft:
    return Draft([t(*c.shape)], attributes(c))


_REDUCTIONS = (None, From(16, "add"), From(16, "mul"), From(18, "max"), From(18, "min"))
SPECS = (
    Spec("Gather", _gather, {"axis": (None, 1, -1, 2), "shape": ("vector", "scalar", "matrix",
         "empty"), "indices": ("plain", "negative"), "index": ("int64", "int32"), "values":
         ("plain", "wide")}, dtypes=ANY, budget=22, older=5,
         without=({"axis": (-1,), "shape": ("empty",)},)),
    Spec("GatherElements", _gather_elements, {"axis": (None, 1, -1), "shape": ("full", "smaller"),
         "indices": ("plain", "negative"), "index": ("int64", "int32"), "values": ("plain",
         "wide")}, dtypes=ANY, budget=18, older=4),
    Spec("GatherND", _gather_nd, {"batch": (None, From(12, 1), From(12, 2)), "depth": ("one",
         "two", "all"), "indices": ("plain", "negative"), "values": ("plain", "wide")},
         dtypes=ANY, budget=16, older=3),
    Spec("ScatterElements", _scatter_elements, {"axis": (None, 1, -1), "reduction": _REDUCTIONS,
         "indices": ("plain", "negative"), "index": ("int64", "int32"), "values": ("plain",
         "ties")}, dtypes=ANY, budget=20, older=5),
    Spec("ScatterND", _scatter_nd, {"depth": ("slices", "elements", "pairs"), "reduction":
         _REDUCTIONS, "indices": ("plain", "negative"), "values": ("plain", "ties")},
         without=({"indices": ("negative",), "reduction": ("add", "mul")},),
         dtypes=ANY, budget=18, older=4),
    Spec("Scatter", _scatter, {"axis": (None, 0)}, dtypes=ANY, budget=6),
    Spec("OneHot", _one_hot, {"form": ("vector", "matrix", "outside"), "indices": ("plain",
         "negative"), "axis": (None, 0, 1, -1), "values_": ("float", "int64", "int32", "bool",
         "double")}, dtypes=("int64", "int32", "float", "uint8"), budget=16, older=3,
         without=({"dtype": ("uint8",), "indices": ("negative",)},)),
    Spec("Compress", _compress, {"axis": (None, 0, 1, From(11, -1))}, dtypes=ANY, budget=10),
    Spec("NonZero", _non_zero, {"rank": (2, 1, 3, 4, 0)}, dtypes=("float", "int64", "bool",
         "int32", "uint8", "float16"), budget=10),
    Spec("NonMaxSuppression", _suppress, {"scores": ("distinct", "tied", "classes"), "limits":
         ("three", "floor", "one", "none", "zero"), "center": (None, 1)}, dtypes=("float",),
         budget=14),
    Spec("TensorScatter", _tensor_scatter, {"write": (1, 0), "axis": (None, 2), "mode": (None,
         "circular")}, dtypes=ANY, budget=8),
)  # fmt: skip
