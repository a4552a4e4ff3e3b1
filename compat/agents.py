"""What agents of registered devices ask: who am I here, what is to do, take these results."""

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from compat import leases
from compat.devices import SILENT_S, Standing, heard_since
from compat.fleet import SHOWN_FACTS, ensure_target
from compat.headers import check_capabilities, check_storable, is_claim, pick_capabilities
from compat.models import Device, Probe, Sweep, Target
from compat.sweeps import SweepError, start_sweep
from probes.protocol import AGENT_SCHEMA, MOST_IN_A_BATCH

CLOCK_SKEW_S = 120
LONGEST_FACT = 200

# code -> HTTP status, and what to do
REFUSALS: dict[str, tuple[int, str]] = {
    "schema_mismatch": (
        409,
        "This server speaks schema {ours}, the agent schema {theirs}. Install the opatlas-probes "
        "of the server's release on the device.",
    ),
    "clock_skew": (
        409,
        "The device's clock is {seconds} s off. Set it (NTP), or newer results would look older.",
    ),
    "second_agent": (
        409,
        "Another agent spoke for {device} less than {silent} s ago. Stop that one, or register "
        "this device under a name of its own.",
    ),
    "not_this_device": (403, "This token does not speak for {what}. Use the token of that device."),
    "device_retired": (
        409,
        "{device} is retired. Stop its agent, or take the device back: "
        "manage.py set_device {device} active.",
    ),
    "device_maintenance": (
        409,
        "{device} is in maintenance: it gets no work until its owner ends that "
        "(manage.py set_device {device} active).",
    ),
}


class AgentRefusal(Exception):
    """A typed no; `code` is a key of REFUSALS."""

    def __init__(self, code: str, **params: object) -> None:
        self.status, template = REFUSALS[code]
        self.code = code
        super().__init__(template.format(**params))


class Offer(NamedTuple):
    """A runtime that the agent found on its device."""

    runtime: str
    runtime_version: str
    config_name: str
    config: dict[str, Any]
    capabilities: dict[str, Any]


class Batch(NamedTuple):
    claim: str
    probes: list[leases.ClaimedProbe]


def greet(
    *,
    device: Device | None,
    schema: int,
    agent: str,
    clock: float,
    facts: Mapping[str, Any],
    offers: Sequence[Offer],
) -> list[Target]:
    """The targets of an agent that starts, made where they are new, and filled where empty.

    Raises AgentRefusal, and ValueError for a target that clashes with a known one.
    """
    if schema != AGENT_SCHEMA:
        raise AgentRefusal("schema_mismatch", ours=AGENT_SCHEMA, theirs=schema)
    device = _hear(device, agent)
    off = clock - time.time()
    if abs(off) > CLOCK_SKEW_S:
        raise AgentRefusal("clock_skew", seconds=round(off))
    for offer in offers:
        check_runtime(device, offer.runtime)
    _note_facts(device, facts)
    targets = [offered_target(device, offer) for offer in offers]
    for target in targets:
        _fill(target)
    return targets


def claim(*, device: Device | None, agent: str, target: str, size: int) -> Batch:
    """Queued probes of one of the device's targets, under a new claim; raises AgentRefusal."""
    device = _hear(device, agent)
    wanted = Target.objects.filter(slug=target, column__device=device).first()
    if wanted is None:
        raise AgentRefusal("not_this_device", what=target)
    name = uuid.uuid4().hex
    size = min(size, MOST_IN_A_BATCH)
    for _ in range(2):
        batch = leases.claim_batch(
            target=wanted, worker=name, size=size, lease_s=settings.AGENT_LEASE_S
        )
        if batch or not leases.requeue_expired():
            break
    return Batch(name, batch)


def renew(*, device: Device | None, agent: str, claim: str) -> int:
    """Keep what the claim still holds; returns how many probes that is."""
    if not _holds(_hear(device, agent), claim):
        return 0
    return leases.renew_lease(worker=claim, lease_s=settings.AGENT_LEASE_S)


def give_back(*, device: Device | None, agent: str, claim: str, lost: bool) -> int:
    """Offer again what the claim holds; `lost` if its agent died with it, which counts."""
    if not _holds(_hear(device, agent), claim):
        return 0
    return leases.lose(worker=claim) if lost else leases.release(worker=claim)


def check_runtime(device: Device, runtime: str) -> None:
    """Raises AgentRefusal for a runtime that the device was registered without."""
    if device.runtimes and runtime not in device.runtimes:
        raise AgentRefusal("not_this_device", what=f"{runtime} on {device.slug}")


def _hear(device: Device | None, agent: str) -> Device:
    """Note the heartbeat of a device's agent; raises AgentRefusal when it may not speak."""
    if device is None:
        raise AgentRefusal("not_this_device", what="any device")
    for standing, code in (
        (Standing.RETIRED, "device_retired"),
        (Standing.MAINTENANCE, "device_maintenance"),
    ):
        if device.standing == standing:
            raise AgentRefusal(code, device=device.slug)
    mine = Q(agent__in=["", agent]) | Q(seen_at=None) | Q(seen_at__lt=heard_since())
    if not Device.objects.filter(mine, pk=device.pk).update(agent=agent, seen_at=timezone.now()):
        raise AgentRefusal("second_agent", device=device.slug, silent=SILENT_S)
    return device


def _note_facts(device: Device, facts: Mapping[str, Any]) -> None:
    told = {name: str(facts[name])[:LONGEST_FACT] for name in SHOWN_FACTS if name in facts}
    check_storable(told, "The device's facts")
    if told and told.items() - device.facts.items():
        Device.objects.filter(pk=device.pk).update(facts=device.facts | told)


def offered_target(device: Device, offer: Offer) -> Target:
    """The target of an offer, made where it is new; raises ValueError for one that cannot be."""
    check_storable([offer.config, offer.capabilities], "The offer")
    check_capabilities(offer.capabilities, "The offer")
    return ensure_target(
        device=device,
        runtime=offer.runtime,
        version=offer.runtime_version,
        config_name=offer.config_name,
        config=offer.config,
        capabilities=pick_capabilities(offer.capabilities),
    )


def _fill(target: Target) -> None:
    """A target that nothing was ever asked of is asked everything."""
    if Sweep.objects.filter(target=target).exists():
        return
    try:
        start_sweep(target=target, origin="agent")
    except SweepError:
        return  # there is no case yet


def _holds(device: Device, claim: str) -> bool:
    if not is_claim(claim):
        return False  # a worker's own, or nobody's
    held = Probe.objects.filter(claim=claim, state=Probe.State.CLAIMED)
    return held.filter(target__column__device=device).exists()
