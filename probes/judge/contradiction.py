"""Where a vendor's list and the probes disagree: which way, by which case, over which versions."""

import re
from collections.abc import Callable
from typing import NamedTuple

from probes.judge.claims import version_key
from probes.judge.tally import SEVERITY, CaseView, Tally
from probes.judge.words import gettext_noop

# The list says yes without a limit and no case inside its bounds works, or it says no and one does.
HARD = ("listed_fails", "unlisted_works")

DIRECTIONS: dict[str, str] = {
    "listed_fails": gettext_noop("listed as supported, fails"),
    "unlisted_works": gettext_noop("listed as not supported or left out, works"),
    "limits_fails": gettext_noop("listed with limits, fails"),
    "listed_limits": gettext_noop("listed without limits, some forms fail"),
    "unlisted_reserved": gettext_noop(
        "listed as not supported or left out, accepted without proof on the intended unit"
    ),
    "outside": gettext_noop("only cases outside the list's opsets or data types speak against it"),
}

# A claim's level and the level of the probes: the direction when a case of ours shows it.
_RULE: dict[tuple[str, str], str] = {
    ("full", "red"): "listed_fails",
    ("full", "yellow"): "listed_limits",
    ("partial", "red"): "limits_fails",
    ("none", "green"): "unlisted_works",
    ("none", "yellow"): "unlisted_works",
}
# What passes with one of these does not show that the unit which the list speaks of can do it.
UNPROVEN = frozenset({"unseen", "fallback", "mixed", "placement_unproven"})
# A list that is full of limits elsewhere says nothing against cases outside of them.
_ONLY_INSIDE = frozenset({"listed_limits"})

RELATIONS = ("same", "list_older", "list_newer", "unknown")
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_RELEASE = re.compile(r"\d+(?:\.\d+)*(?:[-_.]?(?:dev|pre|ea|rc|alpha|beta|a|b)\d*)?", re.I)


class Found(NamedTuple):
    """A contradiction and the case that shows it best."""

    direction: str
    case: CaseView


def contradiction(
    claim_level: str, level: str, tally: Tally, covers: Callable[[CaseView], bool]
) -> Found | None:
    """How the claim and the verdict on `tally` disagree; None where they do not.

    `covers` says whether a case lies inside the opsets and data types that the list states.
    """
    direction = _RULE.get((claim_level, level), "")
    cases = _passing(tally) if claim_level == "none" else _failing(tally)
    if not direction or not cases:
        return None
    case = next((case for case in cases if covers(case)), None)
    if case is None:
        return None if direction in _ONLY_INSIDE else Found("outside", cases[0])
    if direction == "unlisted_works" and case.codes & UNPROVEN:
        direction = "unlisted_reserved"
    return Found(direction, case)


def spans(since_version: int, opset: int, opset_min: int | None, opset_max: int | None) -> bool:
    """Whether a list's opsets meet those in which a case of that stamp means the same."""
    return (opset_max is None or since_version <= opset_max) and (
        opset_min is None or opset_min <= opset
    )


def relation(listed: str, probed: str) -> str:
    """How a list's version stands to the probed one; "2.3" speaks of every 2.3.x."""
    if not _RELEASE.fullmatch(listed) or not _NUMBERS.match(probed):
        return "unknown"
    numbers = _numbers(listed)
    if numbers == (_numbers(probed) + (0,) * len(numbers))[: len(numbers)]:
        return "same"
    return "list_older" if version_key(listed) < version_key(probed) else "list_newer"


def _numbers(version: str) -> tuple[int, ...]:
    found = _NUMBERS.search(version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def _failing(tally: Tally) -> list[CaseView]:
    """Core cases that fail: a silent wrong before a refusal, as the verdict names them."""
    failing = [case for case in tally.core if not case.passes]
    return sorted(failing, key=lambda case: ("wrong_values" not in case.codes, not case.silent))


def _passing(tally: Tally) -> list[CaseView]:
    """Cases that pass: proven ones first, then the least reserved, the core before the rest."""
    passing = [case for case in tally.core + tally.rest if case.passes]
    return sorted(passing, key=_reservation)


def _reservation(case: CaseView) -> tuple[bool, int]:
    severity = max((SEVERITY.get(code, 0) for code in case.codes), default=0)
    return bool(case.codes & UNPROVEN), severity
