"""Attention as products and Softmax, and the one fused operator as the other."""

import numpy as np

from probes.cases.rows import c, f
from probes.cases.way import Way

SOFTMAX = "weights = Softmax <axis = -1> (scores)  mixed = MatMul (weights, v)"
SPLIT = """
    a = Reshape (x0, heads)  q = Transpose <perm = [0, 2, 1, 3]> (a)
    b = Reshape (x1, heads)  k = Transpose <perm = [0, 2, 3, 1]> (b)
    d = Reshape (x2, heads)  v = Transpose <perm = [0, 2, 1, 3]> (d)
    """
JOIN = "turned = Transpose <perm = [0, 2, 1, 3]> (mixed)  y0 = Reshape (turned, tokens)"
EIGHTH = f(0.125)  # 1 / sqrt(64)

# fmt: off
WAYS = (
    Way("Attention", "products-v1", ("12x197x64-v1",), "PyTorch exports below opset 23",
        """k = Transpose <perm = [0, 1, 3, 2]> (x1)  raw = MatMul (x0, k)
        scores = Mul (raw, eighth)
        """ + SOFTMAX.replace("mixed", "y0").replace("v)", "x2)"), {"eighth": EIGHTH}),
    Way("Attention", "products-v1", ("masked-128x768-v1",), "PyTorch exports below opset 23",
        SPLIT + "raw = MatMul (q, k)  scaled = Mul (raw, eighth)  scores = Add (scaled, x3)  "
        + SOFTMAX + JOIN,
        {"eighth": EIGHTH, "heads": c([1, 128, 12, 64]), "tokens": c([1, 128, 768])}),
    Way("Attention", "products-v1", ("causal-gqa-32x128x64-v1",),
        "repeat_kv of Transformers exports: keys and values repeated, a mask added",
        """a = Unsqueeze (x1, third)  b = Expand (a, repeated)  keys = Reshape (b, heads)
        k = Transpose <perm = [0, 1, 3, 2]> (keys)
        d = Unsqueeze (x2, third)  e = Expand (d, repeated)  v = Reshape (e, heads)
        raw = MatMul (x0, k)  scaled = Mul (raw, eighth)  scores = Add (scaled, mask)
        """ + SOFTMAX.replace("mixed", "y0"),
        {"eighth": EIGHTH, "third": c([2]), "repeated": c([1, 8, 4, 128, 64]),
         "heads": c([1, 32, 128, 64]),
         "mask": f(np.triu(np.full((128, 128), -10000.0), 1))}),
    Way("MultiHeadAttention", "products-v1", ("8x250x64-v1",), "what ONNX Runtime fuses it from",
        SPLIT + "raw = MatMul (q, k)  scores = Mul (raw, eighth)  " + SOFTMAX + JOIN,
        {"eighth": EIGHTH, "heads": c([1, 250, 8, 64]), "tokens": c([1, 250, 512])}),
    Way("MultiHeadAttention", "attention-23-v1", ("8x250x64-v1",),
        "the operator of ONNX itself since opset 23",
        "y0 = Attention <q_num_heads = 8, kv_num_heads = 8> (x0, x1, x2)", opset=23, ir=10),
)
