"""What documents say about an operator, told apart by the column that a claim belongs to."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from compat.columns import ColumnHead
from compat.models import Claim
from compat.operators import OperatorName, named_operators
from compat.runtimes import runtime_title

CUT = "…"
Restrictions = dict[OperatorName, list[str]]  # the restrictions of an operator's claims


@dataclass(frozen=True)
class ClaimView:
    """One documented row with its source; `device_class` "" means any device."""

    runtime: str
    runtime_title: str
    device_class: str
    runtime_version: str
    level: str  # full, partial, none
    opset_min: int | None
    opset_max: int | None
    dtypes: str
    restriction: str
    unit: str
    source_slug: str
    source_title: str
    source_version: str
    source_date: str
    source_place: str
    source_note: str

    def joins(self, head: ColumnHead) -> bool:
        """Whether the claim speaks of this column: same runtime, same class of device."""
        return self.runtime == head.runtime and self.device_class in ("", head.device_class)


def load_claims(operator_id: int) -> list[ClaimView]:
    """One query: all claims about an operator, whoever makes them."""
    claims = Claim.objects.filter(operator=operator_id).select_related("source")
    ordered = claims.order_by("runtime", "device_class", "-rank", "source", "id")
    return [claim_view(claim) for claim in ordered]


def load_restrictions(head: ColumnHead, operators: Collection[OperatorName]) -> Restrictions:
    """One query: what the claims of this column say of some operators."""
    claims = Claim.objects.filter(
        runtime=head.runtime,
        device_class__in=("", head.device_class),
        operator__in=named_operators(operators),
    ).exclude(restriction="")
    found: Restrictions = {}
    for domain, name, text in claims.values_list(
        "operator__domain", "operator__name", "restriction"
    ):
        found.setdefault((domain, name), []).append(text)
    return found


def unabridged(params: Mapping[str, Any], restrictions: Iterable[str]) -> Mapping[str, Any]:
    """A reason's parameters with the restriction in full, where a claim begins like the cut one."""
    said = str(params.get("restriction", ""))
    if not said.endswith(CUT):
        return params
    whole = (text for text in restrictions if text.startswith(said.removesuffix(CUT)))
    return {**params, "restriction": next(whole, said)}


def split_claims(
    claims: Iterable[ClaimView], head: ColumnHead
) -> tuple[tuple[ClaimView, ...], tuple[ClaimView, ...]]:
    """The column's own claims, and what other compilers say of the same class of device."""
    own, others = [], []
    for claim in claims:
        if claim.joins(head):
            own.append(claim)
        elif claim.device_class == head.device_class:
            others.append(claim)
    return tuple(own), tuple(others)


def claim_view(claim: Claim) -> ClaimView:
    """A claim as pages show it; its source has to be loaded."""
    return ClaimView(
        runtime=claim.runtime,
        runtime_title=runtime_title(claim.runtime),
        device_class=claim.device_class,
        runtime_version=claim.runtime_version,
        level=claim.level,
        opset_min=claim.opset_min,
        opset_max=claim.opset_max,
        dtypes=claim.dtypes,
        restriction=claim.restriction,
        unit=claim.unit,
        source_slug=claim.source.slug,
        source_title=claim.source.title,
        source_version=claim.source.version,
        source_date=claim.source.date,
        source_place=claim.source.place,
        source_note=claim.source.note,
    )
