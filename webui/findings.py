"""A report's documents as a page shows them: per target the totals and the groups of nodes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from compat.columns import ColumnHead, load_heads
from compat.history import Restrictions, load_restrictions, unabridged
from compat.models import Report
from compat.operators import OperatorName, with_core
from probes.cases.alternatives import known_ways
from probes.judge.finding import FREE
from webui.report_parts import Finding, Form, Group, NodeName, ReportPage, TargetResult, Total
from webui.signatures import signature_text
from webui.ways import FOR_LEVELS
from webui.words import (
    KIND_ORDER,
    LEVEL_ORDER,
    advice_sentence,
    refusal,
    sentence,
    warning,
)

SHOWN_NODES = 12
GROUPS = ("red", "yellow", "green", "unknown")  # unknown apart, at the end


class Known(NamedTuple):
    """What is known of the operators beside the report itself."""

    with_core: frozenset[OperatorName]
    restrictions: Restrictions


def read_report(report: Report, asked: str = "") -> ReportPage:
    """The report with one target opened: the asked one, else the first. At most three queries."""
    facts = report.facts or {}
    heads = {head.slug: head for head in load_heads(slugs=_column_slugs(report))}
    targets = [_target(document, heads) for document in report.results]
    opened = next((each for each in targets if each.slug == asked), targets[0] if targets else None)
    document = report.results[targets.index(opened)] if opened else {"findings": []}
    known = Known(with_core(), _load_restrictions(opened, document["findings"]))
    findings = _merge(_finding(each, facts, known) for each in document["findings"])
    working = [each for each in findings if not each.is_free]
    return ReportPage(
        targets=targets,
        chosen=opened,
        groups=list(_groups(working)),
        free=[each for each in findings if each.is_free],
        model=facts.get("model", {}),
        node_total=len(facts.get("nodes", ())),
        refusal=refusal(report.error_code, {}, report.error) if report.error else "",
        warnings=[warning(each) for each in facts.get("warnings", ())],
    )


def _groups(findings: Sequence[Finding]) -> Iterator[Group]:
    for level in GROUPS:
        for is_claimed in (False, True):
            found = [f for f in findings if (f.level, f.is_claimed) == (level, is_claimed)]
            if found:
                yield Group(level, is_claimed, found)


def _column_slugs(report: Report) -> list[str]:
    return [str(document["id"]).partition("@")[0] for document in report.results]


def _target(document: Mapping[str, Any], heads: Mapping[str, ColumnHead]) -> TargetResult:
    slug = str(document["id"])
    totals = document["totals"]
    counts = {level: totals[level] for level in LEVEL_ORDER}
    head = heads.get(slug.partition("@")[0])
    judged = [each for each in document["findings"] if each["reason"]["code"] not in FREE]
    used = {each["kind"] for each in judged if each["level"] == document["level"]}
    return TargetResult(
        slug=slug,
        column=head,
        level=document["level"],
        kind=next((kind for kind in KIND_ORDER if kind in used), "none"),
        counts=counts,
        totals=tuple(_totals(judged, counts)),
        nodes=totals["nodes"],
        free=totals["free"],
    )


def _totals(judged: Sequence[Mapping[str, Any]], counts: Mapping[str, int]) -> Iterator[Total]:
    """The counts of a result, each split into nodes of which something ran and claimed ones."""
    claimed: Counter[str] = Counter()
    for each in judged:
        if each["kind"] == "documented":
            claimed[each["level"]] += len(each["nodes"])
    seen = {level: max(counts[level] - claimed[level], 0) for level in LEVEL_ORDER}
    ran = any(seen[level] for level in LEVEL_ORDER if level != "unknown") or not claimed
    for level in LEVEL_ORDER:
        if level == "unknown":
            yield Total(level, "none", counts[level])
            continue
        if ran and (seen[level] or not claimed[level]):
            yield Total(level, "measured", seen[level])
        if claimed[level] or not ran:
            yield Total(level, "documented", claimed[level])


def _merge(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that differ in nothing but the signature become one, in the order given."""
    merged: dict[Finding, list[Form]] = {}
    for finding in findings:
        merged.setdefault(finding._replace(forms=()), []).extend(finding.forms)
    return [finding._replace(forms=tuple(forms)) for finding, forms in merged.items()]


def _load_restrictions(
    opened: TargetResult | None, documents: Iterable[Mapping[str, Any]]
) -> Restrictions:
    """What the claims say in full; a report holds their beginnings."""
    named = {tuple(each["operator"]) for each in documents if each["kind"] == "documented"}
    if not (opened and opened.column and named):
        return {}
    return load_restrictions(opened.column, named)


def _finding(document: Mapping[str, Any], facts: Mapping[str, Any], known: Known) -> Finding:
    domain, operator = document["operator"]
    return Finding(
        level=document["level"],
        kind=document["kind"],
        rung=document["rung"],
        domain=domain,
        operator=operator,
        reason=_said(document["reason"]),
        detail=_detail(document, known),
        advice=advice_sentence(document.get("advice")),
        contradiction=document.get("contradiction", False),
        is_free=document["reason"]["code"] in FREE,
        has_ways=document["level"] in FOR_LEVELS and (domain, operator) in known_ways(),
        forms=(_form(document, facts),),
    )


def _form(document: Mapping[str, Any], facts: Mapping[str, Any]) -> Form:
    ids: Sequence[int] = document["nodes"]
    ref = document.get("evidence_ref")
    has_probe = isinstance(ref, int) and document["kind"] in ("measured", "simulated")
    return Form(
        signature=_signature(document.get("signature"), facts),
        nodes=tuple(_names(ids[:SHOWN_NODES], facts)),
        node_count=len(ids),
        probe_id=ref if has_probe else None,
    )


def _said(reason: Mapping[str, Any] | None) -> str:
    return sentence(reason["code"], reason["params"]) if reason else ""


def _detail(document: Mapping[str, Any], known: Known) -> str:
    """Why the evidence is what it is, with the whole restriction of a claim."""
    reason, (domain, operator) = document.get("detail"), document["operator"]
    if not reason:
        return ""
    params = unabridged(reason["params"], known.restrictions.get((domain, operator), ()))
    promoted = (domain, operator) not in known.with_core
    return sentence(reason["code"], params, promoted=promoted)


def _names(ids: Sequence[int], facts: Mapping[str, Any]) -> Iterator[NodeName]:
    """Names are optional in facts; a node without one is called by its place in the graph."""
    nodes = facts.get("nodes", ())
    for index in ids:
        node = nodes[index] if index < len(nodes) else {}
        yield NodeName(node.get("name") or f"{node.get('op', '')} #{index}", node.get("path", ""))


def _signature(index: int | None, facts: Mapping[str, Any]) -> str:
    signatures = facts.get("signatures", ())
    if index is None or index >= len(signatures):
        return ""
    return signature_text(signatures[index])
