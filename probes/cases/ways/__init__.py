"""The alternatives as rows, one file a family. A row never changes: a new name replaces it."""

from __future__ import annotations

import re
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
_STEP = re.compile(r"= (\w+) *[<(]")


def all_ways() -> Iterator[Way]:
    """Every way of every family, in a fixed order."""
    for family in FAMILIES:
        yield from import_module(f"{__name__}.{family}").WAYS


def steps_of(way: Way) -> tuple[str, ...]:
    """The operators of a way in the order in which they first appear."""
    named = _STEP.findall(way.nodes) if way.nodes else [way.op]
    return tuple(dict.fromkeys(named))
