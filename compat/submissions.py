"""Results documents of registered devices: whose they are, and into which rows they go."""

import time
from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import islice

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from compat import leases
from compat.agents import CLOCK_SKEW_S, AgentRefusal, Offer, check_runtime, offered_target
from compat.cells import rebuild_cells
from compat.devices import REGISTERED, Standing
from compat.exchange import Header, document_date, document_key
from compat.fleet import check_evidence
from compat.models import Column, Device, Probe, Target
from compat.recording import Recorded, open_record, record_many
from probes.run.outcome import ProbeResult
from probes.run.registry import RUNTIMES

BATCH = 5000  # a whole column at once: fewer, larger statements


def submit(
    *, device: Device | None, header: Header, results: Iterable[ProbeResult], is_admin: bool = False
) -> Recorded:
    """Store a results document of a registered device; the same one again changes nothing.

    With a claim it finishes the rows of that claim, and those that were queued again since;
    what others hold or finished meanwhile is left as it is. Raises AgentRefusal, and ValueError
    for a document that names no known case or clashes with a known target.
    """
    device = _speaks_for(device, header, is_admin)
    target = _header_target(device, header)
    name = header.get("claim")
    sweep = None
    if name is None:
        sweep = open_record(target=target, key=document_key(header), at=document_date(header))
    new = known = 0
    stale: set[int] = set()
    sweeps: set[int] = set()
    results = iter(results)
    try:
        while batch := list(islice(results, BATCH)):
            _check_times(batch)
            if name is not None:
                sweeps |= _take_queued(target, str(name), batch)
            done = record_many(
                target=target,
                environment=header["environment"],
                results=batch,
                sweep=sweep,
                claim=None if name is None else str(name),
            )
            new, known, stale = new + done.new, known + done.known, stale | done.operators
    finally:  # what was stored before a broken result is judged too
        if stale:
            rebuild_cells(column=target.column, operators=stale)
        leases.close_finished(sweeps)
    return Recorded(new, known, frozenset(stale))


def _speaks_for(device: Device | None, header: Header, is_admin: bool) -> Device:
    """The device of a document, if the token may speak for it."""
    slug = str(header["target"]["device"])
    if device is None and is_admin:
        device = Device.objects.filter(_speakable(header), slug=slug).first()
    if device is None or device.slug != slug:
        raise AgentRefusal("not_this_device", what=slug)
    if device.standing == Standing.RETIRED:
        raise AgentRefusal("device_retired", device=slug)
    return device


def _speakable(header: Header) -> Q:
    """Whose results an administrator may bring: those of registered devices, and what a toolchain
    says of a chip that has a column for it."""
    named = header["target"]
    row = RUNTIMES.get(named["runtime"])
    told = named.get("capabilities") or {}
    registered = Q(origin=REGISTERED)
    if row is None or not row.simulates or told.get("evidence") != "simulated":
        return registered
    column = Column.objects.filter(
        device=OuterRef("pk"), runtime=row.slug, config_name=named["config_name"]
    )
    return registered | Q(Exists(column), origin="catalogue")


def _header_target(device: Device, header: Header) -> Target:
    named = header["target"]
    check_runtime(device, named["runtime"])
    slug = f"{device.slug}.{named['runtime']}.{named['config_name']}@{named['runtime_version']}"
    known = Target.objects.select_related("column__device").filter(slug=slug).first()
    if known is not None and known.column.config == named["config"]:
        check_evidence(known, named.get("capabilities") or known.capabilities)
        return known
    return offered_target(
        device,
        Offer(
            named["runtime"],
            named["runtime_version"],
            named["config_name"],
            named["config"],
            named.get("capabilities") or {},
        ),
    )


def _check_times(results: Sequence[ProbeResult]) -> None:
    """A result of tomorrow would stand as the newest until then."""
    ahead = max(result.started_at + result.seconds for result in results) - time.time()
    if ahead > CLOCK_SKEW_S:
        raise AgentRefusal("clock_skew", seconds=round(ahead))


def _take_queued(target: Target, claim: str, results: Sequence[ProbeResult]) -> set[int]:
    """Put rows whose lease this claim lost, and that nobody holds, under it again.

    Returns the sweeps of all rows that these results may finish.
    """
    wanted = {(result.case_id, result.form) for result in results}
    rows = Probe.objects.filter(
        Q(state=Probe.State.QUEUED) | Q(state=Probe.State.CLAIMED, claim=claim),
        target=target,
        case_id__in={case for case, _ in wanted},
    ).values_list("id", "case_id", "form", "state", "sweep_id")
    held = {(case, form) for _, case, form, state, _ in rows if state == Probe.State.CLAIMED}
    free = {
        (case, form): pk
        for pk, case, form, state, _ in rows
        if state == Probe.State.QUEUED and (case, form) in wanted - held
    }
    if free:
        lease = timezone.now() + timedelta(seconds=settings.AGENT_LEASE_S)
        Probe.objects.filter(pk__in=free.values(), state=Probe.State.QUEUED).update(
            state=Probe.State.CLAIMED, claim=claim, lease_until=lease
        )
    return {sweep for *_, sweep in rows}
