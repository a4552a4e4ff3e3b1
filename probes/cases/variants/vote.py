"""Which answer is expected, and who gave it: two of three oracles, and what is left in dispute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from probes.model.values import Value

Values = Sequence[Value]
Agree = Callable[[Values, Values], bool]


class Answers(NamedTuple):
    """Outputs by oracle; None where it has none. `ours` is the float64 reference of this package,
    which only ever confirms: it has no operator whole."""

    evaluator: Values | None
    runtime: Values | None
    ours: Values | None = None


class Decision(NamedTuple):
    """The expected outputs, whose they are, and the word for how far the two oracles agree."""

    expected: Values
    told_by: tuple[str, ...]
    word: str


EVALUATOR, RUNTIME, OURS = "evaluator", "runtime", "ours"


def decide(answers: Answers, agree: Agree) -> Decision | None:
    """None where no oracle answers. Two that agree are believed against a third; two that do not,
    with nobody to side with one, are "disputed", the evaluator's answer standing; so is the
    evaluator's lone answer when ours is another."""
    evaluator, runtime, ours = answers
    if evaluator is None and runtime is None:
        return None
    if evaluator is not None and runtime is not None:
        if agree(evaluator, runtime):
            return _confirmed(answers, agree, evaluator, "both")
        for name, other in ((RUNTIME, runtime), (EVALUATOR, evaluator)):
            if ours is not None and agree(ours, other):
                return Decision(ours, (OURS, name), "one")
        return Decision(evaluator, (EVALUATOR,), "disputed")
    if evaluator is not None and ours is not None and not agree(ours, evaluator):
        return Decision(evaluator, (EVALUATOR,), "disputed")
    told = evaluator if evaluator is not None else runtime
    assert told is not None
    return _confirmed(answers, agree, told, "one")


def _confirmed(answers: Answers, agree: Agree, told: Values, word: str) -> Decision:
    """The float64 answer where it agrees: it is nearer to the truth than either."""
    names = tuple(
        name
        for name, answer in ((EVALUATOR, answers.evaluator), (RUNTIME, answers.runtime))
        if answer is not None
    )
    if answers.ours is not None and agree(answers.ours, told):
        return Decision(answers.ours, (OURS, *names), word)
    return Decision(told, names, word)
