"""The patterns as rows, one file a family. A row never changes: a new label replaces it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from probes.cases.pattern import Pattern

FAMILIES = ("convolution", "activation", "normalization", "attention", "layout", "detection")


def all_patterns() -> Iterator[Pattern]:
    """Every row of every family, in a fixed order; the rows of one pattern follow each other."""
    for family in FAMILIES:
        yield from import_module(f"{__name__}.{family}").PATTERNS


def pattern_names() -> tuple[str, ...]:
    """What the matrix has rows for."""
    return tuple(dict.fromkeys(pattern.name for pattern in all_patterns()))
