"""Limits that were found by search, with what documents say of the same parameter."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from compat.history.claims import ClaimView, claim_view
from compat.models import Claim, Limit
from compat.runtimes import runtime_title
from probes.judge.limits import spoken


@dataclass(frozen=True)
class LimitProbe:
    """One probe of a search. `value` is null for one that tried a data type; `runs`: on the
    "intended" unit (also where the runtime does not say), "partly", on the "cpu" instead, or ""
    where it does not work."""

    value: int | None
    case_id: str
    case: str
    node: dict[str, Any]
    form: str
    outcome: str
    stage: str
    runs: str
    placement: str
    placement_detail: str
    message: str


@dataclass(frozen=True)
class LimitEdge:
    """The last value that works and its neighbour that does not, null where none was found.

    `again`: values beyond it that work all the same.
    """

    worked: LimitProbe | None
    failed: LimitProbe | None
    again: tuple[int, ...]


@dataclass(frozen=True)
class ParameterLimit:
    """One parameter, tried from `least` to `most`; `documented`: what restrictions say of it."""

    parameter: str
    kind: str
    operand: str
    least: int
    usual: int
    most: int
    smallest: LimitEdge
    largest: LimitEdge
    documented: tuple[str, ...]


@dataclass(frozen=True)
class TypeTried:
    dtype: str
    works: bool
    probe: LimitProbe


@dataclass(frozen=True)
class LimitView:
    """An operator on a target. `operands` is after opSupportLimits of WebNN: dataTypes, rankRange
    and dimensionRange of each input that shares the first one's type."""

    domain: str
    operator: str
    since_version: int
    target: str
    column: str
    device_title: str
    runtime_title: str
    config_name: str
    runtime_version: str
    parameters: tuple[ParameterLimit, ...]
    dtypes: tuple[TypeTried, ...]
    operands: dict[str, Any]
    unanswered: dict[str, str]
    found_at: datetime
    environment: dict[str, Any]


def load_limits(which: Q, claims: Sequence[ClaimView] | None = None) -> list[LimitView]:
    """The newest version of each operator and column. One query; two where the claims about the
    operators are not given."""
    related = ("operator", "environment", "target__column__device")
    ordered = ("operator__domain", "operator__name", "target__column__slug", "target__version_key")
    found = Limit.objects.filter(which).select_related(*related).order_by(*ordered)
    newest = {(row.operator_id, row.target.column_id): row for row in found}
    if claims is not None:
        return [_view(row, claims) for row in newest.values()]
    said = _claims_of({row.operator_id for row in newest.values()})
    return [_view(row, said.get(row.operator_id, [])) for row in newest.values()]


def _claims_of(operators: Collection[int]) -> dict[int, list[ClaimView]]:
    told = Claim.objects.filter(operator__in=operators).exclude(restriction="")
    found: dict[int, list[ClaimView]] = {}
    for claim in told.select_related("source").order_by("-rank", "source", "id"):
        found.setdefault(claim.operator_id, []).append(claim_view(claim))
    return found


def _view(row: Limit, claims: Sequence[ClaimView]) -> LimitView:
    column = row.target.column
    classes = ("", column.device.device_class)
    said = [each.restriction for each in claims
            if each.runtime == column.runtime and each.device_class in classes]  # fmt: skip
    return LimitView(
        domain=row.operator.domain,
        operator=row.operator.name,
        since_version=row.since_version,
        target=row.target.slug,
        column=column.slug,
        device_title=column.device.title,
        runtime_title=runtime_title(column.runtime),
        config_name=column.config_name,
        runtime_version=row.target.runtime_version,
        parameters=tuple(_parameter(each, said) for each in row.parameters),
        dtypes=tuple(TypeTried(each["dtype"], each["works"], _probe(each)) for each in row.dtypes),
        operands=row.operands,
        unanswered=row.unanswered,
        found_at=row.found_at,
        environment=row.environment.facts,
    )


def _parameter(found: Mapping[str, Any], restrictions: Iterable[str]) -> ParameterLimit:
    said = (spoken(text, found["parameter"]) for text in restrictions)
    plain = ("parameter", "kind", "operand", "least", "usual", "most")
    return ParameterLimit(
        **{name: found[name] for name in plain},
        smallest=_edge(found["smallest"]),
        largest=_edge(found["largest"]),
        documented=tuple(dict.fromkeys(filter(None, said))),
    )


def _edge(found: Mapping[str, Any]) -> LimitEdge:
    worked, failed = found["worked"], found["failed"]
    return LimitEdge(
        worked=_probe(worked) if worked else None,
        failed=_probe(failed) if failed else None,
        again=tuple(found["again"]),
    )


PROBE_FIELDS = ("case_id", "case", "node", "form", "outcome", "stage", "runs",
                "placement", "placement_detail", "message")  # fmt: skip


def _probe(found: Mapping[str, Any]) -> LimitProbe:
    return LimitProbe(value=found.get("value"), **{name: found[name] for name in PROBE_FIELDS})
