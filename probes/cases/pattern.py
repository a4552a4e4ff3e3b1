"""The vocabulary of the patterns: several nodes that models contain as one thing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from probes.cases.rows import MAINSTREAM_IR, MAINSTREAM_OPSET, Feed

DOMAIN = "pattern"


@dataclass(frozen=True)
class Pattern:
    """One case of the pattern `name`, as `cite` contains it.

    `nodes` is ONNX text that reads `feeds` by their names and writes y0, y1, ...; `label` ends
    the stable name and carries its version. Not `static` leaves the output shapes open.
    """

    name: str
    label: str
    cite: str
    feeds: Mapping[str, Feed]
    nodes: str
    opset: int = MAINSTREAM_OPSET
    ir: int = MAINSTREAM_IR
    outputs: int = 1
    static: bool = True
    rtol: float = 1e-4

    @property
    def case_name(self) -> str:
        return f"pattern/{self.name}/{self.label}"
