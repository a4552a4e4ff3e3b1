"""The page of one operator: its cell in every column and its cases."""

from collections.abc import Iterator
from typing import NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from compat.columns import ColumnHead
from compat.history import NotKnown, OperatorPage, load_operator, unabridged
from compat.history.operator import OperatorCell
from webui.latency import TimeRange, time_range
from webui.limits import block_of
from webui.words import sentence


class Line(NamedTuple):
    cell: OperatorCell
    said: str
    times: TimeRange | None


def operator(request: HttpRequest, domain: str, name: str) -> HttpResponse:
    try:
        page = load_operator(domain, name)
    except NotKnown as error:
        raise Http404(str(error)) from error
    context = {
        "page": page,
        "cells": _cells(page),
        "promoted": _is_promoted(page),
        "limits": [block_of(view) for view in page.limits],
    }
    return render(request, "webui/operator.html", context)


def _is_promoted(page: OperatorPage) -> bool:
    """No form from a model: node tests stand in for the core."""
    return bool(page.cases) and not any(case.core for case in page.cases)


def _cells(page: OperatorPage) -> list[Line]:
    promoted = _is_promoted(page)
    return [
        Line(cell, _reason(page, cell, promoted), time_range(_times(page, cell.column)))
        for cell in page.cells
    ]


def _reason(page: OperatorPage, cell: OperatorCell, promoted: bool) -> str:
    verdict = cell.verdict
    if verdict is None:
        return ""
    said = [claim.restriction for claim in page.claims if claim.joins(cell.column)]
    params = unabridged(verdict.reason_params, said)
    return sentence(verdict.reason_code, params, promoted=promoted)


def _times(page: OperatorPage, column: ColumnHead) -> Iterator[float | None]:
    if column not in page.probed_columns:
        return
    place = page.probed_columns.index(column)
    for case in page.cases:
        mark = case.marks[place]
        yield mark.p50_ms if mark and case.core else None
