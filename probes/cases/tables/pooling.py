"""Pools."""

from probes.cases.rows import Row, x
from probes.cases.tables import cite

# fmt: off
ROWS = (
    Row("MaxPool", "3x3s2-64-112-v1", (x(1, 64, 112, 112),), f"{cite.RESNET50}: n3",
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    Row("MaxPool", "5x5s1-128-20-v1", (x(1, 128, 20, 20),), f"{cite.YOLOV8}: SPPF",
        {"kernel_shape": [5, 5], "strides": [1, 1], "pads": [2, 2, 2, 2]}),
    Row("MaxPool", "2x2s2-200-2x96-v1", (x(1, 200, 2, 96),), f"{cite.CLS5}: p2o.MaxPool.0",
        {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [0, 0, 0, 0], "ceil_mode": 0}),
    Row("MaxPool", "same-2x2s1-48-24x160-v1", (x(1, 48, 24, 160),), f"{cite.REC6}: MaxPool.0",
        {"kernel_shape": [2, 2], "strides": [1, 1], "auto_pad": "SAME_UPPER", "ceil_mode": 0}),
    Row("AveragePool", "3x2-480-3x80-v1", (x(1, 480, 3, 80),), f"{cite.REC5}: AveragePool.0",
        {"kernel_shape": [3, 2], "strides": [3, 2], "pads": [0, 0, 0, 0], "ceil_mode": 0,
         "count_include_pad": 0}),
    Row("AveragePool", "2x2s2-512-14-v1", (x(1, 512, 14, 14),), f"{cite.DENSENET}: n661",
        {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [0, 0, 0, 0]}),
    Row("AveragePool", "3x3s2-136-28-v1", (x(1, 136, 28, 28),), f"{cite.SHUFFLENET}: n63",
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    Row("AveragePool", "7x7-2048-7-v1", (x(1, 2048, 7, 7),), f"{cite.RESNET50}: n172",
        {"kernel_shape": [7, 7], "strides": [1, 1]}),
    Row("GlobalAveragePool", "1000-13-v1", (x(1, 1000, 13, 13),), f"{cite.SQUEEZENET}: n64"),
    Row("GlobalAveragePool", "96-40-v1", (x(1, 96, 40, 40),),
        f"{cite.DET5}: GlobalAveragePool.3"),
    Row("GlobalAveragePool", "88-3x96-v1", (x(1, 88, 3, 96),),
        f"{cite.CLS5}: p2o.GlobalAveragePool.4"),
    Row("GlobalMaxPool", "256-56-v1", (x(1, 256, 56, 56),),
        f"{cite.CBAM}: channel attention, first stage"),
)
