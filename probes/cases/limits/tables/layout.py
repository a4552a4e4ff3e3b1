"""Operators that move elements, and element-wise ones: ranks, counts and sizes."""

from __future__ import annotations

import numpy as np

from probes.cases.limits.row import LimitRow, Node
from probes.cases.limits.tables.statistics import cube
from probes.cases.rows import c, f, x


def _resize(mode: str, scale: int) -> Node:
    where = "asymmetric" if mode == "nearest" else "half_pixel"
    attrs = {"mode": mode, "coordinate_transformation_mode": where, "nearest_mode": "floor"}
    return Node((x(1, 4, 4, 4), None, f([1, 1, scale, scale])), attrs)


def _concat(count: int) -> Node:
    return Node(tuple(x(1, 2, 4) for _ in range(count)), {"axis": 1})


def _split(count: int) -> Node:
    return Node((x(1, 2 * count, 4), c([2] * count)), {"axis": 1}, outputs=count)


def _gather(rows: int, picked: int) -> Node:
    wanted = (np.arange(picked) * 7919 + rows - 1) % rows  # the last row is among them
    return Node((x(rows, 8), c(wanted)), {"axis": 0})


# fmt: off
ROWS = (
    LimitRow("Concat", "inputs", "count", "inputs", 1, 2, 256, _concat),
    LimitRow("Concat", "rank", "rank", "inputs", 1, 3, 10,
             lambda v: Node((x(*cube(v)), x(*cube(v))), {"axis": -1})),
    LimitRow("Split", "outputs", "count", "outputs", 1, 2, 256, _split),
    LimitRow("Transpose", "rank", "rank", "data", 1, 4, 10,
             lambda v: Node((x(*cube(v)),), {"perm": list(range(v))[::-1]})),
    LimitRow("Gather", "rows", "dimension", "data", 1, 16, 65536, lambda v: _gather(v, 4)),
    LimitRow("Gather", "picked", "dimension", "indices", 1, 4, 16384, lambda v: _gather(64, v)),
    LimitRow("Slice", "step", "attribute", "steps", 1, 1, 64,
             lambda v: Node((x(1, 4, 2 * v + 1, 4), c([0]), c([2 * v + 1]), c([2]), c([v])))),
    LimitRow("Slice", "rank", "rank", "data", 1, 4, 10,
             lambda v: Node((x(*cube(v)), c([1]), c([4]), c([v - 1]), c([1])))),
    LimitRow("Pad", "pad", "attribute", "pads", 0, 1, 256,
             lambda v: Node((x(1, 4, 4, 4), c([0, 0, v, v, 0, 0, v, v])), {"mode": "constant"})),
    LimitRow("Pad", "rank", "rank", "data", 1, 4, 10,
             lambda v: Node((x(*cube(v)), c([0] * (v - 1) + [1] + [0] * (v - 1) + [1])),
                            {"mode": "constant"})),
    LimitRow("Resize", "nearest scale", "attribute", "scales", 1, 2, 64,
             lambda v: _resize("nearest", v)),
    LimitRow("Resize", "linear scale", "attribute", "scales", 1, 2, 64,
             lambda v: _resize("linear", v)),
    LimitRow("DepthToSpace", "block", "attribute", "blocksize", 1, 2, 32,
             lambda v: Node((x(1, 2 * v * v, 4, 4),), {"blocksize": v, "mode": "CRD"})),
    LimitRow("Add", "rank", "rank", "A", 1, 4, 10, lambda v: Node((x(*cube(v)), x(*cube(v))))),
    LimitRow("Add", "length", "dimension", "A", 1, 64, 65536,
             lambda v: Node((x(1, v), x(1, v)))),
    LimitRow("Relu", "rank", "rank", "X", 1, 4, 10, lambda v: Node((x(*cube(v)),))),
    LimitRow("Relu", "length", "dimension", "X", 1, 64, 65536, lambda v: Node((x(1, v),))),
    LimitRow("Sigmoid", "rank", "rank", "X", 1, 4, 10, lambda v: Node((x(*cube(v)),))),
)
