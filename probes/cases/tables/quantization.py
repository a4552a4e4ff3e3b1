"""Integer arithmetic. Scales are powers of two, so that no rounding tie depends on float32."""

from probes.cases.rows import Feed, Row, c, f, w, x
from probes.cases.tables import cite


def _u8(value: int) -> Feed:
    return c(value, "u1")


def _i8(value: int) -> Feed:
    return c(value, "i1")


# fmt: off
ROWS = (
    Row("QuantizeLinear", "64-56-v1", (x(1, 64, 56, 56), f(2**-5), _u8(128)),
        f"{cite.RESNET50_INT8}: activation of the first stage"),
    Row("QuantizeLinear", "int8-197x768-v1", (x(1, 197, 768), f(2**-5), _i8(0)),
        f"{cite.VIT}: int8 activation"),
    Row("DequantizeLinear", "64-56-v1", (x(1, 64, 56, 56, fill="uint8"), f(2**-5), _u8(128)),
        f"{cite.RESNET50_INT8}: activation of the first stage", agree="one"),
    Row("DequantizeLinear", "axis0-64x64x3x3-v1",
        (w(64, 64, 3, 3, fill="int8"), w(64, fill="positive"), c([0] * 64, "i1")),
        f"{cite.RESNET50_INT8}: weights per channel", {"axis": 0}, agree="one"),
    Row("QLinearConv", "3x3-64-64-56-v1",
        (x(1, 64, 56, 56, fill="uint8"), f(2**-5), _u8(128), w(64, 64, 3, 3, fill="int8"),
         f(2**-10), _i8(0), f(2**-4), _u8(128), w(64, fill="int32")),
        f"{cite.RESNET50_INT8}: first stage 3x3",
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    Row("QLinearMatMul", "128x768x768-v1",
        (x(1, 128, 768, fill="uint8"), f(2**-5), _u8(128), w(768, 768, fill="int8"), f(2**-10),
         _i8(0), f(2**-4), _u8(128)),
        f"{cite.BERT_INT8}: attention projection, static scales"),
    Row("DynamicQuantizeLinear", "128x768-v1", (x(1, 128, 768),),
        f"{cite.BERT_INT8}: activation", outputs=3),
    Row("MatMulInteger", "128x768x768-v1",
        (x(1, 128, 768, fill="uint8"), w(768, 768, fill="int8"), _u8(128), _i8(0)),
        f"{cite.BERT_INT8}: attention projection"),
    Row("ConvInteger", "3x3-64-64-56-v1",
        (x(1, 64, 56, 56, fill="uint8"), w(64, 64, 3, 3, fill="uint8"), _u8(128), _u8(128)),
        f"{cite.RESNET50_INT8}: first stage 3x3, dynamic scales",
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
)
