"""What a recorded probe says as evidence: for judging without a database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from probes.judge.verdict import Evidence, Ref
from probes.run.outcome import ProbeResult

if TYPE_CHECKING:
    from probes.cases.case import Case


def evidence_of(result: ProbeResult, case: Case, *, kind: str, ref: Ref = None) -> Evidence:
    """`kind` is what the runtime's capabilities call its answers: "measured" or "simulated"."""
    return Evidence(
        case_name=case.name,
        core=case.core,
        kind=kind,
        form=result.form,
        outcome=result.outcome.value,
        stage=result.stage.value if result.stage else None,
        placement=result.placement.value,
        message=result.message,
        max_abs=result.max_abs,
        oracles_agree=case.oracles_agree,
        dtypes=signature_dtypes(case.signature),
        ref=case.name if ref is None else ref,
        since_version=case.since_version,
    )


def signature_dtypes(signature: Mapping[str, Any]) -> tuple[str, ...]:
    """The types of a node's inputs, or of its outputs where it has none; () without a node."""
    values = signature.get("inputs") or signature.get("outputs") or []
    return tuple(sorted({value["dtype"] for value in values} - {"absent"}))
