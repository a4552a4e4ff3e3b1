"""Sweeps: what is asked of a target, how far it is, and how it is stopped and resumed."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from compat.leases import OPEN, State, close_finished
from compat.models import Case, Device, Operator, Probe, Sweep, Target
from probes.cases import origins
from probes.cases.forms import forms_for
from probes.run.adapter import Capabilities

__all__ = [
    "OPEN",
    "Progress",
    "SweepError",
    "announce",
    "are_open",
    "progress",
    "resume_sweep",
    "start_missing",
    "start_sweep",
    "stop_sweep",
    "waiting",
]

RARER = (origins.VARIANT, origins.HARVEST)  # what a schema allows, what one model holds
# How much is asked -> the cases left out.
SCOPES: dict[str, tuple[str, ...]] = {
    "all": (),
    "usual": RARER,
    "mainstream": (origins.NODE, origins.BODY, *RARER),
}
RATE_WINDOW = timedelta(seconds=30)
STILL = timedelta(seconds=10)  # nothing came in for so long: no estimate


class SweepError(ValueError):
    """A sweep that cannot be started; the message says what to do."""


def are_open() -> bool:
    """Whether whoever reaches the site may start and stop sweeps."""
    return bool(settings.OPEN_SWEEPS)


@dataclass(frozen=True)
class Progress:
    """Counts of a sweep's probes; `seconds_left` is None while nothing moves.

    `held` are with a worker, the last of them until `held_until` unless it renews them.
    """

    total: int
    done: int
    seconds_left: float | None
    outcomes: dict[str, int]
    held: int = 0
    held_until: datetime | None = None


def start_sweep(
    *,
    target: Target,
    operators: Sequence[str] | None = None,
    origin: str = "local",
    only_new: bool = False,
    scope: str = "all",
) -> Sweep:
    """Queue every case (of some operators, "Conv" or "domain::Name") in the forms that apply.

    `only_new` leaves out what has a result on this target; `scope` is a row of SCOPES. Raises
    SweepError for an unknown operator, when no case is there, and for a recorded target.
    """
    if target.column.device.origin == "recorded":
        raise SweepError(f"{target} was recorded on a machine that is not here.")
    cases = _cases(operators)
    if only_new:
        known = Probe.objects.filter(case=OuterRef("pk"), target=target, latest=True)
        cases = cases.filter(~Exists(known))
    cases = cases.exclude(origin__in=SCOPES[scope])
    stamps = _stamps(target)
    # Only what a form depends on: signatures and citations of two thousand cases are slow to read.
    needed = cases.only("id", "operator_id", "opset", "ir_version", "traits")
    planned = [(case, form) for case in needed for form in forms_for(case, stamps)]
    if not planned and not only_new:
        raise SweepError("There is no case for these operators yet; see the operator's page.")
    with transaction.atomic():
        sweep = Sweep.objects.create(
            target=target, origin=origin, operators=list(operators or ()), total=len(planned)
        )
        Probe.objects.bulk_create(
            [
                Probe(
                    sweep=sweep,
                    target=target,
                    case=case,
                    operator_id=case.operator_id,
                    form=form,
                )
                for case, form in planned
            ],
            batch_size=1000,
        )
        transaction.on_commit(lambda: announce(target.pk))
    return sweep


def start_missing(*, target: Target, scope: str = "all") -> list[Sweep]:
    """The sweep that fills a target: an open one, or one of what has no result; none if full.

    An open sweep that only asks again what has a result is left to the worker.
    """
    result = Probe.objects.filter(
        target=target, latest=True, case=OuterRef("case"), form=OuterRef("form")
    )
    gaps = Probe.objects.filter(~Exists(result), sweep=OuterRef("pk")).exclude(state=State.DONE)
    gaps = gaps.exclude(case__origin__in=SCOPES[scope])
    open_one = Sweep.objects.filter(Exists(gaps), target=target, state__in=OPEN).first()
    sweep = open_one or start_sweep(target=target, only_new=True, scope=scope)
    if sweep.total == 0:
        sweep.delete()
        return []
    return [sweep]


def stop_sweep(*, sweep: Sweep) -> Sweep:
    """Offer no more of its probes; those in progress still come in."""
    Sweep.objects.filter(pk=sweep.pk, state__in=OPEN).update(state=Sweep.State.STOPPED)
    sweep.refresh_from_db()
    return sweep


def resume_sweep(*, sweep: Sweep) -> Sweep:
    """Offer the rest of a stopped sweep again."""
    changed = Sweep.objects.filter(pk=sweep.pk, state=Sweep.State.STOPPED).update(
        state=Sweep.State.QUEUED, finished_at=None
    )
    if changed:
        close_finished([sweep.pk])
        transaction.on_commit(lambda: announce(sweep.target_id))
    sweep.refresh_from_db()
    return sweep


def progress(sweep: Sweep) -> Progress:
    """How far a sweep is, from its rows, with the pace of the last half minute."""
    now = timezone.now()
    rows = Probe.objects.filter(sweep=sweep, state=State.DONE).order_by()
    outcomes = dict(rows.values_list("outcome").annotate(Count("pk")))
    done = sum(outcomes.values())
    recent = rows.filter(finished_at__gt=now - RATE_WINDOW).aggregate(
        n=Count("pk"), first=Min("finished_at"), last=Max("finished_at")
    )
    moves = recent["last"] is not None and now - recent["last"] < STILL
    held = Probe.objects.filter(sweep=sweep, state=State.CLAIMED).aggregate(
        n=Count("pk"), until=Max("lease_until")
    )
    seconds = _seconds_left(sweep.total - done, recent["n"], recent["first"] if moves else None)
    return Progress(sweep.total, done, seconds, outcomes, held["n"], held["until"])


def waiting(targets: Sequence[Target]) -> list[Target]:
    """Those targets for which something is queued."""
    queued = Probe.objects.filter(target=OuterRef("pk"), state=State.QUEUED, sweep__state__in=OPEN)
    wanted = set(
        Target.objects.filter(Exists(queued), pk__in=[each.pk for each in targets]).values_list(
            "pk", flat=True
        )
    )
    return [target for target in targets if target.pk in wanted]


def announce(target_id: int) -> None:
    """Tell the Celery workers, or the device's agent, of work; a lost message does no harm."""
    if not settings.REDIS_URL:
        return
    from compat.celery import tell_workers, wake_agent

    owned = Device.objects.filter(columns__targets=target_id, origin="registered").first()
    if owned is None:
        tell_workers("compat.probe_target", target_id)
    else:
        wake_agent(owned.slug)


