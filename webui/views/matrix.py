"""The landing page: the matrix, its filters and its legend."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from compat.matrix import Matrix, load_matrix
from compat.operators import with_core
from compat.reports import load_report, operators_of
from webui.filters import is_filtered, links, load_menus, read_filters, scope_of, understood
from webui.table import SHOWS, device_heads, head_row, matrix_rows
from webui.words import Word

SCOPES: list[tuple[str, Word]] = [("top", _("Most used")), ("all", _("All operators"))]
REPORT_SCOPE: tuple[str, Word] = ("report", _("Operators of this report"))
SHOW_LABELS: list[tuple[str, Word]] = [("support", _("Support")), ("latency", _("Latency"))]


def matrix(request: HttpRequest) -> HttpResponse:
    """Every filter is a query parameter, so any view of the matrix has a link."""
    menus = load_menus(request.GET)
    query, ignored = understood(request.GET, menus)
    report = load_report(token) if (token := request.GET.get("report")) else None
    scope = scope_of(query, report is not None)
    found = load_matrix(read_filters(query, scope, operators_of(report) if report else None))
    show = query.get("show", "")
    show = show if show in SHOWS else SHOWS[0]
    scopes = [*SCOPES, REPORT_SCOPE] if report else SCOPES
    context = {
        "report": report,
        "scope": scope,
        "scopes": links(query, "view", scopes, scope),
        "shows": links(query, "show", SHOW_LABELS, show),
        "show": show,
        "query": query.get("q", ""),
        "named_columns": query.getlist("column"),
        "menus": menus,
        "ignored": ignored,
        "filtered": is_filtered(query),
        **_table(found, show),
    }
    return render(request, "webui/matrix.html", context)


def _table(found: Matrix, show: str) -> dict[str, Any]:
    return {
        "devices": device_heads(found.columns),
        "heads": list(head_row(found.columns)),
        "rows": matrix_rows(found, show, with_core()),
        "row_count": len(found.rows),
    }
