"""Selection in older versions, and the best two of few by ArgMax.

GridSample has no cheap way but its own newer version: written out it is a gather of four corners.
"""

from probes.cases.rows import c, f
from probes.cases.way import Way

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
    Way("GridSample", "opset20-v1", ("attention-8x32-25x34-v1", "warp-64-56-v1"), "GridSample-20",
        attrs={"mode": "linear"}, opset=20, ir=9, agree="one"),
)
