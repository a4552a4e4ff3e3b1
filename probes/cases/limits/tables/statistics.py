"""Reductions, normalizations and selections: how long, in how many dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from probes.cases.limits.row import LimitRow, Node
from probes.cases.rows import c, w, x


def cube(rank: int, last: int = 4) -> tuple[int, ...]:
    """A small shape of this rank, none of its sizes like the next."""
    return (1, *(2 + at % 2 for at in range(rank - 2)), last)[-rank:]


def _along(length: int, attrs: Mapping[str, Any], outputs: int = 1) -> Node:
    return Node((x(1, 4, length),), attrs, outputs)


def _top(k: int, *shape: int) -> Node:
    return Node((x(*shape, fill="distinct"), c([k])), {"axis": -1}, outputs=2)


def _layer(shape: tuple[int, ...]) -> Node:
    feeds = (x(*shape), w(shape[-1], fill="positive"), w(shape[-1]))
    return Node(feeds, {"axis": -1, "epsilon": 1e-5})


# fmt: off
ROWS = (
    LimitRow("Softmax", "length", "dimension", "input", 1, 16, 65536,
             lambda v: _along(v, {"axis": -1})),
    LimitRow("Softmax", "rank", "rank", "input", 1, 3, 10,
             lambda v: Node((x(*cube(v)),), {"axis": -1})),
    LimitRow("LayerNormalization", "length", "dimension", "X", 2, 16, 65536,
             lambda v: _layer((1, 4, v))),
    LimitRow("LayerNormalization", "rank", "rank", "X", 1, 3, 10, lambda v: _layer(cube(v, 8))),
    LimitRow("BatchNormalization", "channels", "dimension", "X", 1, 16, 16384,
             lambda v: Node((x(1, v, 4, 4), w(v, fill="positive"), w(v), w(v),
                             w(v, fill="positive")), {"epsilon": 1e-5})),
    LimitRow("ReduceMean", "length", "dimension", "data", 1, 16, 65536,
             lambda v: _along(v, {"axes": [-1], "keepdims": 1})),
    LimitRow("ReduceMean", "rank", "rank", "data", 1, 3, 10,
             lambda v: Node((x(*cube(v)),), {"axes": [-1], "keepdims": 1})),
    LimitRow("ReduceMax", "length", "dimension", "data", 1, 16, 65536,
             lambda v: _along(v, {"axes": [-1], "keepdims": 1})),
    LimitRow("ReduceMax", "rank", "rank", "data", 1, 3, 10,
             lambda v: Node((x(*cube(v)),), {"axes": [-1], "keepdims": 1})),
    LimitRow("ArgMax", "length", "dimension", "data", 1, 16, 65536,
             lambda v: Node((x(1, 4, v, fill="distinct"),), {"axis": -1, "keepdims": 1})),
    LimitRow("TopK", "k", "attribute", "K", 1, 5, 1024, lambda v: _top(v, 1, 1024)),
    LimitRow("TopK", "length", "dimension", "X", 5, 16, 65536, lambda v: _top(5, 1, v)),
    LimitRow("TopK", "rank", "rank", "X", 1, 2, 10, lambda v: _top(2, *cube(v))),
)
