"""Matrix products as each other, as 1x1 convolutions, and Einsum as a product."""

from probes.cases.rows import c
from probes.cases.way import Way, floats, ints

BY_WEIGHT = ("40x120x360-v1",)
HEADS = ("128-512-v1",)

# fmt: off
WAYS = (
    Way("MatMul", "gemm-v1", BY_WEIGHT, "the batch of one taken off",
        "rows = Squeeze (x0, first)  product = Gemm (rows, x1)  y0 = Unsqueeze (product, first)",
        {"first": c([0])}),
    Way("MatMul", "conv-v1", BY_WEIGHT, "tokens as pixels: a convolution of 1x1",
        """turned = Transpose <perm = [0, 2, 1]> (x0)  deep = Unsqueeze (turned, last)
        made = Conv <kernel_shape = [1, 1]> (deep, weight)  thin = Squeeze (made, last)
        y0 = Transpose <perm = [0, 2, 1]> (thin)""",
        {"last": c([3]), "weight": floats(lambda given: given["x1"].T[:, :, None, None])}),
    Way("MatMul", "three-axes-v1", ("scores-12x197x64-v1",), "the batch of one taken off",
        """a = Squeeze (x0, first)  b = Squeeze (x1, first)  product = MatMul (a, b)
        y0 = Unsqueeze (product, first)""", {"first": c([0])}),
    Way("MatMul", "einsum-v1", ("scores-12x197x64-v1",), "einops exports",
        'y0 = Einsum <equation = "bhic,bhcj->bhij"> (x0, x1)'),
    Way("Gemm", "matmul-v1", HEADS, "TensorFlow exports: MatMul, then Add",
        "product = MatMul (x0, weight)  y0 = Add (product, x2)",
        {"weight": floats(lambda given: given["x1"].T)}),
    Way("Gemm", "conv-v1", HEADS, "a fully connected layer as a convolution of 1x1",
        """deep = Reshape (x0, pixel)  made = Conv <kernel_shape = [1, 1]> (deep, weight, x2)
        y0 = Reshape (made, row)""",
        {"pixel": c([0, 0, 1, 1]), "row": ints(lambda given: given.out),
         "weight": floats(lambda given: given["x1"][:, :, None, None])}),
    Way("Einsum", "matmul-v1", ("relative-height-12x14x14x64-v1",), "SAM exports for NPUs",
        """turned = Transpose <perm = [0, 2, 1]> (x1)  y0 = MatMul (x0, turned)"""),
    Way("Einsum", "matmul-v1", ("attention-1x8x64x64-v1",), "the product that it means",
        """turned = Transpose <perm = [0, 1, 3, 2]> (x1)  y0 = MatMul (x0, turned)"""),
)
