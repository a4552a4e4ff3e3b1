"""The dimensions of every operator's variants, one file a family; operators by worth in each."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from probes.cases.variants.vocabulary import Spec

FAMILIES = (
    "resize",
    "windows",
    "reduction",
    "elementwise",
    "casting",
    "layout",
    "indexing",
    "products",
    "normalization",
    "collections",
    "classic",
)


def all_specs() -> Iterator[Spec]:
    """Every row of every family, in a fixed order."""
    for family in FAMILIES:
        yield from import_module(f"{__name__}.{family}").SPECS
