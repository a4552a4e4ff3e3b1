"""What a child is doing, on a page of memory that outlives its crash (written inside, read
outside, no system call)."""

from __future__ import annotations

import mmap
import os
import struct
from typing import NamedTuple

from probes.run.outcome import Stage

# The start time comes first: a reader that sees a new time with an old serial does no harm.
_LAYOUT = struct.Struct("<dQB")
_STAGE = struct.Struct("<B")
_STAGE_AT = 16
_STAGES = tuple(Stage)
SIZE = mmap.PAGESIZE


class Doing(NamedTuple):
    """started: CLOCK_MONOTONIC seconds, 0.0 while idle; serial: the request's number."""

    started: float
    serial: int
    stage: Stage


class ProgressPage:
    """One mapped page, by file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._page = mmap.mmap(descriptor, SIZE)

    def begin(self, started: float, serial: int) -> None:
        """Inside: a probe starts."""
        _LAYOUT.pack_into(self._page, 0, started, serial, 0)

    def enter(self, stage: Stage) -> None:
        """Inside: the probe in progress enters a stage."""
        _STAGE.pack_into(self._page, _STAGE_AT, _STAGES.index(stage))

    def rest(self) -> None:
        """Inside: nothing is in progress, no time-out runs."""
        struct.pack_into("<d", self._page, 0, 0.0)

    def read(self) -> Doing:
        """Outside: a consistent view of the page."""
        first = _LAYOUT.unpack_from(self._page, 0)
        while (again := _LAYOUT.unpack_from(self._page, 0)) != first:
            first = again
        started, serial, stage = first
        return Doing(started, serial, _STAGES[stage % len(_STAGES)])

    def close(self) -> None:
        """Unmap."""
        self._page.close()


def make_page_file() -> int:
    """A descriptor of an anonymous file of one page."""
    descriptor = os.memfd_create("opatlas-progress")
    os.ftruncate(descriptor, SIZE)
    return descriptor
