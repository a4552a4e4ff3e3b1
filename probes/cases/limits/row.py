"""The vocabulary of the limits: what is varied, from where to where, and the node of each value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from probes.cases.rows import Feed, Row

LIMITS_OPSET = 17
KINDS = ("attribute", "dimension", "rank", "count")


@dataclass(frozen=True)
class Node:
    """What a value makes: inputs and attributes of the one node."""

    feeds: Sequence[Feed | None]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    outputs: int = 1


@dataclass(frozen=True)
class LimitRow:
    """One parameter of `op`: tried upwards from `usual` to `most`, downwards to `least`.

    `kind` says what is varied of `operand` (the operator's own name of an input or attribute):
    the value of an attribute, one dimension of an input, its rank, or how many there are of it.
    """

    op: str
    parameter: str
    kind: str
    operand: str
    least: int
    usual: int
    most: int
    make: Callable[[int], Node]

    @property
    def upwards(self) -> range:
        return range(self.usual, self.most + 1)

    @property
    def downwards(self) -> range:
        return range(self.usual, self.least - 1, -1)

    def row(self, value: int) -> Row:
        """The case's row, in the vocabulary of the mainstream tables."""
        node = self.make(value)
        label = f"{self.parameter}-{value}"
        return Row(
            self.op,
            label,
            node.feeds,
            f"{self.parameter} {value}, in search of a limit",
            node.attrs,
            LIMITS_OPSET,
            outputs=node.outputs,
        )
