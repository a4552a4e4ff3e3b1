"""A report's documents as a page shows them: per target the totals and the groups of nodes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from compat.columns import ColumnHead, load_heads
from compat.models import Report
from probes.judge.finding import FREE
from webui.words import (
    KIND_ORDER,
    LEVEL_ORDER,
    advice_sentence,
    refusal,
    sentence,
    warning,
)

SHOWN_NODES = 12
SHOWN_FORMS = 4
GROUPS = ("red", "yellow", "green", "unknown")  # unknown apart, at the end


class NodeName(NamedTuple):
    name: str
    path: str  # through which sub-graphs


class Form(NamedTuple):
    """Nodes of one signature, and the probe that speaks of it."""

    signature: str
    nodes: tuple[NodeName, ...]
    node_count: int
    probe_id: int | None

    @property
    def hidden(self) -> int:
        return self.node_count - len(self.nodes)


class Finding(NamedTuple):
    """What is said alike of several signatures of one operator."""

    level: str
    kind: str
    rung: str
    domain: str
    operator: str
    reason: str
    detail: str
    advice: str
    contradiction: bool
    is_free: bool  # nothing of it runs on the device
    forms: tuple[Form, ...]

    @property
    def node_count(self) -> int:
        return sum(form.node_count for form in self.forms)

    @property
    def shown(self) -> tuple[Form, ...]:
        return self.forms[:SHOWN_FORMS]

    @property
    def folded(self) -> tuple[Form, ...]:
        return self.forms[SHOWN_FORMS:]


class TargetResult(NamedTuple):
    slug: str
    column: ColumnHead | None
    level: str
    kind: str  # the best kind of evidence that any finding rests on
    counts: dict[str, int]
    nodes: int
    free: int


class ReportPage(NamedTuple):
    """`groups` are the findings of the chosen target by level; `free` nodes need no support."""

    targets: list[TargetResult]
    chosen: TargetResult | None
    groups: list[tuple[str, list[Finding]]]
    free: list[Finding]
    model: Mapping[str, Any]
    node_total: int
    refusal: str
    warnings: list[str]


def read_report(report: Report, asked: str = "") -> ReportPage:
    """The report with one target opened: the asked one, else the first. At most one query."""
    facts = report.facts or {}
    heads = {head.slug: head for head in load_heads(slugs=_column_slugs(report))}
    targets = [_target(document, heads) for document in report.results]
    opened = next((each for each in targets if each.slug == asked), targets[0] if targets else None)
    document = report.results[targets.index(opened)] if opened else {"findings": []}
    findings = _merge(_finding(each, facts) for each in document["findings"])
    working = [each for each in findings if not each.is_free]
    groups = [(level, [each for each in working if each.level == level]) for level in GROUPS]
    return ReportPage(
        targets=targets,
        chosen=opened,
        groups=[(level, found) for level, found in groups if found],
        free=[each for each in findings if each.is_free],
        model=facts.get("model", {}),
        node_total=len(facts.get("nodes", ())),
        refusal=refusal(report.error_code, {}, report.error) if report.error else "",
        warnings=[warning(each) for each in facts.get("warnings", ())],
    )


def _column_slugs(report: Report) -> list[str]:
    return [str(document["id"]).partition("@")[0] for document in report.results]


def _target(document: Mapping[str, Any], heads: Mapping[str, ColumnHead]) -> TargetResult:
    slug = str(document["id"])
    totals = document["totals"]
    counts = {level: totals[level] for level in LEVEL_ORDER}
    head = heads.get(slug.partition("@")[0])
    used = {each["kind"] for each in document["findings"]}
    return TargetResult(
        slug=slug,
        column=head,
        level=document["level"],
        kind=next((kind for kind in KIND_ORDER if kind in used), "none"),
        counts=counts,
        nodes=totals["nodes"],
        free=totals["free"],
    )


def _merge(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that differ in nothing but the signature become one, in the order given."""
    merged: dict[Finding, list[Form]] = {}
    for finding in findings:
        merged.setdefault(finding._replace(forms=()), []).extend(finding.forms)
    return [finding._replace(forms=tuple(forms)) for finding, forms in merged.items()]


def _finding(document: Mapping[str, Any], facts: Mapping[str, Any]) -> Finding:
    domain, operator = document["operator"]
    return Finding(
        level=document["level"],
        kind=document["kind"],
        rung=document["rung"],
        domain=domain,
        operator=operator,
        reason=_said(document["reason"]),
        detail=_said(document.get("detail")),
        advice=advice_sentence(document.get("advice")),
        contradiction=document.get("contradiction", False),
        is_free=document["reason"]["code"] in FREE,
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


def _names(ids: Sequence[int], facts: Mapping[str, Any]) -> Iterator[NodeName]:
    """Names are optional in facts; a node without one is called by its place in the graph."""
    nodes = facts.get("nodes", ())
    for index in ids:
        node = nodes[index] if index < len(nodes) else {}
        yield NodeName(node.get("name") or f"{node.get('op', '')} #{index}", node.get("path", ""))


def _signature(index: int | None, facts: Mapping[str, Any]) -> str:
    """The inputs on one line: float32[1,3,224,224], float32[64,3,7,7] const."""
    signatures = facts.get("signatures", ())
    if index is None or index >= len(signatures):
        return ""
    return ", ".join(tensor_text(tensor) for tensor in signatures[index]["inputs"])


def tensor_text(tensor: Mapping[str, Any] | None) -> str:
    """A tensor of a signature in words; "–" for an input that is left out."""
    if not tensor or not tensor.get("dtype"):
        return "–"
    shape = tensor.get("shape")
    dims = (
        "" if shape is None else "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"
    )
    return f"{tensor['dtype']}{dims}" + (" const" if tensor.get("const") else "")
