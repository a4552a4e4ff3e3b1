"""From the facts of a model and what is known of a target to findings, one per signature."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from probes.judge.advice import advise
from probes.judge.colours import OperatorColour, three_colours
from probes.judge.finding import Finding
from probes.judge.knowledge import Keys, TargetKnowledge, signature_keys
from probes.judge.listed import listed_types, unlisted_type
from probes.judge.reasons import Param, Reason
from probes.judge.stamps import stamp_findings
from probes.judge.verdict import Claim, Verdict
from probes.judge.words import LEVELS

__all__ = [
    "Finding",
    "OperatorColour",
    "TargetKnowledge",
    "Totals",
    "any_reaches",
    "assess",
    "reaches",
    "signature_keys",
    "summary",
    "three_colours",
    "worst_level",
]

# Domains with a published specification; an operator of another one has no known meaning.
KNOWN_DOMAINS = frozenset(
    {
        "ai.onnx",
        "ai.onnx.ml",
        "ai.onnx.preview",
        "ai.onnx.preview.training",
        "ai.onnx.training",
        "com.microsoft",
    }
)
LISTED = ("red", "yellow", "unknown", "green")  # the order in which a report lists findings
FAIL_ON: dict[str, frozenset[str]] = {
    "never": frozenset(),
    "red": frozenset({"red"}),
    "yellow": frozenset({"red", "yellow"}),
    "unknown": frozenset({"red", "yellow", "unknown"}),
}


class Group(NamedTuple):
    """Nodes of one signature that share a fate; `free` names why there is no work, or ""."""

    signature: int | None
    operator: tuple[str, str]
    free: str


class Totals(NamedTuple):
    """Nodes by level; `worst` is the worst known level of all findings, unknown kept apart."""

    green: int
    yellow: int
    red: int
    unknown: int
    free: int
    nodes: int
    worst: str


def assess(
    facts: Mapping[str, Any], knowledge: TargetKnowledge, keys: Sequence[Keys] | None = None
) -> list[Finding]:
    """The findings on one target, worst first: one per signature, and those of the whole model.

    `keys` are `signature_keys(facts)`, made once by whoever asks about several targets.
    """
    keys = signature_keys(facts) if keys is None else keys
    domains = KNOWN_DOMAINS.union(domain for domain, _ in knowledge.cells)
    findings = stamp_findings(facts, knowledge)
    for group, nodes in _groups(facts).items():
        key = None if group.signature is None else keys[group.signature]
        finding = _free(group) or _nearest(group, key, knowledge)
        if finding is None:
            finding = _nothing(group, domains, knowledge.cells.get(group.operator))
        elif finding.rung == "documented" and group.signature is not None:
            signature = facts["signatures"][group.signature]
            finding = _as_listed(finding, signature, knowledge.claims.get(group.operator))
        findings.append(finding._replace(nodes=nodes, group=key.exact if key else ""))
    return sorted(findings, key=_listing)


def summary(findings: Iterable[Finding], facts: Mapping[str, Any]) -> Totals:
    """Each node counted once, as its worst finding has it; without one it is unknown."""
    findings = list(findings)
    fate: dict[int, str] = {}
    for finding in findings:
        name = "free" if finding.free else finding.level
        for node in finding.nodes:
            fate[node] = max(fate.get(node, "free"), name, key=_badness)
    counts = dict.fromkeys(("green", "yellow", "red", "unknown", "free"), 0)
    for node in facts["nodes"]:
        counts[fate.get(node["id"], "unknown")] += 1
    worst = worst_level(finding.level for finding in findings)
    return Totals(**counts, nodes=len(facts["nodes"]), worst=worst)


def worst_level(levels: Iterable[str]) -> str:
    """The worst known level; unknown only where nothing is known."""
    return max(levels, key=lambda level: LEVELS[level].rank, default="unknown")


def reaches(level: str, fail_on: str) -> bool:
    """Whether a level is as bad as what a caller fails on ("never", "red", "yellow", "unknown").

    Unknown is reached only by who asks for it. Raises KeyError for another word.
    """
    return level in FAIL_ON[fail_on]


def any_reaches(findings: Iterable[Finding], fail_on: str) -> bool:
    """Whether any finding of a target is as bad as `fail_on`: the exit code of a CI call."""
    return any(reaches(finding.level, fail_on) for finding in findings)


def _groups(facts: Mapping[str, Any]) -> dict[Group, tuple[int, ...]]:
    groups: dict[Group, list[int]] = {}
    for node in facts["nodes"]:
        domain = node["domain"] or "ai.onnx"
        free = _why_free(node, domain)
        group = Group(node["sig"], (domain, node["op"]), free)
        groups.setdefault(group, []).append(node["id"])
    return {group: tuple(nodes) for group, nodes in groups.items()}


def _why_free(node: Mapping[str, Any], domain: str) -> str:
    if (domain, node["op"]) == ("ai.onnx", "Constant"):
        return "constant"
    return "folded" if node.get("folds") else ""


def _free(group: Group) -> Finding | None:
    if not group.free:
        return None
    return _finding(group, "green", "none", "none", Reason(group.free, {}))


def _nearest(group: Group, key: Keys | None, knowledge: TargetKnowledge) -> Finding | None:
    for rung, verdict in _rungs(group, key, knowledge):
        if verdict is not None and verdict.level != "unknown":
            return _from_verdict(group, rung, verdict)
    return None


def _rungs(
    group: Group, key: Keys | None, knowledge: TargetKnowledge
) -> Iterable[tuple[str, Verdict | None]]:
    """Nearest first; a cell of nothing but a claim is a rung of its own."""
    if key is not None:
        yield "exact", knowledge.exact.get(key.exact)
        yield "class", knowledge.same_class.get(key.same_class)
        yield "dtype", knowledge.same_version.get(key.same_version)
        yield "dtype", knowledge.same_dtype.get(key.same_dtype)
    cell = knowledge.cells.get(group.operator)
    yield "documented" if cell is not None and cell.kind == "documented" else "operator", cell


def _from_verdict(group: Group, rung: str, verdict: Verdict) -> Finding:
    level = _level(rung, verdict)
    finding = _finding(group, level, verdict.kind, rung, Reason(f"{rung}_{level}", {}))
    return finding._replace(
        detail=verdict.reason,
        evidence_ref=verdict.evidence_ref,
        advice=advise(rung, verdict.reason),
        contradiction=verdict.contradiction,
    )


def _as_listed(finding: Finding, signature: Mapping[str, Any], claim: Claim | None) -> Finding:
    """A claim reaches no further than the data types that it lists."""
    dtype = unlisted_type(claim.dtypes, signature) if claim and finding.level != "red" else ""
    if claim is None or not dtype:
        return finding
    listed: Param = listed_types(claim.dtypes)
    return finding._replace(
        level="yellow",
        reason=Reason("documented_dtype", {"listed": listed, "dtype": dtype}),
        advice=Reason("change_dtype", {"good": listed}),
    )


def _level(rung: str, verdict: Verdict) -> str:
    """Where a form near this one fails and another passes, this one may do either."""
    passes = verdict.core_passed + verdict.rest_passed
    if rung in ("class", "dtype") and verdict.level == "red" and passes:
        return "yellow"
    return verdict.level


def _nothing(group: Group, domains: frozenset[str], cell: Verdict | None) -> Finding:
    domain, op = group.operator
    params: dict[str, Param] = {"operator": op}
    if domain not in domains:
        reason, advice = Reason("unknown_domain", params | {"domain": domain}), "name_domain"
    elif group.signature is None:
        reason, advice = Reason("unreadable", params), "infer_shapes"
    else:
        reason, advice = Reason("untried", params), "try_node"
    finding = _finding(group, "unknown", "none", "none", reason)
    return finding._replace(advice=Reason(advice, {}), detail=cell.reason if cell else None)


def _finding(group: Group, level: str, kind: str, rung: str, reason: Reason) -> Finding:
    return Finding(level, kind, rung, reason, None, (), group.signature, "", group.operator)


def _badness(fate: str) -> int:
    """Free, green, unknown, yellow, red."""
    return ("free", "green", "unknown", "yellow", "red").index(fate)


def _listing(finding: Finding) -> tuple[bool, int, bool, tuple[int, ...]]:
    return finding.free, LISTED.index(finding.level), bool(finding.nodes), finding.nodes
