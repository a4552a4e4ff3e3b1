"""A report's results told in words, for the API and the command line."""

from collections.abc import Mapping
from typing import Any

from probes.judge.reasons import ADVICE, Reason, render

SHOWN_NODES = 20  # names of nodes in one finding; their ids are all there

Document = dict[str, Any]


def told_result(result: Mapping[str, Any], facts: Mapping[str, Any]) -> Document:
    """One target's document with a sentence beside each code and names beside node ids."""
    findings = [told_finding(finding, facts) for finding in result["findings"]]
    return {**result, "findings": findings}


def told_finding(finding: Mapping[str, Any], facts: Mapping[str, Any]) -> Document:
    """The finding with `text`, `detail_text`, `advice_text` and `node_names`."""
    nodes = facts["nodes"]
    shown = finding["nodes"][:SHOWN_NODES]
    return {
        **finding,
        "text": sentence(finding["reason"]),
        "detail_text": sentence(finding["detail"]),
        "advice_text": sentence(finding["advice"], ADVICE),
        "node_names": [node_name(nodes[at]) for at in shown if at < len(nodes)],
    }


def sentence(reason: Mapping[str, Any] | None, templates: Mapping[str, str] | None = None) -> str:
    """A stored reason or advice in English; "" for none."""
    if not reason:
        return ""
    told = Reason(reason["code"], reason["params"])
    return render(told) if templates is None else render(told, templates=templates)


def node_name(node: Mapping[str, Any]) -> str:
    """Where the node stands: through which sub-graphs, then its name or its place in the graph."""
    name = node.get("name") or f"{node.get('op', '')} #{node.get('id', '')}"
    return "/".join(filter(None, (node.get("path", ""), name)))
