"""Reductions and running sums."""

from probes.cases.rows import Row, c, x
from probes.cases.tables import cite

# fmt: off
ROWS = (
    Row("ReduceMean", "40x120-v1", (x(1, 40, 120),), f"{cite.REC5}: ReduceMean.0",
        {"axes": [-1]}),
    Row("ReduceMean", "pool-192-40-v1", (x(1, 192, 40, 40),), f"{cite.DET6}: ReduceMean.4",
        {"axes": [2, 3], "keepdims": 1}),
    Row("ReduceMean", "pool-192-6x80-v1", (x(1, 192, 6, 80),), f"{cite.REC6}: ReduceMean.2",
        {"axes": [2, 3], "keepdims": 1}),
    Row("ReduceSum", "power-309x172-v1", (x(1, 309, 172, 2, fill="square"), c([-1])),
        f"{cite.BASIC_PITCH}: cq_t2010v2_1/Sum", {"keepdims": 0, "noop_with_empty_axes": 1}),
    Row("ReduceMax", "172x309-v1", (x(1, 172, 309),), f"{cite.BASIC_PITCH}: normalized_log_1/Max",
        {"axes": [1, 2], "keepdims": 0}),
    Row("ReduceMax", "scores-8400x80-v1", (x(1, 8400, 80, fill="unit"),),
        f"{cite.YOLOV10}: best class score", {"axes": [-1], "keepdims": 0}),
    Row("ReduceMin", "172x309-v1", (x(1, 172, 309),), f"{cite.BASIC_PITCH}: normalized_log_1/Min",
        {"axes": [1, 2], "keepdims": 0}),
    Row("ReduceProd", "shape-v1", (x(4, fill="below:16"),),
        f"{cite.DEFORMABLE_DETR}: positions of a feature level", {"axes": [0], "keepdims": 0}),
    Row("ReduceL1", "512-v1", (x(1, 512),), "PyTorch F.normalize with p=1, 512-d embedding "
        f"({cite.ARCFACE})", {"axes": [1], "keepdims": 1}),
    Row("ReduceL2", "512-v1", (x(1, 512),), f"{cite.CLIP_MODEL}: norm of an embedding",
        {"axes": [1], "keepdims": 1}),
    Row("ReduceSumSquare", "75x128-v1", (x(75, 128),), f"{cite.ENCODEC}: distance to the codes",
        {"axes": [1], "keepdims": 1}),
    Row("ReduceLogSumExp", "249x32-v1", (x(1, 249, 32),), f"{cite.WAV2VEC}: CTC normalizer, 5 s",
        {"axes": [-1], "keepdims": 1}),
    Row("CumSum", "mask-950-v1", (x(1, 25, 34, fill="unit"), c(1)),
        f"{cite.DETR}: positions from the padding mask"),
    Row("CumSum", "positions-128-v1", (x(1, 128, fill="below:2"), c(1)),
        "RoBERTa-base, 128 tokens (Liu et al. 2019, arXiv:1907.11692): position ids"),
)
