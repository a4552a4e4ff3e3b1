"""Resizing in other modes, other versions, by transposed convolutions and by products."""

import numpy as np

from probes.cases.rows import c, f
from probes.cases.way import Way, floats, full, ints
from probes.cases.ways.derived import across, down, tent

DOUBLED = ("nearest2x-256-20-v1",)
NEAREST = (*DOUBLED, "nearest8x-24-20-v1")
SMOOTH = ("linear8x-21-28-v1", "align-corners2x-64-56-v1", "cubic-768-14-v1")
SPREAD = (*DOUBLED, "linear8x-21-28-v1", "cubic-768-14-v1")
SIZES = {"sizes": ints(lambda given: given.out)}
ROI = {"none": f(np.zeros(0))}

# fmt: off
WAYS = (
    Way("Resize", "half-pixel-v1", NEAREST, "PyTorch's nearest, the same at whole scales",
        attrs={"coordinate_transformation_mode": "half_pixel",
               "nearest_mode": "round_prefer_floor"}),
    Way("Resize", "sizes-v1", DOUBLED, "interpolate(size=...) in PyTorch",
        """y0 = Resize <mode = "nearest", nearest_mode = "floor",
        coordinate_transformation_mode = "asymmetric"> (x0, , , sizes)""", SIZES),
    Way("Resize", "half-pixel-v1", ("linear8x-21-28-v1",), "the same at lengths above one",
        attrs={"coordinate_transformation_mode": "half_pixel"}),
    Way("Resize", "opset11-v1", NEAREST, "Resize-11, which wants a roi",
        """y0 = Resize <mode = "nearest", nearest_mode = "floor",
        coordinate_transformation_mode = "asymmetric"> (x0, none, x2)""", ROI, opset=11),
    Way("Resize", "opset11-v1", ("linear8x-21-28-v1", "cubic-768-14-v1"),
        "Resize-11, which wants a roi and scales beside the sizes",
        """y0 = Resize <mode = "%(mode)s",
        coordinate_transformation_mode = "%(coordinate_transformation_mode)s"> (x0, none, none, x3)
        """, ROI, opset=11),
    Way("Resize", "opset18-v1", SPREAD, "Resize-18", opset=18),
    Way("Resize", "opset19-v1", DOUBLED, "Resize-19",
        opset=19, ir=9),
    Way("Resize", "upsample-v1", DOUBLED, "Upsample-9, before there was Resize",
        'y0 = Upsample <mode = "nearest"> (x0, x2)', opset=9),
    Way("Resize", "conv-transpose-v1", DOUBLED, "Rockchip's advice for its NPUs: ones of 2x2",
        """y0 = ConvTranspose <kernel_shape = [2, 2], strides = [2, 2], group = %(channels)s>
        (x0, weight)""", {"weight": full(1, lambda given: [given.shape[1], 1, 2, 2])}),
    Way("Resize", "expand-v1", DOUBLED, "TensorFlow's upsampling of a known shape",
        """deep = Reshape (x0, apart)  wide = Expand (deep, twice)  y0 = Reshape (wide, sizes)""",
        {**SIZES,
         "apart": ints(lambda given: [*given.shape[:3], 1, given.shape[3], 1]),
         "twice": ints(lambda given: [*given.shape[:3], 2, given.shape[3], 2])}),
    Way("Resize", "concat-v1", DOUBLED, "each pixel beside itself, then each row under itself",
        """deep = Unsqueeze (x0, fifth)  pair = Concat <axis = 4> (deep, deep)
        wide = Reshape (pair, stretched)  low = Unsqueeze (wide, fourth)
        rows = Concat <axis = 3> (low, low)  y0 = Reshape (rows, sizes)""",
        {**SIZES, "fifth": c([4]), "fourth": c([3]),
         "stretched": ints(lambda given: [*given.shape[:3], given.out[3]])}),
    Way("Resize", "conv-transpose-v1", ("linear8x-21-28-v1",),
        "bilinear weights (Long et al. 2014, arXiv:1411.4038), the edge repeated first",
        """wide = Pad <mode = "edge"> (x0, ring)
        y0 = ConvTranspose <kernel_shape = [16, 16], strides = [8, 8], pads = [12, 12, 12, 12],
            group = %(channels)s> (wide, weight)""",
        {"ring": c([0, 0, 1, 1, 0, 0, 1, 1]), "weight": floats(tent)}),
    Way("Resize", "matmul-v1", SMOOTH, "interpolation of a known size is a product along each axis",
        "wide = MatMul (x0, across)  y0 = MatMul (down, wide)",
        {"across": floats(across), "down": floats(down)}),
)
