"""Normalizations that exporters spell out; with outliers their squares leave half precision."""

import numpy as np

from probes.cases.fills import fill
from probes.cases.pattern import Pattern
from probes.cases.patterns import sources as cite
from probes.cases.rows import Feed, c, f, given, w, x

WIDTH = 192
OUTLIERS = given(fill("normal", "pattern/outliers", (1, 20, WIDTH)) * np.float32(128), "<f4")


def _layer(epsilon: float, x: Feed) -> dict[str, Feed]:
    scale, shift = w(WIDTH, fill="positive"), w(WIDTH)
    return {"x": x, "two": f(2), "epsilon": f(epsilon), "scale": scale, "shift": shift}


LAYER = """mean = ReduceMean <axes = [-1]> (x)  low = Sub (x, mean)  square = Pow (low, two)
    var = ReduceMean <axes = [-1]> (square)  safe = Add (var, epsilon)  root = Sqrt (safe)
    normal = Div (low, root)  scaled = Mul (normal, scale)  y0 = Add (scaled, shift)"""
RMS = """square = Pow (x, two)  mean = ReduceMean <axes = [-1]> (square)
    safe = Add (mean, epsilon)  root = Sqrt (safe)  over = Div (one, root)
    normal = Mul (x, over)  y0 = Mul (scale, normal)"""
RMS_CONSTANTS = {"two": f(2), "one": f(1), "epsilon": f(1e-6), "scale": w(WIDTH, fill="positive")}
PLANES = w(32, 1, 1, fill="positive")

# fmt: off
PATTERNS = (
    Pattern("LayerNormalization-decomposed", "20x192-v1", f"{cite.VIT}: exports below opset 17",
        _layer(1e-6, x(1, 20, WIDTH)), LAYER),
    Pattern("LayerNormalization-decomposed", "outliers-20x192-v1",
        "values of hundreds, as the residual stream of large transformers holds",
        _layer(1e-6, OUTLIERS), LAYER),
    Pattern("LayerNormalization-decomposed", "epsilon12-20x192-v1",
        f"{cite.BERT}: epsilon 1e-12, and rows that vary little",
        _layer(1e-12, x(1, 20, WIDTH, fill="small")), LAYER),
    Pattern("LayerNormalization-decomposed", "channels-32-14-v1", f"{cite.CONVNEXT}: along axis 1",
        {"x": x(1, 32, 14, 14), "two": f(2), "epsilon": f(1e-6), "scale": PLANES,
         "shift": w(32, 1, 1)},
        LAYER.replace("[-1]", "[1]").replace("scaled = Mul (normal, scale)",
                                             "scaled = Mul (scale, normal)")),
    Pattern("RMSNorm-decomposed", "20x192-v1", f"{cite.LLAMA}: exports below opset 23",
        {"x": x(1, 20, WIDTH), **RMS_CONSTANTS}, RMS),
    Pattern("RMSNorm-decomposed", "outliers-20x192-v1",
        "values of hundreds, as the residual stream of large transformers holds",
        {"x": OUTLIERS, **RMS_CONSTANTS}, RMS),
    Pattern("GroupNormalization-by-instances", "8-32-14-v1", "PyTorch exports below opset 18",
        {"x": x(1, 32, 14, 14), "grouped": c([0, 8, -1]), "ones": f([1] * 8),
         "zeros": f([0] * 8), "as_before": c([1, 32, 14, 14]), "scale": PLANES,
         "shift": w(32, 1, 1)},
        """flat = Reshape (x, grouped)
        each = InstanceNormalization <epsilon = 0.00001> (flat, ones, zeros)
        normal = Reshape (each, as_before)  scaled = Mul (normal, scale)
        y0 = Add (scaled, shift)"""),
)
