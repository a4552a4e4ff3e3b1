"""The page of one cell: why it has its colour."""

from collections.abc import Sequence
from typing import NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from compat.history import CellDetail, NotKnown, ProbeRow, load_cell, unabridged
from compat.models import Column, Operator
from webui.latency import time_range
from webui.limits import block_of
from webui.ways import ways_of
from webui.words import sentence

FOLD_FROM = 12  # so many probes that passed are folded away, so that the others are seen
WORST_FIRST = ("no", "reserved", "none", "yes")


class Group(NamedTuple):
    code: str
    open: Sequence[ProbeRow]
    folded: Sequence[ProbeRow]


def cell(request: HttpRequest, domain: str, name: str, slug: str) -> HttpResponse:
    try:
        detail = load_cell(domain, name, slug)
    except NotKnown as error:
        raise Http404(str(error)) from error
    groups = [_group(group.code, group.probes) for group in detail.groups]
    promoted = bool(groups) and all(group.code != "core" for group in groups)
    context = {
        "detail": detail,
        "groups": groups,
        "limits": [block_of(detail.limits)] if detail.limits else [],
        "promoted": promoted,
        "said": _reason(detail, promoted),
        "ways": ways_of(detail.alternatives, detail.verdict.level if detail.verdict else ""),
        "times": time_range(
            probe.p50_ms for group in detail.groups for probe in group.probes if probe.core
        ),
    }
    return render(request, "webui/cell.html", context)


def _reason(detail: CellDetail, promoted: bool) -> str:
    """The verdict in full; node tests that stand in for a core are called what they are."""
    verdict = detail.verdict
    if verdict is None:
        return ""
    params = unabridged(verdict.reason_params, [claim.restriction for claim in detail.claims])
    return sentence(verdict.reason_code, params, promoted=promoted)


def short_link(request: HttpRequest, operator_id: int, column_id: int) -> HttpResponse:
    """The matrix links cells by number: 9,000 long addresses would be most of its size."""
    operator = get_object_or_404(Operator, pk=operator_id)
    column = get_object_or_404(Column, pk=column_id)
    return redirect("webui:cell", operator.domain, operator.name, column.slug)


def _group(code: str, probes: Sequence[ProbeRow]) -> Group:
    """Failures first. The core is always shown whole."""
    ordered = sorted(probes, key=lambda probe: WORST_FIRST.index(probe.support))
    passed = [probe for probe in ordered if probe.support == "yes"]
    if code == "core" or len(passed) < FOLD_FROM:
        return Group(code, ordered, [])
    return Group(code, ordered[: -len(passed)], passed)
