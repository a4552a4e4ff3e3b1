"""Matrix products, Einsum, recurrences, attention."""

from __future__ import annotations

from typing import Any

from probes.cases.variants.vocabulary import FLOATS, Choice, Draft, From, Spec, attributes, k, t, v

OPERANDS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "2d": ((3, 4), (4, 5)),
    "3d": ((2, 3, 4), (2, 4, 5)),
    "4d": ((2, 2, 3, 4), (2, 2, 4, 5)),
    "5d": ((1, 2, 2, 3, 4), (1, 2, 2, 4, 2)),
    "right-2d": ((2, 3, 4), (4, 5)),
    "left-2d": ((3, 4), (2, 4, 5)),
    "broadcast": ((2, 1, 3, 4), (1, 3, 4, 2)),
    "vector-left": ((4,), (4, 5)),
    "vector-right": ((3, 4), (4,)),
    "vectors": ((4,), (4,)),
    "batch-vector": ((2, 3, 4), (4,)),
}


def _matmul(c: Choice) -> Draft:
    first, second = OPERANDS[c["form"]]
    return Draft([t(*first, kind=c.kind), t(*second, kind=c.kind)])


def _gemm(c: Choice) -> Draft | None:
    a, b = ((4, 3) if c["transA"] else (3, 4)), ((5, 4) if c["transB"] else (4, 5))
    if c.dtype == "int32" and (c["alpha"], c["beta"]) != (None, None):
        return None
    bias = {"vector": (5,), "matrix": (3, 5), "column": (3, 1), "scalar": (), "absent": None,
            "one": (1,)}[c["bias"]]  # fmt: skip
    if bias is None and c.since < 11:
        return None
    slots = [t(*a), t(*b)] + ([] if bias is None else [t(*bias)])
    params = {"transA": c["transA"], "transB": c["transB"], "alpha": c["alpha"], "beta": c["beta"]}
    return Draft(slots, params)


EQUATIONS: dict[str, tuple[tuple[int, ...], ...]] = {
    "ij,jk->ik": ((2, 3), (3, 4)),
    "bij,bjk->bik": ((2, 2, 3), (2, 3, 4)),
    "...ij,...jk->...ik": ((2, 2, 3), (2, 3, 4)),
    "ij->ji": ((2, 3),),
    "ij->": ((2, 3),),
    "ij->i": ((2, 3),),
    "ii->i": ((3, 3),),
    "ii->": ((3, 3),),
    "i,i->": ((4,), (4,)),
    "i,j->ij": ((3,), (4,)),
    "bhqd,bhkd->bhqk": ((1, 2, 3, 4), (1, 2, 5, 4)),
    "bhqk,bhkd->bqhd": ((1, 2, 3, 5), (1, 2, 5, 4)),
    "ij,jk": ((2, 3), (3, 4)),
    "ij,jk,kl->il": ((2, 3), (3, 2), (2, 4)),
    "b...i,i->b...": ((2, 3, 4), (4,)),
    "...->...": ((2, 3),),
    "bn,anm,bm->ba": ((2, 3), (4, 3, 2), (2, 2)),
}


def _einsum(c: Choice) -> Draft:
    shapes = EQUATIONS[c["equation"]]
    return Draft([t(*shape) for shape in shapes], {"equation": c["equation"]})


HIDDEN, SIZE, BATCH, STEPS = 4, 3, 2, 5
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def _recurrent(c: Choice) -> Draft | None:
    gates, ways = GATES[c.op], 2 if c["direction"] == "bidirectional" else 1
    batch_first = bool(c["layout"])
    x = (BATCH, STEPS, SIZE) if batch_first else (STEPS, BATCH, SIZE)
    state = (BATCH, ways, HIDDEN) if batch_first else (ways, BATCH, HIDDEN)
    slots: list[Any] = [
        t(*x),
        t(ways, gates * HIDDEN, SIZE, kind="small"),
        t(ways, gates * HIDDEN, HIDDEN, kind="small"),
        t(ways, 2 * gates * HIDDEN, kind="small") if c["bias"] else None,
        v([5, 3], "int32") if c["lengths"] else None,
        t(*state) if c["initial"] else None,
    ]
    if c.op == "LSTM":
        slots.append(t(*state) if c["initial"] else None)
        slots.append(t(ways, 3 * HIDDEN, kind="small") if c["peephole"] else None)
    while slots[-1] is None:
        slots.pop()
    params: dict[str, Any] = {
        "hidden_size": HIDDEN, "direction": c["direction"], "layout": c["layout"] or None,
        "clip": c["clip"],
    }  # fmt: skip
    for name in ("linear_before_reset", "input_forget"):
        if name in c.values:
            params[name] = c[name]
    if c["activations"]:
        chosen = {"RNN": ["Relu"], "GRU": ["HardSigmoid", "Softsign"],
                  "LSTM": ["HardSigmoid", "Tanh", "Softsign"]}[c.op]  # fmt: skip
        params["activations"] = chosen * ways
    return Draft(slots, params, 3 if c.op == "LSTM" else 2)


