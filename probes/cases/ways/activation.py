"""Activations from simpler ones, and Softmax from exponentials."""

from probes.cases.rows import c, f
from probes.cases.way import Way

HALF, ONE, ROOT_2 = f(0.5), f(1), f(1.4142135381698608)
SWISHES = ("240-12x80-v1",)
GELUS = ("128x3072-v1",)
LAST_AXIS = ("1000-v1", "8x40x40-v1")
RELU6 = ("relu6-200-2x96-v1",)
TANH_CONSTANTS = {"root": f(0.7978845834732056), "cubic": f(0.044715), "one": ONE, "half": HALF}
TANH_FORM = """
    scaled = Mul (cube, cubic)  inner = Add (x0, scaled)  moved = Mul (inner, root)
    bent = Tanh (moved)  raised = Add (bent, one)  gated = Mul (x0, raised)
    y0 = Mul (gated, half)"""
CUBE_BY_MUL = "square = Mul (x0, x0)  cube = Mul (square, x0)"

# fmt: off
WAYS = (
    Way("Relu", "max-v1", ("64-56-v1",), "the definition", "y0 = Max (x0, zero)",
        {"zero": f(0)}),
    Way("Relu", "clip-v1", ("64-56-v1",), "hardtanh exports of PyTorch", "y0 = Clip (x0, zero)",
        {"zero": f(0)}),
    Way("Sigmoid", "tanh-v1", ("120-1x40-v1",), "sigmoid(x) = (1 + tanh(x / 2)) / 2",
        """halved = Mul (x0, half)  bent = Tanh (halved)  small = Mul (bent, half)
        y0 = Add (small, half)""", {"half": HALF}),
    Way("Sigmoid", "exp-v1", ("120-1x40-v1",), "the definition",
        """minus = Neg (x0)  power = Exp (minus)  sum = Add (power, one)
        y0 = Reciprocal (sum)""", {"one": ONE}),
    Way("HardSwish", "hard-sigmoid-v1", SWISHES, "PyTorch exports at opset 9 to 13",
        "gate = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x0)  y0 = Mul (x0, gate)"),
    Way("HardSwish", "clip-v1", SWISHES, "PaddlePaddle exports below opset 14",
        """moved = Add (x0, three)  gate = Clip (moved, zero, six)  product = Mul (x0, gate)
        y0 = Div (product, six)""", {"zero": f(0), "three": f(3), "six": f(6)}),
    Way("HardSwish", "relu-min-v1", SWISHES, "ReLU6 written with Relu and Min",
        """moved = Add (x0, three)  risen = Relu (moved)  gate = Min (risen, six)
        product = Mul (x0, gate)  y0 = Mul (product, sixth)""",
        {"three": f(3), "six": f(6), "sixth": f(1 / 6)}),
    Way("Gelu", "erf-v1", GELUS, "PyTorch exports below opset 20",
        """over = Div (x0, root)  bent = Erf (over)  raised = Add (bent, one)
        gated = Mul (x0, raised)  y0 = Mul (gated, half)""",
        {"root": ROOT_2, "one": ONE, "half": HALF}),
    Way("Gelu", "tanh-near-v1", GELUS,
        "an approximation (Hendrycks, Gimpel 2016, arXiv:1606.08415, section 2)",
        CUBE_BY_MUL + TANH_FORM, TANH_CONSTANTS),
    Way("Gelu", "tanh-mul-v1", ("tanh-128x3072-v1",), "PyTorch exports below opset 20",
        CUBE_BY_MUL + TANH_FORM, TANH_CONSTANTS),
    Way("Gelu", "tanh-pow-v1", ("tanh-128x3072-v1",), "gelu_new of GPT-2",
        "cube = Pow (x0, three)" + TANH_FORM, {**TANH_CONSTANTS, "three": f(3)}),
    Way("Softmax", "opset11-v1", LAST_AXIS,
        "Softmax-11 over the last axis, where flattening changes nothing", opset=11),
    Way("Softmax", "exp-v1", LAST_AXIS, "the definition, with the maximum taken off first",
        """top = ReduceMax <axes = [-1]> (x0)  low = Sub (x0, top)  power = Exp (low)
        sum = ReduceSum (power, axes)  y0 = Div (power, sum)""",
        {"axes": c([-1])}),
    Way("Softmax", "transpose-v1", ("dfl-16x4x8400-v1",), "Ultralytics exports for NPUs",
        """turned = Transpose <perm = [0, 2, 3, 1]> (x0)  normal = Softmax <axis = -1> (turned)
        y0 = Transpose <perm = [0, 3, 1, 2]> (normal)"""),
    Way("Softmax", "exp-v1", ("dfl-16x4x8400-v1",),
        "the definition, with the maximum taken off first",
        """top = ReduceMax <axes = [1]> (x0)  low = Sub (x0, top)  power = Exp (low)
        sum = ReduceSum (power, axes)  y0 = Div (power, sum)""", {"axes": c([1])}),
    Way("Clip", "min-max-v1", RELU6, "the definition",
        "risen = Max (x0, x1)  y0 = Min (risen, x2)"),
    Way("Clip", "attributes-v1", RELU6, "Clip-6, bounds as attributes",
        "y0 = Clip <min = 0.0, max = 6.0> (x0)", opset=10),
)
