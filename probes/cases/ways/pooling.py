"""Pools from each other, from means, from convolutions and from slices."""

import numpy as np

from probes.cases.rows import c, f
from probes.cases.way import Way, floats, full, ints

GLOBAL = ("1000-13-v1", "88-3x96-v1")
BARE = ("3x2-480-3x80-v1", "2x2s2-512-14-v1")  # windows without padding
WHOLE = ("7x7-2048-7-v1",)
CORNERS = """
    left = Slice (x0, first, end, across, two)  right = Slice (x0, second, end, across, two)
    a = Slice (left, first, end, down, two)  b = Slice (left, second, end, down, two)
    d = Slice (right, first, end, down, two)  e = Slice (right, second, end, down, two)
    """
STEPS = {"first": c([0]), "second": c([1]), "end": c([2**31 - 1]), "across": c([3]),
         "down": c([2]), "two": c([2])}  # fmt: skip
DEPTHWISE = """y0 = Conv <kernel_shape = %(kernel_shape)s, strides = %(strides)s,
    group = %(channels)s> (x0, weight)"""

EQUAL = floats(
    lambda given: np.broadcast_to(
        1 / np.prod(given.attrs["kernel_shape"]),
        (given.shape[1], 1, *given.attrs["kernel_shape"]),
    )
)

# fmt: off
WAYS = (
    Way("GlobalAveragePool", "reduce-mean-v1", GLOBAL, "mean([2, 3]) in PyTorch, opset 17",
        "y0 = ReduceMean <axes = [2, 3], keepdims = 1> (x0)"),
    Way("GlobalAveragePool", "reduce-mean-18-v1", GLOBAL, "mean([2, 3]) in PyTorch, opset 18",
        "y0 = ReduceMean <keepdims = 1> (x0, axes)", {"axes": c([2, 3])}, opset=18),
    Way("GlobalAveragePool", "average-pool-v1", GLOBAL, "adaptive_avg_pool2d(1), fixed size",
        "y0 = AveragePool <kernel_shape = %(plane)s> (x0)"),
    Way("MaxPool", "cascade-v1", ("5x5s1-128-20-v1",),
        "SPPF of YOLOv5 cut smaller: two windows of 3x3 make one of 5x5",
        """once = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x0)
        y0 = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (once)"""),
    Way("MaxPool", "explicit-pads-v1", ("same-2x2s1-48-24x160-v1",), "auto_pad written out",
        attrs={"auto_pad": None, "pads": [0, 0, 1, 1]}, agree="one"),
    Way("MaxPool", "pad-first-v1", ("3x3s2-64-112-v1",), "TensorFlow exports with explicit Pad",
        """wide = Pad (x0, pads, lowest)
        y0 = MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (wide)""",
        {"pads": c([0, 0, 1, 1, 0, 0, 1, 1]), "lowest": f(-65504)}),
    Way("MaxPool", "slices-v1", ("2x2s2-200-2x96-v1",), "the largest of four corners",
        CORNERS + "y0 = Max (a, b, d, e)", STEPS),
    Way("AveragePool", "depthwise-conv-v1", BARE, "a convolution with equal weights", DEPTHWISE,
        {"weight": EQUAL}),
    Way("AveragePool", "slices-v1", ("2x2s2-512-14-v1",), "the mean of four corners",
        CORNERS + "sum = Sum (a, b, d, e)  y0 = Mul (sum, quarter)",
        {**STEPS, "quarter": f(0.25)}),
    Way("AveragePool", "divided-v1", ("3x3s2-136-28-v1",),
        "padding counted, then each place divided by what it should have counted",
        """counted = AveragePool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1],
            count_include_pad = 1> (x0)
        ones = AveragePool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1],
            count_include_pad = 1> (plane)
        y0 = Div (counted, ones)""", {"plane": full(1, lambda given: [1, 1, 28, 28])}),
    Way("AveragePool", "global-v1", WHOLE, "a window as large as the picture",
        "y0 = GlobalAveragePool (x0)"),
    Way("AveragePool", "reduce-mean-v1", WHOLE, "a window as large as the picture",
        "y0 = ReduceMean <axes = [2, 3], keepdims = 1> (x0)"),
    Way("AveragePool", "flat-v1", WHOLE, "the picture laid flat and averaged along one axis",
        """flat = Reshape (x0, rows)  mean = ReduceMean <axes = [2], keepdims = 1> (flat)
        y0 = Reshape (mean, planes)""",
        {"rows": c([0, 0, -1]), "planes": ints(lambda given: given.out)}),
)
