"""Convolutions and pools: the window, and the data around it."""

from __future__ import annotations

from probes.cases.limits.row import LimitRow, Node
from probes.cases.rows import w, x


def _conv(
    *, n: int = 1, c: int = 4, h: int = 8, wide: int = 8, m: int = 4, k: int = 3, s: int = 1,
    d: int = 1, p: int = 1, g: int = 1,
) -> Node:  # fmt: skip
    attrs = {
        "kernel_shape": [k, k], "strides": [s, s], "dilations": [d, d], "pads": [p] * 4, "group": g,
    }  # fmt: skip
    return Node((x(n, c, h, wide), w(m, c // g, k, k, fill="conv"), w(m)), attrs)


def _transposed(
    *, c: int = 4, h: int = 8, wide: int = 8, m: int = 4, k: int = 2, s: int = 2, p: int = 0
) -> Node:
    attrs = {"kernel_shape": [k, k], "strides": [s, s], "pads": [p] * 4}
    return Node((x(1, c, h, wide), w(c, m, k, k, fill="conv"), w(m)), attrs)


def _pool(
    *, n: int = 1, c: int = 4, h: int = 8, wide: int = 8, k: int = 2, s: int = 1, p: int = 0
) -> Node:
    attrs = {"kernel_shape": [k, k], "strides": [s, s], "pads": [p] * 4}
    return Node((x(n, c, h, wide),), attrs)


# op, parameter, kind, operand, least, usual, most, value -> node
# fmt: off
ROWS = (
    LimitRow("Conv", "kernel", "attribute", "kernel_shape", 1, 3, 128,
             lambda v: _conv(c=2, m=2, k=v, p=0, h=v + 3, wide=v + 3)),
    LimitRow("Conv", "stride", "attribute", "strides", 1, 1, 128,
             lambda v: _conv(s=v, p=0, h=2 * v + 3, wide=2 * v + 3)),
    LimitRow("Conv", "dilation", "attribute", "dilations", 1, 1, 128,
             lambda v: _conv(d=v, p=0, h=2 * v + 3, wide=2 * v + 3)),
    LimitRow("Conv", "pad", "attribute", "pads", 0, 1, 128, lambda v: _conv(p=v)),
    LimitRow("Conv", "channels", "dimension", "X", 1, 16, 8192, lambda v: _conv(c=v, h=4, wide=4)),
    LimitRow("Conv", "filters", "dimension", "W", 1, 16, 8192, lambda v: _conv(m=v, h=4, wide=4)),
    LimitRow("Conv", "depthwise channels", "attribute", "group", 1, 16, 4096,
             lambda v: _conv(c=v, m=v, g=v)),
    LimitRow("Conv", "height", "dimension", "X", 1, 16, 16384, lambda v: _conv(h=v, wide=4)),
    LimitRow("Conv", "width", "dimension", "X", 1, 16, 16384, lambda v: _conv(h=4, wide=v)),
    LimitRow("Conv", "batch", "dimension", "X", 1, 1, 512, lambda v: _conv(n=v)),
    LimitRow("ConvTranspose", "kernel", "attribute", "kernel_shape", 1, 2, 64,
             lambda v: _transposed(c=2, m=2, k=v)),
    LimitRow("ConvTranspose", "stride", "attribute", "strides", 1, 2, 64,
             lambda v: _transposed(c=2, m=2, s=v, k=max(v, 2), h=4, wide=4)),
    LimitRow("ConvTranspose", "pad", "attribute", "pads", 0, 0, 32,
             lambda v: _transposed(p=v, k=2 * v + 2)),
    LimitRow("ConvTranspose", "channels", "dimension", "X", 1, 16, 8192,
             lambda v: _transposed(c=v, h=4, wide=4)),
    LimitRow("ConvTranspose", "height", "dimension", "X", 1, 16, 8192,
             lambda v: _transposed(h=v, wide=4)),
    LimitRow("MaxPool", "kernel", "attribute", "kernel_shape", 1, 2, 128,
             lambda v: _pool(k=v, h=v + 3, wide=v + 3)),
    LimitRow("MaxPool", "stride", "attribute", "strides", 1, 2, 128,
             lambda v: _pool(s=v, h=2 * v + 2, wide=2 * v + 2)),
    LimitRow("MaxPool", "pad", "attribute", "pads", 0, 1, 32, lambda v: _pool(k=v + 1, p=v)),
    LimitRow("MaxPool", "channels", "dimension", "X", 1, 16, 16384,
             lambda v: _pool(c=v, h=4, wide=4)),
    LimitRow("MaxPool", "height", "dimension", "X", 2, 16, 16384, lambda v: _pool(h=v, wide=4)),
    LimitRow("MaxPool", "batch", "dimension", "X", 1, 1, 512, lambda v: _pool(n=v)),
    LimitRow("AveragePool", "kernel", "attribute", "kernel_shape", 1, 2, 128,
             lambda v: _pool(k=v, h=v + 3, wide=v + 3)),
    LimitRow("AveragePool", "stride", "attribute", "strides", 1, 2, 128,
             lambda v: _pool(s=v, h=2 * v + 2, wide=2 * v + 2)),
    LimitRow("AveragePool", "height", "dimension", "X", 2, 16, 16384, lambda v: _pool(h=v, wide=4)),
    LimitRow("GlobalAveragePool", "side", "dimension", "X", 1, 8, 512,
             lambda v: Node((x(1, 4, v, v),))),
    LimitRow("GlobalAveragePool", "channels", "dimension", "X", 1, 16, 16384,
             lambda v: Node((x(1, v, 4, 4),))),
)
