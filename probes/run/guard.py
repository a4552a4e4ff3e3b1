"""What a child does to itself first: die with its parent, write no core, fill no disk."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import resource
import signal
from collections.abc import Sequence
from pathlib import Path

PR_SET_PDEATHSIG = 1
FILE_BYTES = 2 * 2**30  # what one file may grow to, should the watcher be late


def guard(parent: int, descriptors: Sequence[int]) -> None:
    """Apply the limits; ends the process when `parent` is already gone.

    `descriptors` lead to the parent: programs that a runtime starts must not inherit them.
    """
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = FILE_BYTES if hard == resource.RLIM_INFINITY else min(FILE_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    _be_first_to_go()


def _be_first_to_go() -> None:
    """When the machine runs out of memory, the kernel should take the child, not the server."""
    try:
        Path("/proc/self/oom_score_adj").write_text("1000")
    except OSError:
        return  # a container may forbid it; the watcher still limits the child


def line_buffer_c() -> ctypes.CDLL:
    """Make C's stdout line buffered, so that a crash loses no printed line; returns libc."""
    libc = ctypes.CDLL(None)
    stdout = ctypes.c_void_p.in_dll(libc, "stdout")
    libc.setvbuf(stdout, None, 1, ctypes.c_size_t(0))
    return libc
