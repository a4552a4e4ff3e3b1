"""What a report says of a group of nodes on one target, with its JSON form."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from probes.judge.reasons import Reason
from probes.judge.verdict import SCHEMA, Ref, check_schema, reason_from_json, reason_to_json
from probes.judge.words import RUNGS

DOCUMENT = "opatlas-findings"
FREE = frozenset({"constant", "folded"})  # reasons that mean no work on the device


class Finding(NamedTuple):
    """One signature (or one thing about the whole model, `nodes` empty) on one target."""

    level: str
    kind: str
    rung: str  # how near the evidence is, see words.RUNGS
    reason: Reason  # what the nearest evidence says
    detail: Reason | None  # the reason of that evidence itself
    nodes: tuple[int, ...]
    signature: int | None  # index in the facts
    group: str  # the exact key of the signature: the same in every model and target
    operator: tuple[str, str]
    evidence_ref: Ref = None
    advice: Reason | None = None
    contradiction: bool = False

    @property
    def free(self) -> bool:
        """Nothing of it runs on the device."""
        return self.reason.code in FREE

    @property
    def confidence(self) -> str:
        return RUNGS[self.rung].confidence


def findings_to_json(findings: Iterable[Finding]) -> dict[str, Any]:
    """One document for all findings of a target; `findings_from_json` is the way back."""
    return {
        "schema": SCHEMA,
        "document": DOCUMENT,
        "findings": [_finding_to_json(finding) for finding in findings],
    }


def findings_from_json(document: Mapping[str, Any]) -> list[Finding]:
    """Raises ValueError for another schema, KeyError for a missing field."""
    check_schema(document, DOCUMENT)
    return [_finding_from_json(each) for each in document["findings"]]


def _finding_to_json(finding: Finding) -> dict[str, Any]:
    """`confidence` is told for readers and not read back."""
    return finding._asdict() | {
        "reason": reason_to_json(finding.reason),
        "detail": _optional_to_json(finding.detail),
        "advice": _optional_to_json(finding.advice),
        "nodes": list(finding.nodes),
        "operator": list(finding.operator),
        "confidence": finding.confidence,
    }


def _finding_from_json(document: Mapping[str, Any]) -> Finding:
    fields = {name: document[name] for name in Finding._fields}
    domain, op = document["operator"]
    fields |= {
        "reason": reason_from_json(document["reason"]),
        "detail": _optional_from_json(document["detail"]),
        "advice": _optional_from_json(document["advice"]),
        "nodes": tuple(document["nodes"]),
        "operator": (domain, op),
    }
    return Finding(**fields)


def _optional_to_json(reason: Reason | None) -> dict[str, Any] | None:
    return None if reason is None else reason_to_json(reason)


def _optional_from_json(document: Mapping[str, Any] | None) -> Reason | None:
    return None if document is None else reason_from_json(document)
