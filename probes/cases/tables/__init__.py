"""The mainstream cases as rows, one file a family. A row never changes: a new label replaces it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from probes.cases.rows import Row

FAMILIES = (
    "conv",
    "matmul",
    "normalization",
    "pooling",
    "activation",
    "elementwise",
    "logic",
    "shape",
    "indexing",
    "resize",
    "detection",
    "reduce",
    "recurrent",
    "attention",
    "quantization",
    "signal",
    "control",
)


def all_rows() -> Iterator[Row]:
    """Every row of every family, in a fixed order."""
    for family in FAMILIES:
        yield from import_module(f"{__name__}.{family}").ROWS
