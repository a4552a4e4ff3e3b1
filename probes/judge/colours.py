"""The three-colour list: for each operator its worst level over some targets, and where."""

from collections.abc import Mapping
from typing import NamedTuple

from probes.judge.reasons import Reason
from probes.judge.support import KINDS
from probes.judge.verdict import Ref, Verdict
from probes.judge.words import LEVELS

Operator = tuple[str, str]


class OperatorColour(NamedTuple):
    """`level` is the worst known one; targets that know nothing are listed apart."""

    level: str
    kind: str
    target: str
    reason: Reason
    evidence_ref: Ref
    unknown_targets: tuple[str, ...]


def three_colours(
    verdicts: Mapping[Operator, Mapping[str, Verdict]],
) -> dict[Operator, OperatorColour]:
    """The worst level per operator with its reason and target, in the order given.

    Among equally bad targets measured evidence is shown before simulated and documented, then
    the target given first. An operator without any verdict is left out.
    """
    return {op: _worst(by_target) for op, by_target in verdicts.items() if by_target}


def _worst(by_target: Mapping[str, Verdict]) -> OperatorColour:
    target = max(by_target, key=lambda name: _weight(by_target[name]))
    verdict = by_target[target]
    unknown = tuple(name for name, each in by_target.items() if each.level == "unknown")
    return OperatorColour(
        verdict.level, verdict.kind, target, verdict.reason, verdict.evidence_ref, unknown
    )


def _weight(verdict: Verdict) -> tuple[int, int]:
    nearness = len(KINDS) - KINDS.index(verdict.kind) if verdict.kind in KINDS else 0
    return LEVELS[verdict.level].rank, nearness
