"""Matrix products, attention and recurrent cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from probes.cases.references.base import (
    Array,
    Attrs,
    Inputs,
    Outputs,
    Reference,
    optional,
    sigmoid,
    softmax,
)


def _gemm(inputs: Inputs, attrs: Attrs) -> Outputs:
    a = inputs[0].T if attrs.get("transA") else inputs[0]
    b = inputs[1].T if attrs.get("transB") else inputs[1]
    out = attrs.get("alpha", 1.0) * (a @ b)
    bias = optional(inputs, 2)
    return (out if bias is None else out + attrs.get("beta", 1.0) * bias,)


def _einsum(inputs: Inputs, attrs: Attrs) -> Outputs:
    """Products over a common set of axes, summed over those that the result lacks."""
    terms, result = attrs["equation"].replace(" ", "").split("->")
    letters = sorted(set(terms) - {","})
    total: Any = 1.0
    for term, operand in zip(terms.split(","), inputs, strict=True):
        present = [letter for letter in letters if letter in term]
        ordered = operand.transpose([term.index(letter) for letter in present])
        sizes = iter(ordered.shape)
        total = total * ordered.reshape([next(sizes) if v in term else 1 for v in letters])
    summed = total.sum(axis=tuple(i for i, v in enumerate(letters) if v not in result))
    left = [letter for letter in letters if letter in result]
    return (summed.transpose([left.index(letter) for letter in result]),)


def _attention(inputs: Inputs, attrs: Attrs) -> Outputs:
    """softmax(q kT scale + mask) v; q (B, H, T, D) or (B, T, H * D); fewer key heads repeat."""
    flat = inputs[0].ndim == 3
    q_heads, kv_heads = attrs.get("q_num_heads", 0), attrs.get("kv_num_heads", 0)
    query = _heads(inputs[0], q_heads)
    key, value = (_heads(part, kv_heads) for part in inputs[1:3])
    repeat = query.shape[1] // key.shape[1]
    key, value = np.repeat(key, repeat, axis=1), np.repeat(value, repeat, axis=1)
    scale = attrs.get("scale", 1 / np.sqrt(query.shape[-1]))
    scores = query @ key.swapaxes(-1, -2) * scale
    mask = optional(inputs, 3)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == np.bool_ else scores + mask
    if attrs.get("is_causal", 0):
        future = np.triu(np.ones(scores.shape[-2:], np.bool_), 1)
        scores = np.where(future, -np.inf, scores)
    out = softmax(scores) @ value
    return (out.swapaxes(1, 2).reshape(*inputs[0].shape[:2], -1) if flat else out,)


def _heads(part: Array, count: int) -> Array:
    if part.ndim == 4:
        return part
    batch, length, width = part.shape
    return part.reshape(batch, length, count, width // count).swapaxes(1, 2)


def _multi_head_attention(inputs: Inputs, attrs: Attrs) -> Outputs:
    heads = attrs["num_heads"]
    return _attention(inputs[:3], {"q_num_heads": heads, "kv_num_heads": heads})


def _rotary(inputs: Inputs, attrs: Attrs) -> Outputs:
    """Rotates the halves of the last axis of x (B, H, T, D) by tables (T, D / 2)."""
    x, cos, sin = inputs[:3]
    positions = optional(inputs, 3)
    if positions is not None:
        cos, sin = cos[positions][:, None], sin[positions][:, None]
    first, second = np.split(x, 2, axis=-1)
    return (np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1),)


def _directions(attrs: Attrs) -> list[int]:
    """The steps through time of each direction: 1 forwards, -1 backwards."""
    return {"forward": [1], "reverse": [-1], "bidirectional": [1, -1]}[
        attrs.get("direction", "forward")
    ]


def _recurrent(inputs: Inputs, attrs: Attrs, cell: Any, states: int) -> Outputs:
    """Runs a cell over x (T, B, I); W (D, G*H, I), R (D, G*H, H), B (D, 2*G*H)."""
    x, weights, recurrent = inputs[:3]
    hidden, steps = attrs["hidden_size"], x.shape[0]
    bias = optional(inputs, 3, np.zeros((weights.shape[0], 2 * weights.shape[1])))
    zero = np.zeros((weights.shape[0], x.shape[1], hidden))
    start = [optional(inputs, 5 + i, zero) for i in range(states)]
    outputs = np.zeros((steps, weights.shape[0], x.shape[1], hidden))
    last: list[list[Array]] = [[] for _ in range(states)]
    for d, step in enumerate(_directions(attrs)):
        state = [part[d] for part in start]
        for t in range(steps)[::step]:
            state = cell(x[t], state, weights[d], recurrent[d], np.split(bias[d], 2), attrs)
            outputs[t, d] = state[0]
        for kept, part in zip(last, state, strict=True):
            kept.append(part)
    return (outputs, *(np.stack(parts) for parts in last))


def _lstm_cell(x: Array, state: Any, w: Array, r: Array, b: Any, attrs: Attrs) -> list[Array]:
    hidden, memory = state
    gates = x @ w.T + hidden @ r.T + b[0] + b[1]
    into, out, forget, new = np.split(gates, 4, axis=-1)
    memory = sigmoid(forget) * memory + sigmoid(into) * np.tanh(new)
    return [sigmoid(out) * np.tanh(memory), memory]


def _gru_cell(x: Array, state: Any, w: Array, r: Array, b: Any, attrs: Attrs) -> list[Array]:
    hidden = state[0]
    wz, wr, wh = np.split(x @ w.T + b[0], 3, axis=-1)
    rz, rr, rh = np.split(r, 3)
    bz, br, bh = np.split(b[1], 3)
    update, reset = sigmoid(wz + hidden @ rz.T + bz), sigmoid(wr + hidden @ rr.T + br)
    if attrs.get("linear_before_reset", 0):
        new = np.tanh(wh + reset * (hidden @ rh.T + bh))
    else:
        new = np.tanh(wh + (reset * hidden) @ rh.T + bh)
    return [(1 - update) * new + update * hidden]


def _rnn_cell(x: Array, state: Any, w: Array, r: Array, b: Any, attrs: Attrs) -> list[Array]:
    return [np.tanh(x @ w.T + state[0] @ r.T + b[0] + b[1])]


PRODUCTS: dict[str, Reference] = {
    "MatMul": lambda i, a: (i[0] @ i[1],),
    "Gemm": _gemm,
    "Einsum": _einsum,
    "Attention": _attention,
    "MultiHeadAttention": _multi_head_attention,
    "RotaryEmbedding": _rotary,
    "LSTM": lambda i, a: _recurrent(i, a, _lstm_cell, 2),
    "GRU": lambda i, a: _recurrent(i, a, _gru_cell, 1),
    "RNN": lambda i, a: _recurrent(i, a, _rnn_cell, 1),
}
