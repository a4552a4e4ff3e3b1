"""What is known of chosen targets about the nodes of one model, as the engine's plain values."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Exists, OuterRef, Subquery
from django.db.models.functions import Left

from compat.cells import EVIDENCE, MESSAGE_CHARS, evidence_of, judged_probes, load_claims
from compat.models import Case, Cell, Column, Probe, Target
from compat.operators import OperatorName, named_operators
from probes.judge.claims import choose_claim
from probes.judge.knowledge import (
    Keys,
    Refusal,
    TargetKnowledge,
    node_verdict,
    signature_keys,
    version_key,
)
from probes.judge.reasons import Reason
from probes.judge.support import Claim, Evidence, Verdict, judge

# Inputs made constant give the node another signature; a version stamp does not.
NODE_FORMS = ("as_is", "restamped", "defaults", "restamped+defaults")
KEYS = ("case__signature_key", "case__class_key", "case__dtype_key")
VERDICT = ("level", "kind", "reason_code", "reason_params", "core_passed", "core_total",
           "rest_passed", "rest_total", "max_abs", "contradiction", "claim_level",
           "probe_id")  # fmt: skip
PASSES = ("passed", "close", "unstable", "wrong_dtype")

_Rows = dict[int, dict[int, list[tuple[Any, ...]]]]  # target id, operator id


class Verdicts(Mapping[str, Verdict]):
    """Node verdicts by key, each judged when it is first asked for: most never are."""

    def __init__(self) -> None:
        self._evidence: dict[str, list[Evidence]] = {}
        self._judged: dict[str, Verdict] = {}

    def add(self, key: str, evidence: Evidence) -> None:
        self._evidence.setdefault(key, []).append(evidence)

    def __getitem__(self, key: str) -> Verdict:
        if key not in self._judged:
            self._judged[key] = node_verdict(self._evidence[key])
        return self._judged[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._evidence)

    def __len__(self) -> int:
        return len(self._evidence)


@dataclass
class Choice:
    """One asked target: a column with all its versions, newest first, or one version of it."""

    slug: str
    column: Column
    targets: list[Target]
    is_version: bool
    exact: Verdicts = field(default_factory=Verdicts)
    same_class: Verdicts = field(default_factory=Verdicts)
    same_version: Verdicts = field(default_factory=Verdicts)
    same_dtype: Verdicts = field(default_factory=Verdicts)
    claims: dict[OperatorName, Claim] = field(default_factory=dict)
    cells: dict[OperatorName, Verdict] = field(default_factory=dict)

    @property
    def newest(self) -> Target | None:
        return self.targets[0] if self.targets else None


def knowledge_for(
    asked: Sequence[Column | Target], facts: Mapping[str, Any], keys: Sequence[Keys] | None = None
) -> list[TargetKnowledge]:
    """One entry for each asked target, in order.

    Four queries and one for each column that only documents speak of; two more for each version
    that is not its column's newest, and one for each stamp that is too new for a target.
    """
    keys = signature_keys(facts) if keys is None else keys
    names = {(node["domain"] or "ai.onnx", node["op"]) for node in facts["nodes"]}
    choices = _choices(asked)
    _add_node_evidence(choices, keys)
    _add_cells(choices, names)
    _add_claims(choices, names)
    for choice in choices:
        if choice.is_version:
            choice.cells = _judge_version(choice, names)
    return [_knowledge(choice, facts["model"]) for choice in choices]


def _choices(asked: Sequence[Column | Target]) -> list[Choice]:
    """Versions without any result say nothing and are left out."""
    columns = [entry.column if isinstance(entry, Target) else entry for entry in asked]
    has_results = Exists(Probe.objects.filter(target=OuterRef("pk"), latest=True))
    found = Target.objects.filter(has_results, column__in=columns).order_by("-version_key")
    versions: dict[int, list[Target]] = {}
    for target in found:
        versions.setdefault(target.column_id, []).append(target)
    return [
        _choice(entry, column, versions.get(column.pk, []))
        for entry, column in zip(asked, columns, strict=True)
    ]


def _choice(entry: Column | Target, column: Column, versions: list[Target]) -> Choice:
    if isinstance(entry, Column):
        return Choice(entry.slug, column, versions, False)
    is_newest = bool(versions) and versions[0] == entry
    return Choice(entry.slug, column, [entry], not is_newest)


def _add_node_evidence(choices: Sequence[Choice], keys: Iterable[Keys]) -> None:
    """One query; for each operator of a choice the newest version that has results speaks."""
    targets = {target.pk for choice in choices for target in choice.targets}
    cases = Case.objects.filter(
        retired=False, dtype_key__in={key.same_dtype for key in keys} - {""}
    )
    probes = Probe.objects.filter(
        target__in=targets, latest=True, form__in=NODE_FORMS, case__in=Subquery(cases.values("pk"))
    )
    found = probes.annotate(line=Left("message", MESSAGE_CHARS)).order_by("pk")
    rows: _Rows = {}
    for target, operator, *rest in found.values_list("target_id", "operator_id", *KEYS, *EVIDENCE):
        rows.setdefault(target, {}).setdefault(operator, []).append(tuple(rest))
    for choice in choices:
        for line in _speaking(choice, rows):
            exact, same_class, same_dtype, *values = line
            evidence = evidence_of(values)
            choice.exact.add(exact, evidence)
            choice.same_class.add(same_class, evidence)
            choice.same_version.add(version_key(same_dtype, evidence.since_version), evidence)
            choice.same_dtype.add(same_dtype, evidence)


def _speaking(choice: Choice, rows: _Rows) -> Iterator[tuple[Any, ...]]:
    heard: set[int] = set()
    for target in choice.targets:
        for operator, lines in rows.get(target.pk, {}).items():
            if operator not in heard:
                yield from lines
        heard |= rows.get(target.pk, {}).keys()


def _add_cells(choices: Sequence[Choice], names: set[OperatorName]) -> None:
    """One query: the judged cells of the columns; a version that is not newest has none."""
    columns = [choice.column.pk for choice in choices if not choice.is_version]
    cells = Cell.objects.filter(
        column__in=columns, operator__in=Subquery(named_operators(names).values("pk"))
    )
    found: dict[int, dict[OperatorName, Verdict]] = {}
    fields = ("column_id", "operator__domain", "operator__name", *VERDICT)
    for column, domain, name, level, kind, code, params, *rest in cells.values_list(*fields):
        verdict = Verdict(level, kind, Reason(code, params), *rest)
        found.setdefault(column, {})[domain, name] = verdict
    for choice in choices:
        choice.cells = {} if choice.is_version else found.get(choice.column.pk, {})


def _add_claims(choices: Sequence[Choice], names: set[OperatorName]) -> None:
    """One query for each column of which nothing but documents speaks: the claim that decides."""
    claimed = [choice for choice in choices if choice.newest is None]
    operators = _names(names) if claimed else {}
    for choice in claimed:
        found = load_claims(choice.column, list(operators))
        decide = {operators[pk]: choose_claim(claims) for pk, claims in found.items()}
        choice.claims = {name: claim for name, claim in decide.items() if claim is not None}


def _names(names: set[OperatorName]) -> dict[int, OperatorName]:
    return {row.pk: (row.domain, row.name) for row in named_operators(names)}


def _judge_version(choice: Choice, names: set[OperatorName]) -> dict[OperatorName, Verdict]:
    """The cells of an older version, which are not stored."""
    (target,) = choice.targets
    operators = _names(names)
    probes = judged_probes().filter(target=target, operator__in=operators)
    rows = probes.annotate(line=Left("message", MESSAGE_CHARS)).order_by("pk")
    evidence: dict[int, list[Evidence]] = {}
    for operator, *values in rows.values_list("operator_id", *EVIDENCE):
        evidence.setdefault(operator, []).append(evidence_of(values))
    claims = load_claims(choice.column, list(operators))
    declared = frozenset(target.capabilities.get("dtypes", ())) or None
    return {
        operators[pk]: judge(evidence.get(pk, []), claims.get(pk, []), declared)
        for pk in evidence.keys() | claims.keys()
    }


def _knowledge(choice: Choice, model: Mapping[str, Any]) -> TargetKnowledge:
    stamps = choice.newest.capabilities if choice.newest else {}
    known = TargetKnowledge(
        target=choice.slug,
        exact=choice.exact,
        same_class=choice.same_class,
        same_version=choice.same_version,
        same_dtype=choice.same_dtype,
        claims=choice.claims,
        cells=choice.cells,
        max_opset=stamps.get("max_opset"),
        max_ir=stamps.get("max_ir"),
    )
    if choice.newest is None:
        listed = [claim.opset_max for claim in choice.claims.values() if claim.opset_max]
        return replace(known, max_opset=max(listed, default=None), stamps_from="stamp_listed")
    opset = int(model["opsets"].get("ai.onnx") or 0)
    if known.max_opset is not None and opset > known.max_opset:
        refusal = _refusal(choice, case__opset__gt=known.max_opset)
        known = replace(known, opset_refusal=refusal)
    if known.max_ir is not None and int(model["ir_version"] or 0) > known.max_ir:
        known = replace(known, ir_refusal=_refusal(choice, case__ir_version__gt=known.max_ir))
    return known


def _refusal(choice: Choice, **too_new: int) -> Refusal | None:
    """A case that was refused as it is and passed with older stamps."""
    passed = Probe.objects.filter(
        case=OuterRef("case"),
        target=OuterRef("target"),
        form="restamped",
        latest=True,
        outcome__in=PASSES,
    )
    refused = Probe.objects.filter(
        Exists(passed),
        target=choice.newest,
        form="as_is",
        latest=True,
        outcome="rejected",
        **too_new,
    )
    found = refused.order_by("pk").values_list("kind", "message", "pk").first()
    return Refusal(*found) if found else None
