"""Products of matrices, and the recurrent layer that is made of them."""

from __future__ import annotations

from probes.cases.limits.row import LimitRow, Node
from probes.cases.rows import w, x


def _matmul(rows: int, inner: int, columns: int) -> Node:
    return Node((x(rows, inner), w(inner, columns, fill="matmul")))


def _stacked(rank: int) -> Node:
    """Both factors at run time, in a stack of `rank` - 2 dimensions."""
    stack = (2,) * (rank - 2)
    return Node((x(*stack, 3, 4), x(*stack, 4, 5)))


def _gemm(rows: int, inner: int, columns: int) -> Node:
    return Node((x(rows, inner), w(inner, columns, fill="matmul"), w(columns)))


def _lstm(steps: int, hidden: int) -> Node:
    gates = 4 * hidden
    feeds = (x(steps, 1, 8), w(1, gates, 8, fill="recurrent"),
             w(1, gates, hidden, fill="recurrent"), w(1, 2 * gates))  # fmt: skip
    return Node(feeds, {"hidden_size": hidden}, outputs=3)


# fmt: off
ROWS = (
    LimitRow("MatMul", "inner length", "dimension", "A", 1, 16, 65536,
             lambda v: _matmul(4, v, 4)),
    LimitRow("MatMul", "rows", "dimension", "A", 1, 16, 65536, lambda v: _matmul(v, 8, 4)),
    LimitRow("MatMul", "columns", "dimension", "B", 1, 16, 65536, lambda v: _matmul(4, 8, v)),
    LimitRow("MatMul", "rank", "rank", "A", 2, 2, 10, _stacked),
    LimitRow("Gemm", "inner length", "dimension", "A", 1, 16, 65536, lambda v: _gemm(4, v, 4)),
    LimitRow("Gemm", "columns", "dimension", "B", 1, 16, 65536, lambda v: _gemm(4, 8, v)),
    LimitRow("Gemm", "rows", "dimension", "A", 1, 1, 4096, lambda v: _gemm(v, 8, 4)),
    LimitRow("LSTM", "steps", "dimension", "X", 1, 4, 256, lambda v: _lstm(v, 8)),
    LimitRow("LSTM", "hidden size", "attribute", "hidden_size", 1, 8, 512, lambda v: _lstm(2, v)),
)
