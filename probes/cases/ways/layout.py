"""Joining, turning and averaging in other shapes."""

import numpy as np

from probes.cases.rows import c, f
from probes.cases.way import Way, floats, full, ints

POOLS = ("pool-192-40-v1", "pool-192-6x80-v1")
ROWS = ("40x120-v1",)

# fmt: off
WAYS = (
    Way("Concat", "pad-add-v1", ("pan-384-40-v1",), "zeros in place of the other part, then a sum",
        "a = Pad (x0, behind)  b = Pad (x1, before)  y0 = Add (a, b)",
        {"behind": c([0, 0, 0, 0, 0, 128, 0, 0]), "before": c([0, 256, 0, 0, 0, 0, 0, 0])}),
    Way("Concat", "first-axes-v1", ("harmonic-172x36-v1",), "joined as channels, then turned",
        """a = Transpose <perm = [0, 3, 1, 2]> (x0)  b = Transpose <perm = [0, 3, 1, 2]> (x1)
        joined = Concat <axis = 1> (a, b)  y0 = Transpose <perm = [0, 2, 3, 1]> (joined)"""),
    Way("Concat", "pad-add-v1", ("class-token-196x768-v1",),
        "the constant part widened, then a sum",
        "tail = Pad (x1, before)  y0 = Add (head, tail)",
        {"before": c([0, 1, 0, 0, 0, 0]),
         "head": floats(lambda given: np.pad(given["x0"], [(0, 0), (0, 196), (0, 0)]))}),
    Way("Transpose", "four-axes-v1", ("shuffle-4x68x14-v1",), "rows and columns as one axis",
        """flat = Reshape (x0, joined)  turned = Transpose <perm = [0, 2, 1, 3]> (flat)
        y0 = Reshape (turned, apart)""",
        {"joined": c([1, 4, 68, 196]), "apart": ints(lambda given: given.out)}),
    Way("Transpose", "four-axes-v1", ("qkv-40x3x8x15-v1",), "the batch of one taken off",
        """thin = Squeeze (x0, first)  turned = Transpose <perm = [1, 2, 0, 3]> (thin)
        y0 = Unsqueeze (turned, second)""", {"first": c([0]), "second": c([1])}),
    Way("Transpose", "four-axes-v1", ("120x40-v1",), "a fourth axis of length 1",
        """deep = Unsqueeze (x0, first)  turned = Transpose <perm = [0, 1, 3, 2]> (deep)
        y0 = Squeeze (turned, first)""", {"first": c([0])}),
    Way("Transpose", "twice-v1", ("nhwc-3-224-v1",), "two swaps of neighbouring axes",
        """once = Transpose <perm = [0, 1, 3, 2]> (x0)
        y0 = Transpose <perm = [0, 2, 1, 3]> (once)"""),
    Way("ReduceMean", "opset18-v1", (*POOLS, *ROWS), "ReduceMean-18, axes as an input",
        "y0 = ReduceMean <keepdims = 1> (x0, axes)",
        {"axes": ints(lambda given: given.attrs["axes"])}, opset=18),
    Way("ReduceMean", "global-average-v1", POOLS, "adaptive_avg_pool2d(1) in PyTorch",
        "y0 = GlobalAveragePool (x0)"),
    Way("ReduceMean", "average-pool-v1", POOLS, "avg_pool2d over the picture",
        "y0 = AveragePool <kernel_shape = %(plane)s> (x0)"),
    Way("ReduceMean", "sum-mul-v1", ROWS, "the definition",
        "sum = ReduceSum (x0, axes)  y0 = Mul (sum, share)",
        {"axes": c([-1]), "share": f(1 / 120)}),
    Way("ReduceMean", "matmul-v1", ROWS, "a product with equal weights",
        "y0 = MatMul (x0, share)",
        {"share": full(1 / 120, lambda given: [given.shape[-1], 1])}),
)
