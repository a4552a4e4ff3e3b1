"""Convolutions with what follows them, and what compilers fuse into one."""

from probes.cases.pattern import Pattern
from probes.cases.patterns import sources as cite
from probes.cases.rows import Feed, c, f, w, x


def _normal(channels: int) -> dict[str, Feed]:
    return {
        "scale": w(channels, fill="positive"),
        "shift": w(channels),
        "mean": w(channels),
        "var": w(channels, fill="positive"),
    }


NORMAL = "y = BatchNormalization <epsilon = 0.00001> (c, scale, shift, mean, var)"
SILU = "gate = Sigmoid (c)  y0 = Mul (c, gate)"
# What the quantizers of both frameworks write: symmetric weights, activations of unsigned bytes.
ENTER = """q = QuantizeLinear (x, xs, xz)  xd = DequantizeLinear (q, xs, xz)
    bd = DequantizeLinear <axis = 0> (b, bs, bz)
    """
LEAVE = "  r = QuantizeLinear (c, ys, yz)  y0 = DequantizeLinear (r, ys, yz)"
IN_STEP, OUT_STEP, WEIGHT_STEP = 0.0311, 0.0473, 0.00197  # none a tie of another
STEPS = {"xs": f(IN_STEP), "xz": c(128, "u1"), "ys": f(OUT_STEP), "yz": c(120, "u1")}

# fmt: off
PATTERNS = (
    Pattern("Conv-BatchNormalization-Relu", "3x3-16-32-20-v1", f"{cite.RESNET}: unfolded export",
        {"x": x(1, 16, 20, 20), "k": w(32, 16, 3, 3, fill="conv"), **_normal(32)},
        f"c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, k)  {NORMAL}  y0 = Relu (y)"),
    Pattern("Conv-BatchNormalization-Relu", "dw3x3s2-32-20-v1", f"{cite.MOBILENET}: depthwise",
        {"x": x(1, 32, 20, 20), "k": w(32, 1, 3, 3, fill="conv"), **_normal(32)},
        f"""c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2], group = 32>
            (x, k)
        {NORMAL}  y0 = Relu (y)"""),
    Pattern("Conv-Add-Relu", "3x3-32-14-v1", f"{cite.RESNET}: the end of a block",
        {"x": x(1, 32, 14, 14), "k": w(32, 32, 3, 3, fill="conv"), "b": w(32)},
        """c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, k, b)
        y = Add (c, x)  y0 = Relu (y)"""),
    Pattern("Conv-SiLU", "6x6s2-3-16-40-v1", f"{cite.YOLOV5}: the stem",
        {"x": x(1, 3, 40, 40), "k": w(16, 3, 6, 6, fill="conv"), "b": w(16)},
        f"""c = Conv <kernel_shape = [6, 6], pads = [2, 2, 2, 2], strides = [2, 2]> (x, k, b)
        {SILU}"""),
    Pattern("Conv-SiLU", "1x1-32-32-20-v1", f"{cite.YOLOV5}: a bottleneck",
        {"x": x(1, 32, 20, 20), "k": w(32, 32, 1, 1, fill="conv"), "b": w(32)},
        f"c = Conv <kernel_shape = [1, 1]> (x, k, b)  {SILU}"),
    Pattern("SqueezeExcite", "sigmoid-32-8-14-v1", f"{cite.EFFICIENTNET}: a block",
        {"x": x(1, 32, 14, 14), "k1": w(8, 32, 1, 1, fill="conv"), "b1": w(8),
         "k2": w(32, 8, 1, 1, fill="conv"), "b2": w(32)},
        """m = GlobalAveragePool (x)  c = Conv (m, k1, b1)  s = Sigmoid (c)  a = Mul (c, s)
        e = Conv (a, k2, b2)  gate = Sigmoid (e)  y0 = Mul (gate, x)"""),
    Pattern("SqueezeExcite", "hardsigmoid-32-8-14-v1", f"{cite.MOBILENET_3}: a block",
        {"x": x(1, 32, 14, 14), "k1": w(8, 32, 1, 1, fill="conv"), "b1": w(8),
         "k2": w(32, 8, 1, 1, fill="conv"), "b2": w(32)},
        """m = ReduceMean <axes = [2, 3], keepdims = 1> (x)  c = Conv (m, k1, b1)  a = Relu (c)
        e = Conv (a, k2, b2)  gate = HardSigmoid <alpha = 0.16666667, beta = 0.5> (e)
        y0 = Mul (gate, x)"""),
    Pattern("Conv-QDQ", "per-tensor-16-32-14-v2", "static quantization of ONNX Runtime, QDQ, uint8",
        {"x": x(1, 16, 14, 14), "k": w(32, 16, 3, 3, fill="int8"), "ws": f(WEIGHT_STEP),
         "wz": c(0, "i1"), "b": w(32, fill="int32"), "bs": f(IN_STEP * WEIGHT_STEP),
         "bz": c(0, "<i4"), **STEPS},
        ENTER + """kd = DequantizeLinear (k, ws, wz)
        c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (xd, kd, bd)""" + LEAVE),
    Pattern("Conv-QDQ", "per-channel-16-32-14-v2",
        "static quantization of ONNX Runtime, per channel",
        {"x": x(1, 16, 14, 14), "k": w(32, 16, 3, 3, fill="int8"),
         "ws": f([WEIGHT_STEP * (1 + i % 4) / 2 for i in range(32)]), "wz": c([0] * 32, "i1"),
         "b": w(32, fill="int32"),
         "bs": f([IN_STEP * WEIGHT_STEP * (1 + i % 4) / 2 for i in range(32)]),
         "bz": c([0] * 32, "<i4"), **STEPS},
        ENTER + """kd = DequantizeLinear <axis = 0> (k, ws, wz)
        c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (xd, kd, bd)""" + LEAVE),
    Pattern("Conv-QDQ", "symmetric-16-32-14-v1",
        "what TensorRT takes: int8 around zero, per channel, no bias",
        {"x": x(1, 16, 14, 14), "k": w(32, 16, 3, 3, fill="int8"),
         "ws": f([WEIGHT_STEP * (1 + i % 4) / 2 for i in range(32)]), "wz": c([0] * 32, "i1"),
         **STEPS, "xz": c(0, "i1"), "ys": f(0.0487), "yz": c(0, "i1")},
        ENTER.partition("bd =")[0] + """kd = DequantizeLinear <axis = 0> (k, ws, wz)
        c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (xd, kd)""" + LEAVE),
)
