"""Matrix products: projections by constant weights, attention products of two run-time tensors."""

from probes.cases.rows import Row, w, x
from probes.cases.tables import cite

# fmt: off
ROWS = (
    Row("MatMul", "197x768x768-v1", (x(1, 197, 768), w(768, 768, fill="matmul")),
        f"{cite.VIT}: attention projection"),
    Row("MatMul", "128x768x3072-v1", (x(1, 128, 768), w(768, 3072, fill="matmul")),
        f"{cite.BERT}: feed forward"),
    Row("MatMul", "40x120x360-v1", (x(1, 40, 120), w(120, 360, fill="matmul")),
        f"{cite.REC5}: MatMul.0"),
    Row("MatMul", "scores-12x197x64-v1", (x(1, 12, 197, 64), x(1, 12, 64, 197)),
        f"{cite.VIT}: query times key"),
    Row("MatMul", "4x64-v1", (x(1, 4), w(4, 64, fill="matmul")), f"{cite.SURFACES}: MatMul"),
    Row("Gemm", "2048-1000-v1", (x(1, 2048), w(1000, 2048, fill="conv"), w(1000)),
        f"{cite.RESNET50}: n174", {"transB": 1}),
    Row("Gemm", "128-512-v1", (x(1, 128), w(512, 128, fill="conv"), w(512)),
        f"{cite.SILERO_18}: node_linear",
        {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 1}),
    Row("Gemm", "960-1280-v1", (x(1, 960), w(1280, 960, fill="conv"), w(1280)),
        f"{cite.MOBILENET_3}: classifier", {"transB": 1}),
    Row("Einsum", "relative-height-12x14x14x64-v1", (x(12, 14, 14, 64), w(14, 14, 64)),
        f"{cite.SAM}: relative positions", {"equation": "bhwc,hkc->bhwk"}),
    Row("Einsum", "attention-1x8x64x64-v1", (x(1, 8, 64, 64), x(1, 8, 64, 64)),
        f"{cite.WHISPER}: scores as einops exports write them",
        {"equation": "bhid,bhjd->bhij"}),
)
