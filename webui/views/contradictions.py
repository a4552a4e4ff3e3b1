"""Where vendors' lists and probes disagree: the page, and the same as CSV."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import translation

from compat.contradictions import EVERY, contradictions_csv, load_contradictions
from compat.operators import with_core
from webui.contradictions import (
    address_of,
    is_filtered,
    line_of,
    menus_of,
    read_filters,
    told_of,
    unknown_values,
    ways_of,
)

SHOWN = 50  # rows of a page


def contradictions(request: HttpRequest) -> HttpResponse:
    """Every filter is a query parameter, so any part of the list has a link."""
    found = load_contradictions(read_filters(request.GET))
    page = Paginator(found.rows, SHOWN).get_page(request.GET.get("page"))
    menus, core = menus_of(request.GET, found.columns), with_core()
    hard, softer = ways_of(request.GET, found.counts)
    context = {
        "page": page,
        "lines": [line_of(row, core) for row in page],
        "menus": menus,
        "unknown": unknown_values(request.GET, menus),
        "hard": hard,
        "softer": softer,
        "softer_chosen": any(way.chosen for way in softer),
        "every": address_of(request.GET, EVERY),
        "query": request.GET.get("q", ""),
        "address": address_of(request.GET),
        "filtered": is_filtered(request.GET),
        "can_probe": any(not head.claimed_only for head in found.columns),
    }
    return render(request, "webui/contradictions.html", context)


def contradictions_file(request: HttpRequest) -> StreamingHttpResponse:
    """All rows that the filters keep; codes and English sentences: programs read them too."""
    rows, core = load_contradictions(read_filters(request.GET)).rows, with_core()
    with translation.override("en"):
        told = [told_of(row, request, core) for row in rows]
    body = contradictions_csv(rows, told)
    response = StreamingHttpResponse(body, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="opatlas-contradictions.csv"'
    return response
