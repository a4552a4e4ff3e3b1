"""What a row of the variant tables says: the dimensions of an operator, and a node for a choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx

DTYPES = (
    "float", "float16", "bfloat16", "double", "uint8", "int8", "int32", "int64", "bool",
    "float8e4m3fn", "float8e5m2", "int4", "uint4",
)  # fmt: skip
FLOATS = ("float", "float16", "bfloat16", "double")
WHOLE = ("int64", "int32", "uint8", "int8")
# A shape of each rank, no two dimensions of one shape alike where that is short.
SHAPES: dict[int, tuple[int, ...]] = {
    0: (),
    1: (12,),
    2: (4, 6),
    3: (2, 3, 5),
    4: (2, 3, 4, 5),
    5: (2, 3, 1, 4, 3),
}
ONNX_DOMAIN = "ai.onnx"


@dataclass(frozen=True)
class Slot:
    """An input tensor: drawn by a kind of values, or given.

    `dtype` "" is the type of the choice; a `tensor` may be constant or variable as the choice
    says, `fixed` makes it constant (True) or variable (False) whatever the choice.
    """

    shape: tuple[int, ...]
    kind: str = "plain"
    dtype: str = ""
    values: Any = None
    fixed: bool | None = None


def t(*shape: int, kind: str = "plain", dtype: str = "", fixed: bool | None = None) -> Slot:
    """A tensor with drawn values."""
    return Slot(tuple(shape), kind, dtype, None, fixed)


def v(values: Any, dtype: str = "int64", fixed: bool | None = None) -> Slot:
    """A tensor with these values; `dtype` "" for that of the choice."""
    return Slot(np.shape(values), "", dtype, values, fixed)


def k(values: Any, dtype: str = "int64") -> Slot:
    """A constant with these values whatever the choice."""
    return v(values, dtype, True)


@dataclass(frozen=True)
class Draft:
    """The node of one choice. `params` are attributes or inputs, as the schema of the version has
    them by name; a None there is left out. `nodes` stand before the node (names and all)."""

    slots: Sequence[Slot | Sequence[Slot] | None]
    params: Mapping[str, Any] = field(default_factory=dict)
    outputs: int = 1


@dataclass(frozen=True)
class Choice:
    """One value of every dimension, for one version of an operator."""

    op: str
    since: int
    schema: Any
    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def dtype(self) -> str:
        return str(self.values["dtype"])

    @property
    def kind(self) -> str:
        return str(self.values.get("values", "plain"))

    @property
    def shape(self) -> tuple[int, ...]:
        return SHAPES[int(self.values["rank"])]

    def has(self, name: str) -> bool:
        """Whether this version has a parameter of this name, as attribute or as input."""
        return name in self.schema.attributes or input_at(self.schema, name) is not None


Make = Callable[[Choice], Draft | None]


@dataclass(frozen=True)
class From:
    """A value that a dimension has only from this version on, or only before another."""

    since: int
    value: Any
    before: int = 10**6


@dataclass(frozen=True)
class Spec:
    """A row: these operators (names between blanks) vary in `dims`, and `make` gives the node.

    Added by itself: "dtype" (what the schema allows at input `typed` of `dtypes`), "inputs" where
    the node has a second tensor, "sizes" (static or dynamic dimensions). `without`: combinations
    that mean nothing. `budget` is for the version that exporters write most, `older` for others.
    """

    ops: str
    make: Make
    dims: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    without: Sequence[Mapping[str, Sequence[Any]]] = ()
    budget: int = 12
    older: int = 3
    typed: int = 0
    dtypes: Sequence[str] = DTYPES
    domain: str = ONNX_DOMAIN
    second: bool = True
    sizes: Sequence[str] = ("static", "dynamic")
    since: int = 0  # the first version that the row speaks of
    compare: str = "values"
    rtol: float = 0.0  # 0: by data type
    full: bool = False  # more than pairs: every combination, as far as the budget goes
    version: str = "v1"


def input_at(schema: onnx.defs.OpSchema, name: str) -> int | None:
    """The place of the input of this name (any case)."""
    for at, formal in enumerate(schema.inputs):
        if formal.name.lower() == name.lower():
            return at
    return None


def attributes(choice: Choice) -> dict[str, Any]:
    """The dimensions that are attributes of this version, under their own names."""
    return {name: choice[name] for name in choice.values if name in choice.schema.attributes}
