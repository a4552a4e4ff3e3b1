"""Attention from products and Softmax, with the masks that exporters write."""

import numpy as np

from probes.cases.pattern import Pattern
from probes.cases.patterns import sources as cite
from probes.cases.rows import Feed, c, f, given, w, x

HEADS, TOKENS, DEPTH = 4, 40, 16
WIDTH = HEADS * DEPTH
HEAD = (1, HEADS, TOKENS, DEPTH)
QKV = {"q": x(*HEAD), "k": x(*HEAD), "v": x(*HEAD), "root": f(np.float32(DEPTH) ** 0.5)}
SCORES = """turned = Transpose <perm = [0, 1, 3, 2]> (k)  raw = MatMul (q, turned)
    scores = Div (raw, root)
    """
MIXED = "  weights = Softmax <axis = -1> (masked)  y0 = MatMul (weights, v)"
# The tokenizer's mask: ones, then the padding.
KEPT = [1] * 29 + [0] * (TOKENS - 29)
MASK = given(np.reshape(KEPT, (1, 1, 1, TOKENS)), "<i8")
BIASED = """kept = Cast <to = 1> (mask)  lost = Sub (one, kept)  bias = Mul (lost, low)
    masked = Add (scores, bias)"""


def _projected(*names: str) -> dict[str, Feed]:
    weights = {name: w(WIDTH, WIDTH, fill="matmul") for name in names}
    return {**weights, **{f"{name}b": w(WIDTH) for name in names}}


