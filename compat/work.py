"""Probe what is queued for a target: claim, run in the sandbox, record, judge the cells again."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from threading import Event
from typing import NamedTuple

from django.db import DatabaseError, close_old_connections

from compat.casebook import read_case
from compat.cells import rebuild_cells
from compat.fleet import local_targets, register_local_targets
from compat.leases import (
    OPEN,
    ClaimedProbe,
    claim_batch,
    close_finished,
    release,
    renew_lease,
    requeue_lost,
)
from compat.models import Sweep, Target
from compat.owners import claim_name
from compat.recording import record_many
from compat.sweeps import progress, waiting
from probes.cases.case import CaseError
from probes.run.outcome import Outcome, ProbeResult
from probes.run.sandbox import ProbeRequest, Sandbox
from probes.run.slot import StartError

logger = logging.getLogger(__name__)

BATCH = 128  # results in one transaction; a page may wait FLUSH_S for fewer
FLUSH_S = 1.0
CELLS_S = 5.0
LEASE_S = 300.0
RENEW_S = 60.0
POLL_S = 2.0
AFTER_ERROR_S = 5.0
CHORES_S = 3600.0

Heard = Callable[[int], None]
Say = Callable[[str], object]


class Worked(NamedTuple):
    """What a run over the queue came to."""

    recorded: int
    sweeps: frozenset[int]


def run_claimed(
    target: Target,
    *,
    sandbox: Sandbox | None = None,
    stop: Event | None = None,
    heard: Heard = lambda _: None,
) -> Worked:
    """Probe until nothing is queued for the target or `stop` is set; what is in flight is put back.

    `heard` is told how many results were stored, each time some were. Raises StartError when the
    runtime is not available, or no more: nothing is claimed then.
    """
    if sandbox is None:
        with Sandbox(target.column.runtime, target.column.config, target=target.slug) as own:
            return run_claimed(target, sandbox=own, stop=stop, heard=heard)
    run = _Run(target, sandbox, stop or Event(), heard)
    try:
        return run.through()
    finally:
        run.finish()


class _Run:
    """One pass over the queue of a target, under one claim."""

    def __init__(self, target: Target, sandbox: Sandbox, stop: Event, heard: Heard) -> None:
        self.target, self.sandbox, self.stop, self.heard = target, sandbox, stop, heard
        self.claim = claim_name()
        self.environment = sandbox.describe()[1]
        self.sweeps: set[int] = set()
        self.stale: set[int] = set()  # operators whose cells are older than their probes
        self.recorded = 0
        self.flushed = self.judged = self.renewed = time.monotonic()
        self.results: list[ProbeResult] = []

    def through(self) -> Worked:
        for result in self.sandbox.run_many(self.requests()):
            self.sandbox.check(result)
            self.results.append(result)
            if len(self.results) >= BATCH or self._due("flushed", FLUSH_S):
                self.record()
            if self.stop.is_set():
                break
        self.record()
        return Worked(self.recorded, frozenset(self.sweeps))

    def requests(self) -> Iterator[ProbeRequest]:
        """Claimed probes as the sandbox asks for them."""
        while not self.stop.is_set():
            batch = claim_batch(target=self.target, worker=self.claim, size=BATCH, lease_s=LEASE_S)
            if not batch:
                return
            self.sweeps |= {probe.sweep_id for probe in batch}
            for probe in batch:
                request = self.request(probe)
                if request is not None:
                    yield request

    def request(self, probe: ClaimedProbe) -> ProbeRequest | None:
        """The probe's request; a case that cannot be read is our failure, told in its result."""
        try:
            return ProbeRequest(read_case(probe.case_id), probe.form)
        except (KeyError, CaseError) as error:
            self.results.append(
                ProbeResult(
                    case_id=probe.case_id,
                    form=probe.form,
                    target=self.target.slug,
                    outcome=Outcome.HARNESS_ERROR,
                    message=f"The case cannot be read: {error}",
                    started_at=time.time(),
                )
            )
            return None

    def record(self) -> None:
        """Store the results so far; renew the lease and judge when that is due."""
        self.flushed = time.monotonic()
        if self.results:
            done = record_many(
                target=self.target,
                environment=self.environment,
                results=self.results,
                claim=self.claim,
            )
            self.results = []
            self.recorded += done.new
            self.stale |= done.operators
            self.heard(done.new)
        if self._due("renewed", RENEW_S):
            renew_lease(worker=self.claim, lease_s=LEASE_S)
            self.renewed = time.monotonic()
        if self._due("judged", CELLS_S):
            self.judge()

    def judge(self) -> None:
        """Bring the cells of what was recorded up to date."""
        if self.stale:
            rebuild_cells(column=self.target.column, operators=self.stale)
            self.stale = set()
        self.judged = time.monotonic()

    def finish(self) -> None:
        """Store what came in, put back what did not, judge, close the sweeps that are through.

        Also the way out of Ctrl-C and of an error: nothing that was probed is lost.
        """
        self.record()
        release(worker=self.claim)
        self.judge()
        close_finished(self.sweeps)

    def _due(self, clock: str, seconds: float) -> bool:
        return time.monotonic() - float(getattr(self, clock)) >= seconds


def probe_here(*, target_id: int | None = None) -> int:
    """Probe what is queued for this machine's targets (or for one); returns the stored results.

    A target of another machine is left to it. Raises StartError, when the others are done, for a
    runtime that does not start.
    """
    mine = [each for each in local_targets() if target_id in (None, each.pk)]
    recorded, broken = 0, None
    for target in waiting(mine):
        try:
            recorded += run_claimed(target).recorded
        except StartError as error:
            broken = StartError(f"{target}: {error}")
    if broken is not None:
        raise broken
    return recorded


def work_through(
    sweep: Sweep, *, heard: Heard = lambda _: None, say: Say = lambda _: None, wait: bool = True
) -> None:
    """Probe until a sweep is done or stopped; `say` is told once when others hold the rest of it.

    Without `wait` the rest is then left to them.
    """
    told = False
    while True:
        requeue_lost()
        if waiting([sweep.target]):
            run_claimed(sweep.target, heard=heard)
        sweep.refresh_from_db()
        if sweep.state not in OPEN:
            return
        held = progress(sweep).held
        if held and not told:
            told = True
            then = "waiting for it" if wait else "its results come in later"
            say(f"Another worker holds {held} of {sweep.total} probes; {then}.")
        if held and not wait:
            return
        time.sleep(POLL_S)


def work_forever(*, poll_s: float = POLL_S, chores: Sequence[Callable[[], object]] = ()) -> None:
    """The local worker: polls, probes, puts back what was lost; survives what goes wrong.

    `chores` are done once an hour, as beat has them done where Celery runs.
    """
    register_local_targets()
    chores_at = 0.0
    while True:
        try:
            requeue_lost()
            if time.monotonic() >= chores_at:
                chores_at = time.monotonic() + CHORES_S
                for chore in chores:
                    chore()
            idle = probe_here() == 0
        except (DatabaseError, OSError, StartError) as error:
            logger.exception("The worker goes on after: %s", error)
            close_old_connections()
            time.sleep(AFTER_ERROR_S)
        else:
            if idle:
                time.sleep(poll_s)
