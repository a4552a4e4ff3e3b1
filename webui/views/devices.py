"""Registered devices: their states and tokens, and the form that registers one."""

from collections.abc import Callable
from functools import wraps
from typing import NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from compat.devices import (
    REGISTERED,
    DeviceError,
    DeviceRow,
    Standing,
    TakenError,
    TokenRow,
    are_open,
    device_row,
    issue_another,
    load_device_tokens,
    load_devices,
    register_device,
    revoke_device_token,
    set_standing,
)
from compat.models import Device
from webui.agent_commands import AgentCommands, agent_commands
from webui.forms import DeviceForm
from webui.words import DEVICE_CLASSES


class Listed(NamedTuple):
    """A device with its valid tokens, which only those see who may end them."""

    device: DeviceRow
    tokens: list[TokenRow]


class NewToken(NamedTuple):
    """A secret that is shown in this one answer."""

    device: DeviceRow
    secret: str
    commands: AgentCommands


def devices(request: HttpRequest) -> HttpResponse:
    """The list; a POST registers a device and answers with its token."""
    if request.method == "POST":
        return _register(request)
    return _page(request, DeviceForm())


def _where_open(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A token writes evidence: a site's visitors get none."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if not are_open(request):
            raise PermissionDenied(
                _(
                    "Devices are registered by whoever runs the site, with manage.py "
                    "register_device, or by visitors when OPATLAS_OPEN_DEVICES=1 is set."
                )
            )
        return view(request, *args, **kwargs)

    return guarded


@_where_open
def _register(request: HttpRequest) -> HttpResponse:
    form = DeviceForm(request.POST)
    if not form.is_valid():
        return _refused(request, form)
    try:
        device, secret = register_device(**form.cleaned_data)
    except TakenError as error:
        form.add_error("slug", _taken(error))
        return _refused(request, form)
    return _page(request, DeviceForm(), new=_new_token(request, device, secret), status=201)


@_where_open
def another_token(request: HttpRequest, slug: str) -> HttpResponse:
    """One more token of a device. Where only the language changes, the list is shown again."""
    if request.method != "POST":
        return redirect("webui:devices")
    try:
        device, secret = issue_another(slug=slug)
    except DeviceError as error:
        raise Http404(str(error)) from error
    return _page(request, DeviceForm(), new=_new_token(request, device, secret), status=201)


@require_POST
@_where_open
def revoke(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """End a token; a second click finds it ended."""
    if revoke_device_token(slug=slug, number=number):
        messages.success(request, _("The token opens nothing any more."))
    else:
        messages.error(request, _("This device has no valid token of this number."))
    return _back_to(slug)


@require_POST
@_where_open
def standing(request: HttpRequest, slug: str) -> HttpResponse:
    """What the owner wants of a device: at work, in maintenance, retired."""
    try:
        device = set_standing(slug=slug, standing=request.POST.get("standing", ""))
    except DeviceError as error:
        raise Http404(str(error)) from error
    said = {
        Standing.ACTIVE: _("%(device)s gets work again."),
        Standing.MAINTENANCE: _("%(device)s gets no work for now; results it has are taken."),
        Standing.RETIRED: _("%(device)s is retired: nothing of it is taken."),
    }[Standing(device.standing)]
    messages.success(request, said % {"device": device.title})
    return _back_to(slug)


def _page(
    request: HttpRequest, form: DeviceForm, *, new: NewToken | None = None, status: int = 200
) -> HttpResponse:
    may_change = are_open(request)
    tokens = load_device_tokens() if may_change else {}
    context = {
        "devices": [Listed(row, tokens.get(row.slug, [])) for row in load_devices()],
        "may_change": may_change,
        "form": form,
        "new": new,
        "classes": DEVICE_CLASSES,
    }
    response = render(request, "webui/devices.html", context, status=status)
    if may_change:
        response["Cache-Control"] = "no-store"
    return response


def _refused(request: HttpRequest, form: DeviceForm) -> HttpResponse:
    form.focus_error()
    return _page(request, form, status=422)


def _new_token(request: HttpRequest, device: Device, secret: str) -> NewToken:
    return NewToken(device_row(device), secret, agent_commands(request, device))


def _taken(error: TakenError) -> str:
    names = {"name": error.slug}
    if error.origin == REGISTERED:
        return (
            _(
                "%(name)s is registered already. If you did that just now and missed its token, "
                "issue another one in the list; for another device choose another name."
            )
            % names
        )
    return _("%(name)s is the name of a device of this site that has no agent.") % names


def _back_to(slug: str) -> HttpResponse:
    return redirect(f"{reverse('webui:devices')}#device-{slug}")
