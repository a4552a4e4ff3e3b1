"""A sweep's progress, and the buttons that start, stop and resume one."""

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from compat import fleet, sweeps
from compat.history.parts import support_of
from compat.models import Sweep


def sweep(request: HttpRequest, sweep_id: int) -> HttpResponse:
    found = _sweep(sweep_id)
    progress = sweeps.progress(found)
    outcomes = sorted(progress.outcomes.items(), key=lambda item: -item[1])
    context = {
        "sweep": found,
        "progress": progress,
        "active": found.state in sweeps.OPEN,
        "may_sweep": sweeps.are_open(),
        "outcomes": [(code, support_of(code), count) for code, count in outcomes],
    }
    return render(request, "webui/sweep.html", context)


def _where_open(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A public site's visitors must not make its machine work."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if not sweeps.are_open():
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return require_POST(guarded)


@_where_open
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """Probe one of this machine's own targets."""
    target = next((each for each in fleet.local_targets() if each.column.slug == slug), None)
    if target is None:
        raise Http404("No runtime of this machine has this name.")
    try:
        started = sweeps.start_sweep(target=target)
    except sweeps.SweepError:
        messages.error(request, _("No case is loaded yet, so there is nothing to probe."))
        return redirect("webui:target", slug)
    return redirect("webui:sweep", started.pk)


@_where_open
def stop(request: HttpRequest, sweep_id: int) -> HttpResponse:
    sweeps.stop_sweep(sweep=_sweep(sweep_id))
    return redirect("webui:sweep", sweep_id)


@_where_open
def resume(request: HttpRequest, sweep_id: int) -> HttpResponse:
    sweeps.resume_sweep(sweep=_sweep(sweep_id))
    return redirect("webui:sweep", sweep_id)


def _sweep(sweep_id: int) -> Sweep:
    known = Sweep.objects.select_related("target__column__device")
    return get_object_or_404(known, pk=sweep_id)
