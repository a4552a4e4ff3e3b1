"""The targets: the list of all columns, and the page of one."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from compat import fleet, sweeps
from compat.history import NotKnown, load_column
from compat.matrix import load_matrix
from webui.columns import group_columns


def targets(request: HttpRequest) -> HttpResponse:
    return render(request, "webui/targets.html", {"classes": group_columns(load_matrix().columns)})


def target(request: HttpRequest, slug: str) -> HttpResponse:
    """A column's page; a target's slug ("...@version") shows its column."""
    try:
        page = load_column(slug.partition("@")[0])
    except NotKnown as error:
        raise Http404(str(error)) from error
    is_local = any(each.column.slug == page.column.slug for each in fleet.local_targets())
    can_sweep = is_local and sweeps.are_open()
    return render(request, "webui/target.html", {"page": page, "can_sweep": can_sweep})
