"""What judging takes and gives: evidence, claims and verdicts, with their JSON form."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from probes.judge.reasons import Reason

SCHEMA = 1
DOCUMENT = "opatlas-verdict"
SUPPORTS = frozenset({"green", "yellow"})

Ref = int | str | None


class Evidence(NamedTuple):
    """One probe of one case in one form on one target."""

    case_name: str
    core: bool
    kind: str  # "measured" | "simulated"
    form: str
    outcome: str  # a value of probes.run.outcome.Outcome
    stage: str | None = None
    placement: str = "unknown"
    message: str = ""
    max_abs: float | None = None
    oracles_agree: str = ""  # "both" | "one" | "disputed" | "none" | "" (not known)
    dtypes: tuple[str, ...] = ()
    ref: Ref = None
    since_version: int = 0  # 0: not known
    folds: bool = False  # the graph is nothing but constants: a compiler may have nothing to make


class Claim(NamedTuple):
    """What a vendor's list says of an operator."""

    level: str  # "full" | "partial" | "none"
    version: str = ""
    source: str = ""  # the document, as a reader knows it
    restriction: str = ""
    unit: str = ""
    ref: Ref = None
    dtypes: str = ""  # as the document lists them, "fp16;int8"
    opset_max: int | None = None


class Side(NamedTuple):
    """What another kind of evidence says than the one that decides."""

    level: str
    kind: str
    reason: Reason
    ref: Ref


class Verdict(NamedTuple):
    level: str  # "green" | "yellow" | "red" | "unknown"
    kind: str  # "measured" | "simulated" | "documented" | "none"
    reason: Reason
    core_passed: int = 0
    core_total: int = 0
    rest_passed: int = 0
    rest_total: int = 0
    max_abs: float | None = None  # the largest finite error of the core cases
    contradiction: bool = False
    claim_level: str = ""  # "full" | "partial" | "none" | "" (no claim)
    evidence_ref: Ref = None  # the ref of the probe or claim that decides
    notes: tuple[Reason, ...] = ()
    sides: tuple[Side, ...] = ()


def disagree(level: str, other: str) -> bool:
    """One says that it works (limits or not), the other that it does not."""
    return {level, other} & SUPPORTS != set() and "red" in (level, other)


def check_schema(document: Mapping[str, Any], name: str) -> None:
    """Raises ValueError for a document of another name or schema version."""
    found = document.get("document"), document.get("schema")
    if found != (name, SCHEMA):
        raise ValueError(f"not a {name} document of schema {SCHEMA}: {found[0]!r}, {found[1]!r}")


def reason_to_json(reason: Reason) -> dict[str, Any]:
    return {"code": reason.code, "params": dict(reason.params)}


def reason_from_json(document: Mapping[str, Any]) -> Reason:
    return Reason(str(document["code"]), dict(document["params"]))


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """Plain values only, with the schema version; `verdict_from_json` is the way back."""
    document: dict[str, Any] = {"schema": SCHEMA, "document": DOCUMENT}
    document |= verdict._asdict()
    document["reason"] = reason_to_json(verdict.reason)
    document["notes"] = [reason_to_json(note) for note in verdict.notes]
    document["sides"] = [
        side._asdict() | {"reason": reason_to_json(side.reason)} for side in verdict.sides
    ]
    return document


def verdict_from_json(document: Mapping[str, Any]) -> Verdict:
    """Raises ValueError for another schema, KeyError for a missing field."""
    check_schema(document, DOCUMENT)
    fields = {name: document[name] for name in Verdict._fields}
    fields["reason"] = reason_from_json(document["reason"])
    fields["notes"] = tuple(reason_from_json(note) for note in document["notes"])
    fields["sides"] = tuple(
        Side(side["level"], side["kind"], reason_from_json(side["reason"]), side["ref"])
        for side in document["sides"]
    )
    return Verdict(**fields)
