"""The queue: probe rows are claimed by condition and leased, never locked."""

from collections.abc import Collection
from datetime import timedelta
from typing import NamedTuple

from django.db import connection
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from compat.bulk import hasty_transaction
from compat.models import Probe, Sweep, Target
from compat.owners import MARK, is_gone

State = Probe.State
OPEN = (Sweep.State.QUEUED, Sweep.State.RUNNING)
MAX_OFFERS = 3  # a probe that was lost so often with its worker is not offered again
SKIP_LOCKED = {"postgresql": "FOR UPDATE SKIP LOCKED"}  # elsewhere one writer is all there is
# The common table is computed once; as a plain sub-query PostgreSQL may run it again for each row
# and pass the limit.
CLAIM = """
WITH offered AS MATERIALIZED (
    SELECT id FROM compat_probe
    WHERE target_id = %s AND state = 'queued' AND sweep_id IN (
        SELECT id FROM compat_sweep WHERE target_id = %s AND state IN (%s, %s)
    )
    ORDER BY id LIMIT %s {skip}
)
UPDATE compat_probe
SET state = 'claimed', claim = %s, lease_until = %s, offers = offers + 1
WHERE state = 'queued' AND id IN (SELECT id FROM offered)
RETURNING id, sweep_id, case_id, operator_id, form
"""


class ClaimedProbe(NamedTuple):
    """What a worker needs to know of a probe that it holds."""

    id: int
    sweep_id: int
    case_id: str
    operator_id: int
    form: str


def claim_batch(
    *, target: Target, worker: str, size: int = 128, lease_s: float = 300
) -> list[ClaimedProbe]:
    """Queued probes of a target that are now this worker's until the lease ends, oldest first.

    No probe is handed out twice: each claim is one UPDATE on the condition that it is queued.
    """
    now = timezone.now()
    until = connection.ops.adapt_datetimefield_value(now + timedelta(seconds=lease_s))
    with hasty_transaction():
        with connection.cursor() as cursor:
            cursor.execute(
                CLAIM.format(skip=SKIP_LOCKED.get(connection.vendor, "")),
                [target.pk, target.pk, *OPEN, size, worker, until],
            )
            batch = sorted(ClaimedProbe(*row) for row in cursor.fetchall())
        begun = {probe.sweep_id for probe in batch}
        Sweep.objects.filter(Q(started_at=None) | Q(state=Sweep.State.QUEUED), pk__in=begun).update(
            state=Sweep.State.RUNNING, started_at=Coalesce("started_at", now)
        )
    return batch


def renew_lease(*, worker: str, lease_s: float = 300) -> int:
    """Keep what a worker still holds; returns how many probes that is."""
    return _held(worker).update(lease_until=timezone.now() + timedelta(seconds=lease_s))


def release(*, worker: str) -> int:
    """Put back what a worker holds and will not do; returns how many probes that is."""
    return _held(worker).update(
        state=State.QUEUED, claim="", lease_until=None, offers=F("offers") - 1
    )


def lose(*, worker: str) -> int:
    """Offer again what a worker held when it died; returns how many probes are queued again."""
    _held(worker).update(lease_until=timezone.now() - timedelta(seconds=1))
    return requeue_expired()


def requeue_lost() -> int:
    """Offer again, at once, what processes of this machine held that have ended; and the expired.

    Sweeps that such a process left open are closed. Returns how many probes are queued again.
    """
    claims = Probe.objects.filter(state=State.CLAIMED, claim__startswith=MARK)
    gone = [claim for claim in set(claims.values_list("claim", flat=True)) if is_gone(claim)]
    requeued = sum(lose(worker=claim) for claim in gone) + requeue_expired()
    close_finished(Sweep.objects.filter(state__in=OPEN).values_list("pk", flat=True))
    return requeued


def requeue_expired() -> int:
    """Offer again what was claimed by a worker that did not return; returns how many probes.

    A probe that was lost MAX_OFFERS times ends as `lost_agent`, which is evidence of nothing.
    """
    now = timezone.now()
    expired = Probe.objects.filter(state=State.CLAIMED, lease_until__lt=now)
    hopeless = expired.filter(offers__gte=MAX_OFFERS)
    sweeps = set(hopeless.values_list("sweep_id", flat=True))
    hopeless.update(
        state=State.DONE,
        claim="",
        lease_until=None,
        outcome="lost_agent",
        message=f"The worker was lost {MAX_OFFERS} times while it held this probe.",
        finished_at=now,
    )
    requeued = expired.update(state=State.QUEUED, claim="", lease_until=None)
    close_finished(sweeps)
    return requeued


def close_finished(sweeps: Collection[int]) -> None:
    """Mark those sweeps as done in which nothing is queued or claimed any more."""
    waiting = Probe.objects.filter(sweep=OuterRef("pk"), state__in=[State.QUEUED, State.CLAIMED])
    Sweep.objects.filter(~Exists(waiting), pk__in=list(sweeps), state__in=OPEN).update(
        state=Sweep.State.DONE, finished_at=timezone.now()
    )


def _held(worker: str) -> QuerySet[Probe]:
    return Probe.objects.filter(claim=worker, state=State.CLAIMED)
