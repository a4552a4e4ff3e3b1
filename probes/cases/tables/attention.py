"""Attention as one operator."""

from probes.cases.rows import Row, w, x
from probes.cases.tables import cite

# fmt: off
ROWS = (
    Row("Attention", "12x197x64-v1", (x(1, 12, 197, 64), x(1, 12, 197, 64), x(1, 12, 197, 64)),
        f"{cite.VIT}: self attention", opset=23, ir=10),
    Row("Attention", "causal-gqa-32x128x64-v1",
        (x(1, 32, 128, 64), x(1, 8, 128, 64), x(1, 8, 128, 64)),
        f"{cite.LLAMA}: grouped queries", {"is_causal": 1}, opset=23, ir=10),
    Row("Attention", "masked-128x768-v1",
        (x(1, 128, 768), x(1, 128, 768), x(1, 128, 768), x(1, 1, 128, 128)),
        f"{cite.BERT}: additive mask", {"q_num_heads": 12, "kv_num_heads": 12}, opset=23, ir=10),
    Row("RotaryEmbedding", "32x128x64-v1",
        (x(1, 32, 128, 64), w(1, 128, 32, fill="signed_unit"), w(1, 128, 32, fill="signed_unit")),
        f"{cite.LLAMA}: rotated queries", opset=23, ir=10),
    Row("MultiHeadAttention", "8x250x64-v1", (x(1, 250, 512), x(1, 250, 512), x(1, 250, 512)),
        f"{cite.WHISPER}: encoder attention over 5 s as ONNX Runtime fuses it",
        {"num_heads": 8}, domain="com.microsoft", agree="one"),
)
