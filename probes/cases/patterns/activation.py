"""Activations that exporters spell out."""

from probes.cases.pattern import Pattern
from probes.cases.patterns import sources as cite
from probes.cases.rows import f, x

ONE, HALF, ROOT_2 = f(1), f(0.5), f(1.4142135381698608)
TANH = """inner = Add (x, scaled)  moved = Mul (inner, root)  bent = Tanh (moved)
    raised = Add (bent, one)  small = Mul (x, half)  y0 = Mul (small, raised)"""
TANH_CONSTANTS = {"root": f(0.7978845834732056), "cubic": f(0.044715), "one": ONE, "half": HALF}
THREE, SIX = f(3), f(6)

# fmt: off
PATTERNS = (
    Pattern("GELU-erf", "div-20x192-v1", f"{cite.BERT}: PyTorch exports below opset 20",
        {"x": x(1, 20, 192), "root": ROOT_2, "one": ONE, "half": HALF},
        """over = Div (x, root)  bent = Erf (over)  raised = Add (bent, one)
        gated = Mul (x, raised)  y0 = Mul (gated, half)"""),
    Pattern("GELU-erf", "mul-20x192-v1", "ONNX Runtime's own tools: 0.5 x first, sqrt(0.5) by Mul",
        {"x": x(1, 20, 192), "root": f(0.7071067690849304), "one": ONE, "half": HALF},
        """small = Mul (x, half)  over = Mul (x, root)  bent = Erf (over)
        raised = Add (bent, one)  y0 = Mul (small, raised)"""),
    Pattern("GELU-tanh", "mul-20x192-v1", f"{cite.GPT2}: gelu_new, the cube by products",
        {"x": x(1, 20, 192), **TANH_CONSTANTS},
        "square = Mul (x, x)  cube = Mul (square, x)  scaled = Mul (cube, cubic)  " + TANH),
    Pattern("GELU-tanh", "pow-20x192-v1", f"{cite.GPT2}: gelu_new, the cube by Pow",
        {"x": x(1, 20, 192), "three": THREE, **TANH_CONSTANTS},
        "cube = Pow (x, three)  scaled = Mul (cube, cubic)  " + TANH),
    Pattern("HardSwish-decomposed", "clip-16-20-v1", f"{cite.MOBILENET_3}: exports below opset 14",
        {"x": x(1, 16, 20, 20), "three": THREE, "six": SIX, "zero": f(0)},
        """moved = Add (x, three)  gate = Clip (moved, zero, six)  product = Mul (x, gate)
        y0 = Div (product, six)"""),
    Pattern("HardSwish-decomposed", "hardsigmoid-16-20-v1", f"{cite.MOBILENET_3}: PyTorch exports",
        {"x": x(1, 16, 20, 20)},
        "gate = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x)  y0 = Mul (x, gate)"),
    Pattern("Mish-decomposed", "16-20-v1", f"{cite.YOLOV4}: exports below opset 18",
        {"x": x(1, 16, 20, 20)},
        "soft = Softplus (x)  gate = Tanh (soft)  y0 = Mul (x, gate)"),
)
