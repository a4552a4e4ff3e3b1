"""The targets: the list of all columns, and the page of one."""

from collections.abc import Collection

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from compat import fleet, sweeps
from compat.columns import load_counted_heads
from compat.history import NotKnown, load_column
from compat.history.column import OperatorLine
from compat.operators import OperatorName, with_core
from webui.columns import group_columns
from webui.words import sentence

AT_WORK = ("online", "offline")  # a registered device: what is queued waits for its agent


def targets(request: HttpRequest) -> HttpResponse:
    return render(request, "webui/targets.html", {"classes": group_columns(load_counted_heads())})


def target(request: HttpRequest, slug: str) -> HttpResponse:
    """A column's page; a target's slug ("...@version") shows its column."""
    try:
        page = load_column(slug.partition("@")[0])
    except NotKnown as error:
        raise Http404(str(error)) from error
    is_local = any(each.column.slug == page.column.slug for each in fleet.local_targets())
    can_sweep = (is_local or page.device.state in AT_WORK) and sweeps.are_open()
    core = with_core()
    failing = [(line, _sentence(line, core)) for line in page.failing]
    context = {"page": page, "can_sweep": can_sweep, "failing": failing}
    return render(request, "webui/target.html", context)


def _sentence(line: OperatorLine, core: Collection[OperatorName]) -> str:
    promoted = (line.domain, line.name) not in core
    return sentence(line.reason_code, line.reason_params, promoted=promoted)
