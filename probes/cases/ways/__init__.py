"""The alternatives as rows, one file a family. A row never changes: a new name replaces it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from probes.cases.way import Way

FAMILIES = (
    "convolution",
    "products",
    "activation",
    "normalization",
    "pooling",
    "resize",
    "layout",
    "attention",
    "selection",
)


def all_ways() -> Iterator[Way]:
    """Every way of every family, in a fixed order."""
    for family in FAMILIES:
        yield from import_module(f"{__name__}.{family}").WAYS
