"""The vocabulary of the alternatives: other graphs for the computation of a mainstream case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from probes.cases.fills import Array
from probes.cases.rows import MAINSTREAM_IR, MAINSTREAM_OPSET, Feed


@dataclass(frozen=True)
class Given:
    """What a constant may be made of: the row's tensors by name, its attributes, the output."""

    arrays: Mapping[str, Array]
    attrs: Mapping[str, Any]
    out: tuple[int, ...]

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the data, x0."""
        return tuple(self.arrays["x0"].shape)


# Only +, -, *, / and sqrt, and moves: these give the same bits everywhere, and bits decide the id.
Derived = Callable[[Given], Array]


@dataclass(frozen=True)
class Way:
    """Another graph that computes what the mainstream `rows` (labels) of `op` compute.

    `nodes` is ONNX text that reads x0, x1, ... of the row and `constants`, and writes y0, ...;
    "%(name)s" stands for the row's attributes and for "channels". Without it the row's own node
    is meant, under another opset or with `attrs` laid over its own. `why`: who writes it so.
    `name` carries the version of the case name.
    """

    op: str
    name: str
    rows: Sequence[str]
    why: str
    nodes: str = ""
    constants: Mapping[str, Feed | Derived] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    opset: int = MAINSTREAM_OPSET
    ir: int = MAINSTREAM_IR
    agree: str = "both"


def ints(make: Callable[[Given], Sequence[int]]) -> Derived:
    """A constant of int64 numbers that depend on the row: a shape, axes."""
    return lambda given: np.asarray(make(given), "<i8")


def floats(make: Callable[[Given], Any]) -> Derived:
    """A constant of float32 numbers that depend on the row."""
    return lambda given: np.ascontiguousarray(make(given), "<f4")


def attribute(name: str) -> Derived:
    """An attribute of the row as a float32 scalar: an epsilon, a slope."""
    return floats(lambda given: given.attrs[name])


def reshaped(name: str, *shape: int) -> Derived:
    """A constant of the row in another shape."""
    return floats(lambda given: given[name].reshape(shape))


def full(value: float, make: Callable[[Given], Sequence[int]]) -> Derived:
    """One number everywhere."""
    return floats(lambda given: np.full(tuple(make(given)), value, np.float32))
