"""One place for a warm child: what it was asked, in order, and what it has answered."""

from __future__ import annotations

import errno
import os
import select
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from probes.model import frames
from probes.run import output
from probes.run.flight import Answer, Flight, Loss
from probes.run.process import ChildProcess, describe_end

READ_BYTES = 2**20
# Far enough ahead that the child waits neither for us nor for our caller's database, and no
# further: what is sent to one child cannot go to another, and is sent again after a crash.
AHEAD_SECONDS = 0.3
FEWEST_AHEAD = 2
MOST_AHEAD = 256
FIRST_GUESS_SECONDS = 0.005


class StartError(Exception):
    """The child cannot serve: the runtime is absent, broken, or the process died at once."""


class Slot:
    """Sends ahead within a window, reads without blocking, notices the end."""

    def __init__(self, start: Callable[[], ChildProcess]) -> None:
        self._start = start
        self.child: ChildProcess | None = None
        self.hello: dict[str, Any] = {}
        self.pending: deque[Flight] = deque()
        self.bytes_pending = 0
        self._mean_seconds = FIRST_GUESS_SECONDS
        self._reset()

    def _reset(self) -> None:
        self._outgoing: deque[memoryview] = deque()
        self._incoming = bytearray()
        self._answered = 0
        self._over = False

    def open(self) -> None:
        """Start a child and hear its hello; raises StartError with the reason."""
        self._reset()
        try:
            self.child = self._start()
        except OSError as error:
            raise StartError(f"The runtime's process cannot be started: {error}") from error
        deadline = time.monotonic() + self.child.limits.start_seconds
        while (hello := self._next_frame()) is None and not self._over:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            select.select([self.child.replies], [], [], left)
            self._read()
        if hello is None:
            raise StartError(self._why_not_started())
        self.hello = hello[0]
        if "unavailable" in self.hello:
            self.close()
            raise StartError(str(self.hello["unavailable"]))

    def _why_not_started(self) -> str:
        assert self.child is not None
        log = output.clean(output.take(self.child.output))[-500:]
        if not self._over:
            self.close()
            return f"The runtime did not start in time. {log}"
        _, message = describe_end(self.child.wait())
        self.close()
        return f"The runtime did not start. {message} {log}"

    def send(self, flight: Flight) -> None:
        """Queue a flight behind those pending, and write what the pipe has room for."""
        self.keep(flight)
        self._outgoing.append(memoryview(flight.frame))
        self.write()

    def keep(self, flight: Flight, *, first: bool = False) -> None:
        """Note a flight as pending without sending it."""
        (self.pending.appendleft if first else self.pending.append)(flight)
        self.bytes_pending += len(flight.frame)

    def take(self) -> Flight:
        """The first pending flight, no longer pending."""
        flight = self.pending.popleft()
        self.bytes_pending -= len(flight.frame)
        return flight

    def take_all(self) -> list[Flight]:
        """Every pending flight, in order."""
        return [self.take() for _ in range(len(self.pending))]

    def write(self) -> None:
        """Write queued requests until the pipe is full."""
        assert self.child is not None
        while self._outgoing:
            try:
                written = os.write(self.child.requests, self._outgoing[0])
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno != errno.EPIPE:
                    raise
                self._outgoing.clear()  # the child is gone: reading will say so
                return
            rest = self._outgoing[0][written:]
            self._outgoing.popleft()
            if len(rest):
                self._outgoing.appendleft(rest)

    @property
    def wants_to_write(self) -> bool:
        """Whether requests wait for room in the pipe."""
        return bool(self._outgoing)

    def receive(self) -> list[tuple[Flight, Answer]]:
        """The answers that have arrived, each with its flight.

        A child whose memory is damaged may write anything: at the first byte that is no answer to
        the oldest request it is killed, and counts as crashed in that request.
        """
        self._read()
        answers = []
        try:
            while self.pending and (frame := self._next_frame()) is not None:
                answers.append(self._match(*frame))
        except frames.FrameError:
            self.end()
        return answers

    def _match(self, header: dict[str, Any], blobs: list[memoryview]) -> tuple[Flight, Answer]:
        if header.get("serial") != self.pending[0].serial:
            raise frames.FrameError("an answer out of order")
        flight = self.take()
        self._answered += 1
        seconds = header.get("seconds")
        if isinstance(seconds, float):
            self._mean_seconds += (seconds - self._mean_seconds) / 8
        self._complete_log(flight.serial, header)
        return flight, Answer(header, blobs)

    @property
    def window(self) -> int:
        """How many requests to keep ahead of the child: some AHEAD_SECONDS of its work."""
        ahead = AHEAD_SECONDS / max(self._mean_seconds, 1e-6)
        return int(min(max(ahead, FEWEST_AHEAD), MOST_AHEAD))

    def end(self) -> None:
        """Kill the child and take no more of what it wrote."""
        if self.child is not None:
            self.child.kill()
        self._over = True
        self._incoming.clear()

    def notice_end(self) -> None:
        """A dead child's pipe may be held open by what it started: do not wait for them."""
        if self.child is not None and self.child.popen.poll() is not None:
            self._read()
            self._over = True
            self.child.kill()

    def _complete_log(self, serial: int, header: dict[str, Any]) -> None:
        """Put back what the watcher took away when the probe printed too much."""
        assert self.child is not None
        dropped = self.child.dropped(serial)
        if dropped:
            rest = str(header.get("log", "")).encode()
            header["log"] = output.clean(output.join(dropped, rest))

    def _read(self) -> None:
        assert self.child is not None
        while not self._over:
            try:
                chunk = os.read(self.child.replies, READ_BYTES)
            except BlockingIOError:
                return
            self._over = not chunk
            self._incoming += chunk
            if len(chunk) < READ_BYTES:
                return

    def _next_frame(self) -> frames.Frame | None:
        length = frames.frame_length(self._incoming)
        if length is None or len(self._incoming) < length:
            return None
        frame = bytes(self._incoming[:length])
        del self._incoming[:length]
        return frames.decode(frame)

    @property
    def is_over(self) -> bool:
        """Whether the child has closed its pipe: it is dead or dying."""
        return self._over

    def bury(self) -> tuple[Flight, Loss] | None:
        """Reap a dead child. The flight that was in progress and how it ended; None if idle.

        Answers come in order, so the first unanswered request is the one in progress.
        """
        child = self.child
        assert child is not None
        signal, message = describe_end(child.wait())
        doing = child.progress.read()
        lost = None
        if self.pending:
            flight = self.take()
            was_running = bool(doing.started) and doing.serial == flight.serial
            log = output.join(child.dropped(flight.serial), output.take(child.output))
            killed = child.killed_for if child.killed_serial == flight.serial else ""
            lost = (
                flight,
                Loss(
                    cause=killed or "crash",
                    signal="" if killed else signal,
                    message=message,
                    stage=doing.stage if was_running else None,
                    log=output.clean(log),
                    seconds=time.monotonic() - doing.started if was_running else 0.0,
                    fresh=self._answered == 0,
                ),
            )
        self.close()
        return lost

    def close(self) -> None:
        """End the child; pending flights stay, for the next one."""
        if self.child is not None:
            self.child.close()
            self.child = None
        self._reset()
