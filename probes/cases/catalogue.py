"""Where cases come from: the official node tests, the tables of this package, and packs."""

from __future__ import annotations

from collections.abc import Iterator

from probes.cases.case import Case
from probes.cases.node_tests import node_cases
from probes.cases.pack import CaseStore, read_pack, write_pack

__all__ = [
    "CaseStore",
    "alternative_cases",
    "mainstream_cases",
    "node_cases",
    "pattern_cases",
    "read_pack",
    "write_pack",
]


def mainstream_cases() -> Iterator[Case]:
    """Operators in the form in which published models contain them, built one at a time."""
    from probes.cases.build import build_cases

    yield from build_cases()


def pattern_cases() -> Iterator[Case]:
    """Several nodes that models contain as one thing, built one at a time."""
    from probes.cases.build_patterns import build_patterns

    yield from build_patterns()


def alternative_cases() -> Iterator[Case]:
    """Other graphs for the computations of mainstream cases, built one at a time."""
    from probes.cases.alternatives import build_alternatives

    yield from build_alternatives()
