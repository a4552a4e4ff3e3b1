"""Registered devices: their tokens, what their owner sets, and whether their agent is heard."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from compat.models import Device, Target, Token
from compat.own_machine import is_from_here
from compat.tokens import issue_token, revoke_token
from probes.model.plain import plain_text
from probes.run.registry import RUNTIMES

REGISTERED = "registered"
SILENT_S = 60  # without a heartbeat for so long, a device is offline
SLUG_LENGTH, TITLE_LENGTH, CLASS_LENGTH = 80, 120, 40
Standing = Device.Standing


class DeviceError(ValueError):
    """A device that cannot be registered or changed so; the message says what to do."""


class TakenError(DeviceError):
    """There is a device of this slug already; `origin` says what it is."""

    def __init__(self, slug: str, origin: str) -> None:
        self.slug, self.origin = slug, origin
        another = f"give it another token: manage.py issue_token {slug} --device {slug}"
        super().__init__(
            f"There is a device {slug} already ({origin}). Choose another slug"
            + (f", or {another}." if origin == REGISTERED else ".")
        )


@dataclass(frozen=True)
class DeviceRow:
    """A registered device as lists show it. `state`: online, offline, maintenance, retired."""

    slug: str
    title: str
    device_class: str
    state: str
    seen_at: datetime | None
    runtimes: tuple[str, ...]
    targets: tuple[str, ...]


@dataclass(frozen=True)
class TokenRow:
    """A valid token of a device; what it is made of is not known here."""

    number: int
    name: str
    created_at: datetime
    used_at: datetime | None


def are_open(request: HttpRequest) -> bool:
    """Whether whoever asks may register devices: by OPEN_DEVICES, else on one's own machine only.

    A device's token writes evidence, so a site that others reach is closed until it is opened.
    """
    if settings.OPEN_DEVICES:
        return bool(settings.OPEN_DEVICES == "1")
    return is_from_here(request)


def register_device(
    *, slug: str, title: str, device_class: str, runtimes: Sequence[str] = ()
) -> tuple[Device, str]:
    """A device whose agent may send results, and the secret of its token, shown this once.

    A board of the catalogue becomes a registered one, unless a toolchain speaks for it. Raises
    DeviceError.
    """
    _check_slug("slug", slug, SLUG_LENGTH)
    _check_slug("device class", device_class, CLASS_LENGTH)
    _check_runtimes(runtimes)
    shown = plain_text(title.strip() or slug, TITLE_LENGTH)
    fields = {"title": shown, "device_class": device_class}
    with transaction.atomic():
        device, is_new = Device.objects.get_or_create(
            slug=slug, defaults={**fields, "origin": REGISTERED, "confidence": "measured"}
        )
        if not is_new and not _adopt(device):
            device.refresh_from_db()  # somebody else may have registered it a moment ago
            raise TakenError(slug, device.origin)
        Device.objects.filter(pk=device.pk).update(runtimes=sorted(set(runtimes)), **fields)
        device.refresh_from_db()
        _, secret = issue_token(name=slug, scopes=["results"], device=device)
    return device, secret


def issue_another(*, slug: str) -> tuple[Device, str]:
    """The device and the secret of one more token of its own; raises DeviceError."""
    device = Device.objects.filter(slug=slug, origin=REGISTERED).first()
    if device is None:
        raise DeviceError(f"No registered device is called {slug}.")
    _, secret = issue_token(name=slug, scopes=["results"], device=device)
    return device, secret


def revoke_device_token(*, slug: str, number: int) -> bool:
    """End a token of this device; False where it has no valid one of this number."""
    token = Token.objects.filter(pk=number, device__slug=slug).first()
    return token is not None and revoke_token(token=token)


def set_standing(*, slug: str, standing: str) -> Device:
    """Put a registered device into maintenance, retire it, or take it back; raises DeviceError."""
    if standing not in Standing.values:
        raise DeviceError(f"{standing} is none of {', '.join(Standing.values)}.")
    changed = Device.objects.filter(slug=slug, origin=REGISTERED).update(standing=standing)
    if not changed:
        raise DeviceError(f"No registered device is called {slug}.")
    return Device.objects.get(slug=slug)


def load_devices() -> list[DeviceRow]:
    """The registered devices, in two queries."""
    targets: dict[int, list[str]] = {}
    named = Target.objects.filter(column__device__origin=REGISTERED).order_by("slug")
    for device, slug in named.values_list("column__device_id", "slug"):
        targets.setdefault(device, []).append(slug)
    devices = Device.objects.filter(origin=REGISTERED).order_by("slug")
    return [device_row(device, targets.get(device.pk, ())) for device in devices]


def device_row(device: Device, targets: Sequence[str] = ()) -> DeviceRow:
    return DeviceRow(
        slug=device.slug,
        title=device.title,
        device_class=device.device_class,
        state=state_of(device),
        seen_at=device.seen_at,
        runtimes=tuple(device.runtimes),
        targets=tuple(targets),
    )


def state_of(device: Device) -> str:
    """What the owner set, else whether a heartbeat came within SILENT_S."""
    if device.standing != Standing.ACTIVE:
        return device.standing
    heard = device.seen_at is not None and device.seen_at > heard_since()
    return "online" if heard else "offline"


def heard_since() -> datetime:
    """An agent heard after this is at work."""
    return timezone.now() - timedelta(seconds=SILENT_S)


def load_device_tokens() -> dict[str, list[TokenRow]]:
    """The valid tokens of every registered device by its slug, oldest first; one query."""
    found: dict[str, list[TokenRow]] = {}
    valid = Token.objects.filter(device__origin=REGISTERED, revoked_at=None).order_by("pk")
    rows = valid.values_list("device__slug", "pk", "name", "created_at", "used_at")
    for device, number, name, created_at, used_at in rows:
        found.setdefault(device, []).append(TokenRow(number, name, created_at, used_at))
    return found


def _adopt(device: Device) -> bool:
    """Whether the device was one of the catalogue until now, and is registered from now on.

    Not one that a toolchain speaks for: what it simulated is for no board's token to replace.
    """
    simulated = [slug for slug, row in RUNTIMES.items() if row.simulates]
    free = Device.objects.filter(pk=device.pk, origin="catalogue")
    taken = free.exclude(columns__runtime__in=simulated).update(
        origin=REGISTERED, confidence="measured"
    )
    return bool(taken)


def _check_slug(what: str, value: str, length: int) -> None:
    try:
        validate_slug(value)
    except ValidationError:
        raise DeviceError(f"A {what} has letters, digits, - and _ only.") from None
    if len(value) > length:
        raise DeviceError(f"A {what} has at most {length} characters.")


def _check_runtimes(slugs: Sequence[str]) -> None:
    unknown = sorted(set(slugs) - RUNTIMES.keys())
    if unknown:
        raise DeviceError(
            f"{', '.join(unknown)}: no such runtime; there are {', '.join(RUNTIMES)}."
        )
