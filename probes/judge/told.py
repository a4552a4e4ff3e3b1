"""A report's results told in words: as documents, and as the lines that a terminal shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from probes.judge.reasons import ADVICE, Reason, render
from probes.judge.risk import reaches
from probes.judge.words import KINDS, LEVELS, RUNGS

SHOWN_NODES = 20  # names of nodes in one finding; their ids are all there
LISTED_NODES = 8  # of a group of findings on a terminal
SAID = ("level", "kind", "rung", "text", "detail_text", "advice_text")
TOTALS = ("red", "yellow", "green", "unknown", "free")

Document = dict[str, Any]


def told_result(result: Mapping[str, Any], facts: Mapping[str, Any]) -> Document:
    """One target's document with a sentence beside each code and names beside node ids."""
    findings = [told_finding(finding, facts) for finding in result["findings"]]
    return {**result, "findings": findings}


def told_finding(finding: Mapping[str, Any], facts: Mapping[str, Any]) -> Document:
    """The finding with `text`, `detail_text`, `advice_text` and `node_names`."""
    return {
        **finding,
        "text": sentence(finding["reason"]),
        "detail_text": sentence(finding["detail"]),
        "advice_text": sentence(finding["advice"], ADVICE),
        "node_names": node_names(finding["nodes"], facts),
    }


def named_again(result: Mapping[str, Any], facts: Mapping[str, Any]) -> Document:
    """A told result with the names of these facts: what a server without names cannot tell."""
    findings = [
        {**finding, "node_names": node_names(finding["nodes"], facts)}
        for finding in result["findings"]
    ]
    return {**result, "findings": findings}


def sentence(reason: Mapping[str, Any] | None, templates: Mapping[str, str] | None = None) -> str:
    """A stored reason or advice in English; "" for none."""
    if not reason:
        return ""
    told = Reason(reason["code"], reason["params"])
    return render(told) if templates is None else render(told, templates=templates)


def node_names(ids: Sequence[int], facts: Mapping[str, Any]) -> list[str]:
    """The names of the first nodes of a finding."""
    nodes = facts["nodes"]
    return [node_name(nodes[at]) for at in ids[:SHOWN_NODES] if 0 <= at < len(nodes)]


def node_name(node: Mapping[str, Any]) -> str:
    """Where the node stands: through which sub-graphs, then its name or its place in the graph."""
    name = node.get("name") or f"{node.get('op', '')} #{node.get('id', '')}"
    return "/".join(filter(None, (node.get("path", ""), name)))


def any_found(told: Sequence[Document], fail_on: str) -> bool:
    """Whether a finding of any of these targets is as bad as `fail_on`."""
    levels = {finding["level"] for result in told for finding in result["findings"]}
    return any(reaches(level, fail_on) for level in levels)


def report_lines(
    told: Sequence[Document], *, file_name: str, opsets: Mapping[str, int]
) -> Iterator[str]:
    """Told results as text, one target after the other; what is green is only counted."""
    nodes = told[0]["totals"]["nodes"] if told else 0
    stamps = ", ".join(f"{name} {number}" for name, number in opsets.items())
    yield f"{file_name}: {nodes} nodes, {stamps}"
    for result in told:
        totals = ", ".join(f"{result['totals'][word]} {word}" for word in TOTALS)
        yield f"\n{result['id']}: {result['level']} (nodes: {totals})"
        for group in _alike(result["findings"]):
            yield from _group_lines(group)


def _alike(findings: Sequence[Document]) -> list[list[Document]]:
    """What is not green, those together that say the same of one operator in other sizes."""
    groups: dict[tuple[object, ...], list[Document]] = {}
    for finding in findings:
        if finding["level"] != "green":
            key = (*finding["operator"], *map(finding.get, SAID))
            groups.setdefault(key, []).append(finding)
    return list(groups.values())


def _group_lines(group: Sequence[Document]) -> Iterator[str]:
    first = group[0]
    count = sum(len(finding["nodes"]) for finding in group)
    names = [name for finding in group for name in finding["node_names"]][:LISTED_NODES]
    operator = first["operator"][1] or "the model"
    times = f" x{count}" if count > 1 else ""
    symbol = LEVELS[first["level"]].symbol
    yield f"  {symbol} {first['level']:<7} {operator}{times}: {first['text']}"
    if first["detail_text"]:
        yield f"      {first['detail_text']}"
    yield f"      evidence: {KINDS[first['kind']]}; {RUNGS[first['rung']].word}"
    if names:
        more = f" and {count - len(names)} more" if count > len(names) else ""
        yield f"      at: {', '.join(names)}{more}"
    if first["advice_text"]:
        yield f"      {first['advice_text']}"
