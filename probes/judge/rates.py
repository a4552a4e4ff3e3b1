"""How many of the nodes of real models pass, each node counted once, and as often as it occurs."""

from collections.abc import Iterable
from typing import NamedTuple

from probes.judge.tally import STANDINGS

PASSES = frozenset({"passed", "close"})


class Node(NamedTuple):
    """A distinct node on one target: how its probes ended, and how often it occurs."""

    outcomes: tuple[str, ...]  # one for each form in which it was presented
    occurs: int


class Rate(NamedTuple):
    """Of `total` distinct nodes `passed` pass; of their `occurrences` in models `passing` do.

    `unseen` were accepted and nothing was compared; they are in the totals and do not pass.
    """

    passed: int
    total: int
    passing: int
    occurrences: int
    unseen: int

    @property
    def percent(self) -> int:
        """Of the distinct nodes."""
        return floor_percent(self.passed, self.total)

    @property
    def weighted_percent(self) -> int:
        """Of their occurrences."""
        return floor_percent(self.passing, self.occurrences)


def rate_nodes(nodes: Iterable[Node]) -> Rate | None:
    """The rate over nodes with an attributable outcome; None where there is none."""
    known = [node for node in nodes if not STANDINGS.keys().isdisjoint(node.outcomes)]
    if not known:
        return None
    passing = [node for node in known if not PASSES.isdisjoint(node.outcomes)]
    return Rate(
        passed=len(passing),
        total=len(known),
        passing=sum(node.occurs for node in passing),
        occurrences=sum(node.occurs for node in known),
        unseen=sum(1 for node in known if set(node.outcomes) & STANDINGS.keys() == {"compiled"}),
    )


def floor_percent(part: int, whole: int) -> int:
    """Whole percent, cut off: 100 is only said of all, 0 of nothing at all."""
    return part * 100 // whole if whole else 0
