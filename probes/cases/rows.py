"""The vocabulary of the mainstream tables: what a row says of one case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MAINSTREAM_OPSET = 17
MAINSTREAM_IR = 8


@dataclass(frozen=True)
class Feed:
    """One input of the node: drawn by a fill, or given; a constant becomes an initializer."""

    shape: tuple[int, ...]
    fill: str
    constant: bool
    values: Any = None


def x(*shape: int, fill: str = "normal") -> Feed:
    """A run-time input."""
    return Feed(shape, fill, constant=False)


def w(*shape: int, fill: str = "small") -> Feed:
    """A constant input with drawn contents: weights, statistics, tables."""
    return Feed(shape, fill, constant=True)


def c(values: Any, dtype: str = "<i8") -> Feed:
    """A constant input with these values (axes, pads, scales, bounds): int64 unless said."""
    array = np.asarray(values, dtype)
    return Feed(array.shape, "", constant=True, values=array)


def f(values: Any) -> Feed:
    """A float32 constant with these values."""
    return c(values, "<f4")


def given(values: Any, dtype: str) -> Feed:
    """A run-time input with these values."""
    array = np.asarray(values, dtype)
    return Feed(array.shape, "", constant=False, values=array)


@dataclass(frozen=True)
class Row:
    """One mainstream case: `op` on `feeds` (None: an omitted input), as `cite` contains it.

    `label` ends the stable name and carries its version. `rtol` is relative to the largest
    expected value of an output. `captured` feeds are outer0, outer1, ... for the node's bodies;
    not `static` leaves the output shapes open. `agree`: "both" oracles give the expected values, or
    only "one" (the other is wrong or cannot run it).
    """

    op: str
    label: str
    feeds: Sequence[Feed | None]
    cite: str
    attrs: Mapping[str, Any] = field(default_factory=dict)
    opset: int = MAINSTREAM_OPSET
    ir: int = MAINSTREAM_IR
    domain: str = "ai.onnx"
    outputs: int = 1
    captured: Sequence[Feed] = ()
    static: bool = True
    rtol: float = 1e-4
    atol: float = 0.0
    agree: str = "both"

    @property
    def name(self) -> str:
        return f"mainstream/{self.op}/{self.label}"
