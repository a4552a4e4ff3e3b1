"""Which of several documented claims decides, and what it says as a verdict."""

import re
from collections.abc import Sequence

from probes.judge.reasons import Param, Reason, first_line
from probes.judge.verdict import Claim, Verdict

CLAIM_LEVELS: dict[str, str] = {"full": "green", "partial": "yellow", "none": "red"}

_RELEASE = re.compile(r"\d+(?:\.\d+)*")
_BEFORE_RELEASE = re.compile(r"^[-_.]?(?:a|b|c|rc|alpha|beta|dev|pre|ea)\b|^[-_.]?(?:a|b|rc)\d")


def version_key(version: str) -> tuple[tuple[int, ...], int]:
    """Orders versions by number ("2.10" above "2.9", "2.3" as "2.3.0", "3rc1" below "3")."""
    found = _RELEASE.search(version)
    if found is None:
        return (), 0
    numbers = [int(part) for part in found.group().split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), 0 if _BEFORE_RELEASE.match(version[found.end() :].lower()) else 1


def choose_claim(claims: Sequence[Claim]) -> Claim | None:
    """The newest version decides; among equals the one given first."""
    known = [claim for claim in claims if claim.level in CLAIM_LEVELS]
    return max(known, key=lambda claim: version_key(claim.version), default=None)


def _named(claim: Claim) -> str:
    """The document with its version, which many titles hold already."""
    return claim.source if claim.version in claim.source else f"{claim.source} {claim.version}"


def claim_verdict(claim: Claim) -> Verdict:
    params: dict[str, Param] = {"source": _named(claim)}
    code = f"claim_{claim.level}"
    restriction = first_line(claim.restriction)
    if restriction:
        code, params = f"{code}_says", params | {"restriction": restriction}
    notes = (Reason("claim_unit", {"unit": claim.unit}),) if claim.unit else ()
    return Verdict(
        CLAIM_LEVELS[claim.level],
        "documented",
        Reason(code, params),
        claim_level=claim.level,
        evidence_ref=claim.ref,
        notes=notes,
    )
