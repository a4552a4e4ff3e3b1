"""Outside: keep warm children busy, and turn whatever they do into one result a probe."""

from __future__ import annotations

import itertools
import json
import select
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from probes.run.adapter import Capabilities
from probes.run.environment import thread_environment
from probes.run.envs import how_to_build, interpreter
from probes.run.flight import Answer, Flight, Loss
from probes.run.outcome import Environment, Outcome, ProbeResult
from probes.run.process import ChildProcess, Limits
from probes.run.registry import RUNTIMES
from probes.run.requests import ProbeRequest, encode_request, present
from probes.run.results import Verdicts
from probes.run.slot import Slot, StartError

__all__ = ["Limits", "ProbeRequest", "Sandbox"]

WINDOW_BYTES = 32 * 2**20
READY_AT_MOST = 64  # results made without a child must not pile up either
START_TRIES = 3
LOOK_SECONDS = 1.0  # how often a silent child is looked at


class Sandbox:
    """Warm children of one runtime in one configuration; use it as a context manager.

    `target` names the target in the results. `python` is the interpreter to ask the runtime with;
    without it, this one or that of the runtime's own environment. `latency=False` leaves timed
    cases untimed. One thread at a time may use it.
    """

    def __init__(
        self,
        runtime: str,
        config: Mapping[str, Any] | None = None,
        *,
        children: int = 1,
        limits: Limits | None = None,
        target: str = "",
        latency: bool = True,
        python: str = "",
    ) -> None:
        self.runtime = RUNTIMES[runtime]
        self.config = {"threads": 1, **self.runtime.config, **(config or {})}
        self.limits = limits or Limits()
        self.target = target or runtime
        self.latency = latency
        self.python = python or interpreter(runtime)
        self._slots = [Slot(self._start_child) for _ in range(children)]
        self._serials = itertools.count(1)
        self._unavailable = "" if self.python else how_to_build(runtime)
        self._looked = 0.0
        self._ready: deque[ProbeResult] = deque()
        self._verdicts: Verdicts | None = None
        self._capabilities = Capabilities()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the children."""
        for slot in self._slots:
            slot.close()

    def describe(self) -> tuple[str, Environment]:
        """Runtime version and environment; raises StartError when the runtime is unavailable."""
        self._open(self._slots[0])
        if self._unavailable:
            raise StartError(self._unavailable)
        hello = self._slots[0].hello
        return str(hello["version"]), dict(hello["environment"])

    def check(self, result: ProbeResult) -> None:
        """Raises StartError where a result says only that the runtime is there no more: who goes
        on would note the same of all that waits."""
        if self._unavailable and result.outcome is Outcome.UNAVAILABLE:
            raise StartError(self._unavailable)

    def capabilities(self) -> Capabilities:
        """What the runtime takes; raises StartError when it is unavailable."""
        self.describe()
        return self._capabilities

    def run(self, request: ProbeRequest) -> ProbeResult:
        """One probe."""
        return next(iter(list(self.run_many([request]))))

    def run_many(self, requests: Iterable[ProbeRequest]) -> Iterator[ProbeResult]:
        """One result for every request, as they finish (in order with one child, but for those
        that are tried again). `requests` is read ahead by at most the window."""
        source = iter(requests)
        try:
            while self._fill(source) or self._ready:
                yield from self._drain()
                self._turn()
            yield from self._drain()
        finally:
            self._abandon()

    def _drain(self) -> Iterator[ProbeResult]:
        while self._ready:
            yield self._ready.popleft()

    def _fill(self, source: Iterator[ProbeRequest]) -> bool:
        """Send ahead; whether anything is still in progress."""
        while (slot := self._neediest()) is not None:
            request = next(source, None)
            if request is None:
                break
            self._submit(slot, request)
            if len(self._ready) > READY_AT_MOST:
                return True
        return any(slot.pending for slot in self._slots)

    def _neediest(self) -> Slot | None:
        """The slot with the fewest requests ahead; None when every window is full."""
        slot = min(self._slots, key=lambda slot: len(slot.pending))
        full = len(slot.pending) >= slot.window or slot.bytes_pending >= WINDOW_BYTES
        return None if full else slot

    def _submit(self, slot: Slot, request: ProbeRequest) -> None:
        self._open(slot)
        if self._unavailable or self._verdicts is None:
            self._ready.append(self._refuse(request, self._unavailable))
            return
        try:
            formed = present(request, self._capabilities)
        except Exception as error:  # noqa: BLE001 - a form that fails is our bug, in one result
            self._ready.append(self._verdicts.harness_error(request, error))
            return
        if formed is None:
            self._ready.append(self._refuse(request, f"Form {request.form} does not apply."))
            return
        serial = next(self._serials)
        timed = request.case.timed and self.latency and self._capabilities.latency_meaningful
        slot.send(Flight(serial, request, encode_request(serial, formed, timed=timed)))

    def _turn(self) -> None:
        """Wait for any child, take its answers, replace it if it died."""
        slots = {slot.child.replies: slot for slot in self._slots if slot.child and slot.pending}
        writers = {
            slot.child.requests: slot for slot in self._slots if slot.child and slot.wants_to_write
        }
        if not slots:
            return
        readable, writable, _ = select.select(list(slots), list(writers), [], LOOK_SECONDS)
        for descriptor in writable:
            writers[descriptor].write()
        for descriptor in readable:
            self._take(slots[descriptor])
        self._look(slot for descriptor, slot in slots.items() if descriptor not in readable)

    def _look(self, silent: Iterable[Slot]) -> None:
        """By the clock: a busy child's answers must not hide that another one is dead."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        for slot in silent:
            slot.notice_end()
            if slot.is_over:
                self._take(slot)

    def _take(self, slot: Slot) -> None:
        answers = slot.receive()
        lost = slot.bury() if slot.is_over else None
        for flight, answer in answers:
            self._settle(slot, flight, answer)
        if lost is not None:
            self._settle(slot, *lost)
        if slot.child is None:
            self._resume(slot)

    def _settle(self, slot: Slot, flight: Flight, ending: Answer | Loss) -> None:
        """A result, or another try: of a crash in a fresh child, of a mismatch in this one."""
        assert self._verdicts is not None
        result = self._verdicts.judge(flight, ending)
        if result is not None:
            self._ready.append(result)
            return
        flight.earlier.append(ending)
        if isinstance(ending, Loss):
            slot.keep(flight, first=True)  # _resume sends it first
        elif slot.child is None:
            slot.keep(flight)
        else:
            slot.send(flight)

    def _resume(self, slot: Slot) -> None:
        """A fresh child for what the dead one left."""
        if not slot.pending:
            return
        waiting = slot.take_all()
        self._open(slot)
        for flight in waiting:
            if self._unavailable:
                self._ready.append(self._refuse(flight.request, self._unavailable))
            else:
                slot.send(flight)

    def _abandon(self) -> None:
        """The caller stopped early: a child that still works is of no use."""
        self._ready.clear()
        for slot in self._slots:
            if slot.pending:
                slot.take_all()
                slot.close()

    def _refuse(self, request: ProbeRequest, message: str) -> ProbeResult:
        return ProbeResult(
            case_id=request.case.id,
            form=request.form,
            target=self.target,
            outcome=Outcome.UNAVAILABLE,
            message=message,
            started_at=time.time(),
        )

    def _open(self, slot: Slot) -> None:
        """Start the slot's child if it has none; notes why when it cannot."""
        tries = 0
        while slot.child is None and not self._unavailable:
            tries += 1
            try:
                slot.open()
            except StartError as error:
                if tries == START_TRIES or slot.hello.get("unavailable"):
                    self._unavailable = str(error)
            else:
                self._learn(slot.hello)

    def _learn(self, hello: dict[str, Any]) -> None:
        self._capabilities = Capabilities.from_dict(hello["capabilities"])
        self._verdicts = Verdicts(
            self.target, str(hello["version"]), hello["environment"], self._capabilities.arithmetic
        )

    def _start_child(self) -> ChildProcess:
        return ChildProcess(
            "probes.run.child",
            [self.runtime.slug, json.dumps(self.config)],
            limits=self.limits,
            environment=thread_environment(int(self.config["threads"])),
            python=self.python,
        )
