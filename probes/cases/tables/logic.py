"""Comparisons, logic, selection and casts."""

from probes.cases.rows import Row, c, f, given, x
from probes.cases.tables import cite

FLOAT, INT32, INT64, BOOL = 1, 6, 7, 9

# fmt: off
ROWS = (
    Row("Equal", "rate-v1", (given(16000, "<i8"), c(16000)), f"{cite.SILERO_FULL}: Equal_0"),
    Row("Equal", "zero-1x1x1-v1", (x(1, 1, 1), f(0)),
        f"{cite.BASIC_PITCH}: normalized_log_1/div_no_nan"),
    Row("Equal", "tokens-128-v1", (x(1, 128, fill="below:4"), c(0)), f"{cite.BERT}: padding mask"),
    Row("Greater", "scores-8400-v1", (x(1, 8400, fill="unit"), f(0.25)),
        f"{cite.YOLOV8}: confidence threshold"),
    Row("GreaterOrEqual", "boxes-1000-v1", (x(1000, fill="unit"), f(0.05)),
        f"{cite.MASK_RCNN}: score threshold"),
    Row("Less", "buckets-128x128-v1", (x(128, 128, fill="below:32"), c(16)),
        f"{cite.T5}: relative position buckets"),
    Row("LessOrEqual", "causal-128x128-v1",
        (x(1, 128, fill="below:128"), x(128, 1, fill="below:128")),
        f"{cite.LLAMA}: causal mask from positions"),
    Row("Not", "scalar-v1", (given(True, "?"),), f"{cite.SILERO}: decoder/rnn/Not"),
    Row("Not", "mask-1x950-v1", (x(1, 950, fill="bits"),), f"{cite.DETR}: padding mask"),
    Row("And", "mask-128x128-v1", (x(1, 1, 128, 128, fill="bits"), x(1, 1, 1, 128, fill="bits")),
        f"{cite.LLAMA}: causal and padding mask"),
    Row("Or", "1000-v1", (x(1000, fill="bits"), x(1000, fill="bits")),
        f"{cite.MASK_RCNN}: boxes outside the picture"),
    Row("Xor", "1000-v1", (x(1000, fill="bits"), x(1000, fill="bits")),
        f"{cite.MASK_RCNN}: disagreement of two box filters"),
    Row("IsNaN", "8x40x40-v1", (x(1, 8, 40, 40),),
        f"{cite.BERT}: guard after a fully masked softmax (torch scaled_dot_product_attention)"),
    Row("Where", "mask-12x128x128-v1",
        (x(1, 1, 128, 128, fill="bits"), x(1, 12, 128, 128), f(-3.4028234663852886e38)),
        f"{cite.GPT2}: causal mask"),
    Row("Where", "divide-172x309-v1",
        (x(1, 1, 1, fill="bits"), f(0), x(1, 172, 309)),
        f"{cite.BASIC_PITCH}: normalized_log_1/div_no_nan"),
    Row("Cast", "float-to-int64-v1", (x(1, 300),), f"{cite.YOLOV10}: labels", {"to": INT64}),
    Row("Cast", "int64-to-float-v1", (x(1, 128, fill="below:2"),),
        f"{cite.BERT}: attention mask", {"to": FLOAT}),
    Row("Cast", "int64-to-int32-shape-v1", (x(4, fill="below:640"),),
        f"{cite.CLS5}: p2o.Cast.0", {"to": INT32}),
    Row("Cast", "int64-to-bool-v1", (given(1, "<i8"),), f"{cite.SILERO}: /model/decoder/Cast",
        {"to": BOOL}),
)
