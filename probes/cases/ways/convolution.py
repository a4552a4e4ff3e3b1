"""Convolutions written with other ranks, explicit padding, matrix products and pixel shuffles."""

import numpy as np

from probes.cases.rows import c
from probes.cases.way import Way, floats, ints, reshaped
from probes.cases.ways.derived import blocks, patches, phases

OVER = {"at": c([2])}  # the axis of length 1 that makes a picture of a row

# fmt: off
WAYS = (
    Way("Conv", "bias-after-v1", ("3x3-64-64-56-v1",), "Caffe and MXNet exports: Conv, then Add",
        """bare = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x0, x1)
        y0 = Add (bare, bias)""", {"bias": reshaped("x2", -1, 1, 1)}),
    Way("Conv", "pad-first-v1", ("dw7x7-96-56-v1",), "TensorFlow exports with explicit Pad",
        """wide = Pad (x0, pads)
        y0 = Conv <kernel_shape = [7, 7], group = 96> (wide, x1, x2)""",
        {"pads": c([0, 0, 3, 3, 0, 0, 3, 3])}),
    Way("Conv", "matmul-v1", ("1x1-256-1024-14-v1",), "a 1x1 convolution is a product",
        """flat = Reshape (x0, pixels)  product = MatMul (weight, flat)
        moved = Add (product, bias)  y0 = Reshape (moved, picture)""",
        {"pixels": c([0, 0, -1]), "weight": reshaped("x1", 1024, 256),
         "bias": reshaped("x2", -1, 1), "picture": ints(lambda given: given.out)}),
    Way("Conv", "patches-v1", ("patch16-3-768-224-v1",),
        "patch embedding as Reshape, Transpose, MatMul (arXiv:2010.11929, section 3.1)",
        """cut = Reshape (x0, grid)  turned = Transpose <perm = [0, 2, 4, 1, 3, 5]> (cut)
        rows = Reshape (turned, patches)  product = MatMul (rows, weight)
        moved = Add (product, x2)  deep = Transpose <perm = [0, 2, 1]> (moved)
        y0 = Reshape (deep, picture)""",
        {"grid": c([1, 3, 14, 16, 14, 16]), "patches": c([1, 196, 768]),
         "weight": floats(patches), "picture": ints(lambda given: given.out)}),
    Way("Conv", "split-v1", ("group4-1x1-272-14-v1",), "each group by a convolution of its own",
        """a, b, d, e = Split <axis = 1> (x0, parts)
        a1 = Conv (a, w0)  b1 = Conv (b, w1)  d1 = Conv (d, w2)  e1 = Conv (e, w3)
        joined = Concat <axis = 1> (a1, b1, d1, e1)  y0 = Add (joined, bias)""",
        {"parts": c([68] * 4), "bias": reshaped("x2", -1, 1, 1),
         "w0": floats(lambda given: given["x1"][:68]),
         "w1": floats(lambda given: given["x1"][68:136]),
         "w2": floats(lambda given: given["x1"][136:204]),
         "w3": floats(lambda given: given["x1"][204:])}),
    Way("Conv", "two-axes-v1", ("1d-k256s128-1-258-640-v1",), "a picture of one row",
        """deep = Unsqueeze (x0, at)
        made = Conv <kernel_shape = [1, 256], strides = [1, 128]> (deep, weight, x2)
        y0 = Squeeze (made, at)""", {**OVER, "weight": reshaped("x1", 258, 1, 1, 256)}),
    Way("ConvTranspose", "pixel-shuffle-v1", ("2x2s2-24-24-80-v1",),
        "a kernel as large as its stride (Shi et al. 2016, arXiv:1609.05158)",
        """deep = Conv <kernel_shape = [1, 1]> (x0, weight, bias)
        y0 = DepthToSpace <blocksize = 2, mode = "CRD"> (deep)""",
        {"weight": floats(blocks), "bias": floats(lambda given: np.repeat(given["x2"], 4))}),
    Way("ConvTranspose", "pixel-shuffle-v1", ("4x4s2-256-128-8-v1",),
        "sub-pixel convolution (Shi et al. 2016, arXiv:1609.07009)",
        """deep = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x0, weight)
        y0 = DepthToSpace <blocksize = 2, mode = "CRD"> (deep)""", {"weight": floats(phases)}),
    Way("ConvTranspose", "two-axes-v1", ("1d-k16s8-512-256-32-v1",), "a picture of one row",
        """deep = Unsqueeze (x0, at)
        made = ConvTranspose <kernel_shape = [1, 16], strides = [1, 8], pads = [0, 4, 0, 4]>
            (deep, weight, x2)
        y0 = Squeeze (made, at)""", {**OVER, "weight": reshaped("x1", 512, 256, 1, 16)}),
)
