"""Findings on the version stamps of a whole model: most refusals are stamps, not operators."""

from collections.abc import Iterable, Mapping
from typing import Any

from probes.judge.finding import Finding
from probes.judge.knowledge import Refusal, TargetKnowledge
from probes.judge.reasons import Reason, first_line


def stamp_findings(facts: Mapping[str, Any], knowledge: TargetKnowledge) -> list[Finding]:
    """Red where a probe was refused for the stamp, yellow where only declared as too new."""
    opset = _opset(facts)
    newest = _newest_operator(facts["signatures"])
    fits = knowledge.max_opset is not None and newest <= knowledge.max_opset
    rows = (
        (
            "stamp_opset",
            opset,
            knowledge.max_opset,
            knowledge.opset_refusal,
            "restamp" if fits else "convert_opset",
        ),
        (
            "stamp_ir",
            int(facts["model"]["ir_version"] or 0),
            knowledge.max_ir,
            knowledge.ir_refusal,
            "restamp_ir",
        ),
    )
    return [
        _stamp_finding(code, stamp, maximum, refusal, advice, knowledge.stamps_from)
        for code, stamp, maximum, refusal, advice in rows
        if maximum is not None and stamp > maximum
    ]


def _stamp_finding(
    code: str, stamp: int, maximum: int, refusal: Refusal | None, advice: str, source: str
) -> Finding:
    seen = refusal is not None
    return Finding(
        level="red" if seen else "yellow",
        kind=refusal.kind if refusal else "documented",
        rung="class" if seen else "documented",
        reason=Reason(code, {"stamp": stamp, "maximum": maximum}),
        detail=_detail(refusal, source),
        nodes=(),
        signature=None,
        group=code,
        operator=("", ""),
        evidence_ref=refusal.ref if refusal else None,
        advice=Reason(advice, {"maximum": maximum}),
    )


def _detail(refusal: Refusal | None, source: str) -> Reason:
    if refusal is None:
        return Reason(source, {})
    return Reason("stamp_refused", {"message": first_line(refusal.message)})


def _opset(facts: Mapping[str, Any]) -> int:
    opsets = facts["model"]["opsets"]
    return int(opsets.get("ai.onnx") or opsets.get("") or 0)


def _newest_operator(signatures: Iterable[Mapping[str, Any]]) -> int:
    return max((each["since"] for each in signatures if each["domain"] == "ai.onnx"), default=0)
