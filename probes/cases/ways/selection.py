"""Selection in other versions, the best two of few by ArgMax, sampling by products."""

import numpy as np

from probes.cases.fills import Array
from probes.cases.rows import Feed, c, f
from probes.cases.way import Derived, Given, Way, floats, ints


def _scale(given: Given, axis: int) -> float:
    """Pixels in a unit of the grid, which is 2 wide."""
    return (given.shape[axis] - int(given.attrs["align_corners"])) / 2


def _places(axis: int) -> Derived:
    """Where the pixels of an axis lie on the grid."""
    return floats(lambda given: _centred(given.shape[axis]) / _scale(given, axis))


def _centred(length: int) -> Array:
    return (np.arange(length) - (length - 1) / 2).reshape(1, -1, 1)


# What a pixel weighs in a sample is a product of two tents; samples outside of all weigh nothing.
# Distances are taken on the grid and scaled then: half precision holds those near zero best.
POINTS = "points = Reshape (x1, listed)  turned = Transpose <perm = [0, 2, 1]> (points)"
TENTS = """
    x, y = Split <axis = 1> (at, one_each)
    dx = Sub (x, columns)  ax = Abs (dx)  px = Mul (ax, per_column)  bx = Sub (one, px)
    dy = Sub (y, rows)  ay = Abs (dy)  py = Mul (ay, per_row)  by = Sub (one, py)
    wx = Relu (bx)  wy = Relu (by)  across = Unsqueeze (wx, first)  down = Unsqueeze (wy, first)
    lines = MatMul (x0, across)  shares = Mul (lines, down)
    sums = ReduceSum <keepdims = 0> (shares, height)  y0 = Reshape (sums, sampled)"""
SAMPLING: dict[str, Derived | Feed] = {
    "listed": ints(lambda given: [given.shape[0], -1, 2]), "sampled": ints(lambda given: given.out),
    "columns": _places(3), "per_column": floats(lambda given: _scale(given, 3)),
    "rows": _places(2), "per_row": floats(lambda given: _scale(given, 2)),
    "one": f(1), "one_each": c([1, 1]), "first": c([1]), "height": c([2]),
}  # fmt: skip

# fmt: off
WAYS = (
    Way("TopK", "opset10-v1", ("300-of-8400-v1", "100-of-900-v1", "experts-2-of-8-v1"),
        "TopK-10, which knows only the largest, sorted",
        "y0, y1 = TopK <axis = -1> (x0, x1)", opset=10),
    Way("TopK", "argmax-v1", ("experts-2-of-8-v1",), "the best, struck out, and the best again",
        """first = ArgMax <axis = -1, keepdims = 1> (x0)
        best = ReduceMax <axes = [-1], keepdims = 1> (x0)
        struck = Equal (places, first)  left = Where (struck, lowest, x0)
        second = ArgMax <axis = -1, keepdims = 1> (left)
        next = ReduceMax <axes = [-1], keepdims = 1> (left)
        y0 = Concat <axis = -1> (best, next)  y1 = Concat <axis = -1> (first, second)""",
        {"places": c(range(8)), "lowest": f(-65504)}),
    Way("NonMaxSuppression", "opset10-v1", ("1000x4-v1",), "NonMaxSuppression-10", opset=10),
    Way("GridSample", "weights-v1", ("attention-8x32-25x34-v1",), "bilinear weights, written out",
        POINTS.replace("turned", "at") + TENTS, SAMPLING),
    Way("GridSample", "weights-v1", ("warp-64-56-v1",), "bilinear weights, written out",
        POINTS + "low = Max (turned, left)  at = Min (low, one)" + TENTS,
        {**SAMPLING, "left": f(-1)}),
    Way("GridSample", "opset20-v1", ("attention-8x32-25x34-v1", "warp-64-56-v1"), "GridSample-20",
        attrs={"mode": "linear"}, opset=20, ir=9, agree="one"),
)