def _attention(c: Choice) -> Draft | None:
    heads, kv, size = 4, {"same": 4, "grouped": 2, "one": 1}[c["kv"]], 4
    q_length, k_length = (3, 5) if not c["causal"] else (4, 4)
    q: tuple[int, ...]
    keys: tuple[int, ...]
    if c["rank"] == 3:
        q, keys = (2, q_length, heads * size), (2, k_length, kv * size)
    else:
        q, keys = (2, heads, q_length, size), (2, kv, k_length, size)
    mask = {
        "absent": None,
        "bool": v([[(i + j) % 3 != 2 for j in range(k_length)] for i in range(q_length)], "bool"),
        "float": t(q_length, k_length),
        "huge": v([[-1e4 if (i + j) % 3 == 2 else 0 for j in range(k_length)]
                   for i in range(q_length)], ""),
        "batched": t(2, 1, q_length, k_length),
    }[c["mask"]]  # fmt: skip
    params = {
        "is_causal": c["causal"],
        "scale": c["scale"],
        "softcap": c["softcap"],
        "q_num_heads": heads if c["rank"] == 3 else None,
        "kv_num_heads": kv if c["rank"] == 3 else None,
    }
    slots: list[Any] = [t(*q), t(*keys), t(*keys)]
    if mask is not None:
        slots.append(mask)
    return Draft(slots, params)


def _rotary(c: Choice) -> Draft:
    size = 8
    turned = {"full": size, "partial": 4}[c["turned"]]
    shape = (2, 2, 3, size) if c["rank"] == 4 else (2, 3, 2 * size)
    table = (5, turned // 2) if c["positions"] else (2, 3, turned // 2)
    slots: list[Any] = [t(*shape), t(*table, kind="signed_unit"), t(*table, kind="signed_unit")]
    if c["positions"]:
        slots.append(v([[0, 1, 2], [4, 2, 0]]))
    params = {
        "interleaved": c["interleaved"],
        "num_heads": 2 if c["rank"] == 3 else None,
        "rotary_embedding_dim": turned if turned != size else None,
    }
    return Draft(slots, params)


def _integer_product(c: Choice) -> Draft:
    first, second = OPERANDS[c["form"]]
    slots = [t(*first, kind="wide"), t(*second, kind="wide", dtype=c["weights"])]
    if c["zero"]:
        slots += [v(3, ""), v(2, c["weights"])]
    return Draft(slots)


def _quantized_product(c: Choice) -> Draft:
    first, second = OPERANDS[c["form"]]
    zero = 128 if c.dtype == "uint8" else 0
    columns = second[-1]
    per_column = c["zero"] == "per-column"
    steps: Any = [2.0 ** -(6 + at % 2) for at in range(columns)] if per_column else 2.0**-6
    zeros: Any = [0] * columns if per_column else 0
    slots: list[Any] = [
        t(*first, kind="wide"), k(2.0**-5, "float"), k(zero, ""),
        t(*second, kind="wide", dtype=c["weights"]), k(steps, "float"), k(zeros, c["weights"]),
        k(2.0**-1, "float"), k(zero, ""),
    ]  # fmt: skip
    return Draft(slots)


def _free(c: Choice) -> Draft:
    return Draft([t(*c.shape)], attributes(c))


_RECURRENT = {
    "direction": (None, "reverse", "bidirectional"),
    "layout": (0, From(14, 1)),
    "bias": (1, 0),
    "lengths": (0, 1),
    "initial": (0, 1),
    "clip": (None, 0.5),
    "activations": (None, "other"),
}
_REAL = ("float", "double", "float16")
# ONNX Runtime has no batch first and no double here, the evaluator none of the rest.
_UNANSWERED = tuple(
    {limited: options, name: asked}
    for limited, options in (("layout", (1,)), ("dtype", ("double", "float16")))
    for name, asked in (
        ("lengths", (1,)),
        ("clip", (0.5,)),
        ("activations", ("other",)),
        ("input_forget", (1,)),
    )
)
SPECS = (
    Spec("MatMul", _matmul, {"form": tuple(OPERANDS), "values": ("plain", "small")},
         dtypes=(*FLOATS, "int32", "int64"), budget=24, older=5),
    Spec("Gemm", _gemm, {"transA": (None, 1), "transB": (None, 1), "alpha": (None, 0.5),
         "beta": (None, 2.0), "bias": ("vector", "matrix", "column", "scalar", "absent", "one")},
         dtypes=(*FLOATS, "int32"), budget=20, older=4),
    Spec("Einsum", _einsum, {"equation": tuple(EQUATIONS)}, dtypes=("float", "double", "int64",
         "int32", "float16"), budget=24, older=7),
    Spec("RNN", _recurrent, _RECURRENT, without=_UNANSWERED, dtypes=_REAL, budget=20, older=6),
    Spec("GRU", _recurrent, {**_RECURRENT, "linear_before_reset": (None, 1)},
         without=_UNANSWERED, dtypes=_REAL, budget=24, older=8),
    Spec("LSTM", _recurrent, {**_RECURRENT, "peephole": (0, 1), "input_forget": (None, 1)},
         without=_UNANSWERED, dtypes=_REAL, budget=24, older=8),
    Spec("Attention", _attention, {"rank": (4, 3), "kv": ("same", "grouped", "one"), "mask":
         ("absent", "bool", "float", "huge", "batched"), "causal": (None, 1), "scale": (None,
         0.25), "softcap": (None, 2.0)}, dtypes=("float", "float16", "bfloat16"), budget=20,
         older=4),
    Spec("RotaryEmbedding", _rotary, {"rank": (4, 3), "turned": ("full", "partial"),
         "interleaved": (None, 1), "positions": (1, 0)}, dtypes=("float", "float16", "bfloat16"),
         budget=12),
    Spec("MatMulInteger", _integer_product, {"form": ("2d", "3d", "4d", "right-2d"), "weights":
         ("int8", "uint8"), "zero": (0, 1)}, dtypes=("uint8", "int8"), budget=10),
    Spec("QLinearMatMul", _quantized_product, {"form": ("2d", "3d", "right-2d"), "weights":
         ("int8", "uint8"), "zero": ("per-tensor", "per-column")}, dtypes=("uint8", "int8"),
         budget=12, second=False),
)  # fmt: skip
