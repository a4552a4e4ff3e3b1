"""The parts of a report's page: targets with their totals, groups, findings, forms and nodes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from compat.columns import ColumnHead
from webui.words import word

SHOWN_FORMS = 4


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
    has_ways: bool  # another way to compute it is known, and is asked for
    forms: tuple[Form, ...]

    @property
    def is_claimed(self) -> bool:
        return self.kind == "documented"

    @property
    def node_count(self) -> int:
        return sum(form.node_count for form in self.forms)

    @property
    def shown(self) -> tuple[Form, ...]:
        return self.forms[:SHOWN_FORMS]

    @property
    def folded(self) -> tuple[Form, ...]:
        return self.forms[SHOWN_FORMS:]


class Total(NamedTuple):
    """Nodes of one level, told apart by what they rest on."""

    level: str
    kind: str  # "documented", or "measured" for whatever ran
    nodes: int


class Group(NamedTuple):
    """Findings of the chosen target: of one level, either seen or only claimed."""

    level: str
    is_claimed: bool
    findings: list[Finding]

    @property
    def code(self) -> str:
        return f"{self.level}-claimed" if self.is_claimed else self.level

    @property
    def title(self) -> str:
        table = "claimed_finding_group" if self.is_claimed else "finding_group"
        return word(table, self.level)


class TargetResult(NamedTuple):
    slug: str
    column: ColumnHead | None
    level: str
    kind: str  # the best kind of evidence for this level
    counts: dict[str, int]
    totals: tuple[Total, ...]
    nodes: int
    free: int

    @property
    def is_claimed(self) -> bool:
        """Nothing that is known of it was run."""
        known = [total for total in self.totals if total.level != "unknown"]
        return all(total.kind == "documented" for total in known)


class ReportPage(NamedTuple):
    """`free` nodes need no support."""

    targets: list[TargetResult]
    chosen: TargetResult | None
    groups: list[Group]
    free: list[Finding]
    model: Mapping[str, Any]
    node_total: int
    refusal: str
    warnings: list[str]