def _cases(names: Sequence[str] | None) -> QuerySet[Case]:
    """The cases of the named operators, or all; raises SweepError for an unknown name."""
    current = Case.objects.filter(retired=False).order_by("name")
    if not names:
        return current
    chosen: list[int] = []
    for name in names:
        domain, _, op_type = name.rpartition("::")
        found = Operator.objects.filter(name=op_type).filter(Q(domain=domain) if domain else Q())
        ids = list(found.values_list("pk", flat=True))
        if not ids:
            raise SweepError(_unknown_operator(name, op_type))
        chosen += ids
    return current.filter(operator__in=chosen)


def _unknown_operator(name: str, op_type: str) -> str:
    known = list(Operator.objects.values_list("name", flat=True).distinct())
    near = difflib.get_close_matches(op_type, known, n=3, cutoff=0.5)
    hint = f" Did you mean {', '.join(near)}?" if near else ""
    return f"There is no operator named {name}.{hint}"


def _stamps(target: Target) -> Capabilities:
    if not target.capabilities:
        return Capabilities()
    return Capabilities.from_dict(target.capabilities)


def _seconds_left(left: int, recent: int, first: datetime | None) -> float | None:
    """Remaining seconds at the pace of the probes that finished since `first`."""
    if left <= 0:
        return 0.0
    if first is None:
        return None
    return left * max((timezone.now() - first).total_seconds(), 0.001) / recent