# fmt: off
PATTERNS = (
    Pattern("Attention", "4x40x16-v1", f"{cite.VIT}: no mask", QKV,
        SCORES.replace("scores", "masked") + MIXED),
    Pattern("Attention", "scaled-query-4x40x16-v1",
        "scaled_dot_product_attention of PyTorch exports",
        {**QKV, "root": f(np.float32(DEPTH) ** -0.25)},
        """turned = Transpose <perm = [0, 1, 3, 2]> (k)  qs = Mul (q, root)  ks = Mul (turned, root)
        masked = MatMul (qs, ks)""" + MIXED),
    Pattern("Attention-masked", "10000-4x40x16-v1", f"{cite.BERT}: (1 - mask) * -10000",
        {**QKV, "mask": MASK, "one": f(1), "low": f(-10000)}, SCORES + BIASED + MIXED),
    Pattern("Attention-masked-1e12", "4x40x16-v1",
        f"{cite.ROFORMER}: (1 - mask) * -1e12, which half precision does not hold",
        {**QKV, "mask": MASK, "one": f(1), "low": f(-1e12)}, SCORES + BIASED + MIXED),
    Pattern("Attention-masked-lowest", "4x40x16-v1",
        "Transformers exports: the lowest float32 by Where",
        {**QKV, "mask": given(np.reshape(KEPT, (1, 1, 1, TOKENS)) > 0, "?"), "zero": f(0),
         "low": f(np.finfo(np.float32).min)},
        SCORES + "bias = Where (mask, zero, low)  masked = Add (scores, bias)" + MIXED),
    Pattern("Attention-causal", "4x40x16-v1", f"{cite.GPT2}: a triangle of the mask by Where",
        {**QKV, "kept": c(np.tril(np.ones((1, 1, TOKENS, TOKENS))), "?"), "low": f(-1e4)},
        SCORES + "masked = Where (kept, scores, low)" + MIXED),
    Pattern("MultiheadAttention", "packed-40x4x16-v1",
        "nn.MultiheadAttention of PyTorch as its TorchScript exporter writes it, batch first",
        {"x": x(1, TOKENS, WIDTH), "w": w(WIDTH, 3 * WIDTH, fill="matmul"), "b": w(3 * WIDTH),
         "apart": c([TOKENS, 1, 3, WIDTH]), "zeroth": c([0]), "third": c([-2]),
         "i0": c(0), "i1": c(1), "i2": c(2), "heads": c([TOKENS, HEADS, DEPTH]),
         "batched": c([1, HEADS, TOKENS, DEPTH]), "root": f(np.float32(DEPTH) ** -0.25),
         "rows": c([TOKENS, WIDTH]), "wo": w(WIDTH, WIDTH), "bo": w(WIDTH),
         "tokens": c([TOKENS, 1, WIDTH])},
        """t = Transpose <perm = [1, 0, 2]> (x)  m = MatMul (t, w)  p = Add (b, m)
        r = Reshape (p, apart)  u = Unsqueeze (r, zeroth)
        turned = Transpose <perm = [3, 1, 2, 0, 4]> (u)  s = Squeeze (turned, third)
        q = Gather <axis = 0> (s, i0)  k = Gather <axis = 0> (s, i1)  v = Gather <axis = 0> (s, i2)
        q1 = Reshape (q, heads)  q2 = Transpose <perm = [1, 0, 2]> (q1)  q3 = Reshape (q2, batched)
        k1 = Reshape (k, heads)  k2 = Transpose <perm = [1, 0, 2]> (k1)  k3 = Reshape (k2, batched)
        v1 = Reshape (v, heads)  v2 = Transpose <perm = [1, 0, 2]> (v1)  v3 = Reshape (v2, batched)
        kt = Transpose <perm = [0, 1, 3, 2]> (k3)  qs = Mul (q3, root)  ks = Mul (kt, root)
        scores = MatMul (qs, ks)  weights = Softmax <axis = -1> (scores)
        mixed = MatMul (weights, v3)  back = Transpose <perm = [2, 0, 1, 3]> (mixed)
        flat = Reshape (back, rows)  out = Gemm <transB = 1> (flat, wo, bo)
        wide = Reshape (out, tokens)  y0 = Transpose <perm = [1, 0, 2]> (wide)"""),
    Pattern("MultiheadAttention", "three-products-40x4x16-v1", f"{cite.BERT}: a product for each",
        {"x": x(1, TOKENS, WIDTH), **_projected("wq", "wk", "wv", "wo"),
         "heads": c([0, 0, HEADS, DEPTH]), "root": f(np.float32(DEPTH) ** 0.5),
         "tokens": c([0, 0, WIDTH])},
        """a = MatMul (x, wq)  q1 = Add (a, wqb)  q2 = Reshape (q1, heads)
        b = MatMul (x, wk)  k1 = Add (b, wkb)  k2 = Reshape (k1, heads)
        d = MatMul (x, wv)  v1 = Add (d, wvb)  v2 = Reshape (v1, heads)
        q = Transpose <perm = [0, 2, 1, 3]> (q2)  kt = Transpose <perm = [0, 2, 3, 1]> (k2)
        v = Transpose <perm = [0, 2, 1, 3]> (v2)  raw = MatMul (q, kt)  scores = Div (raw, root)
        weights = Softmax <axis = -1> (scores)  mixed = MatMul (weights, v)
        back = Transpose <perm = [0, 2, 1, 3]> (mixed)  flat = Reshape (back, tokens)
        e = MatMul (flat, wo)  y0 = Add (e, wob)"""),
    Pattern("RotaryEmbedding-decomposed", "4x40x16-v1", f"{cite.LLAMA}: rotate_half",
        {"x": x(*HEAD), "cos": w(1, 1, TOKENS, DEPTH, fill="signed_unit"),
         "sin": w(1, 1, TOKENS, DEPTH, fill="signed_unit"), "start": c([0]),
         "half": c([DEPTH // 2]), "end": c([2**63 - 1]), "last": c([3])},
        """a = Mul (x, cos)  left = Slice (x, start, half, last)  right = Slice (x, half, end, last)
        minus = Neg (right)  turned = Concat <axis = -1> (minus, left)
        b = Mul (turned, sin)  y0 = Add (a, b)"""),
)
