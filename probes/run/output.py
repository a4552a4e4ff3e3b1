"""What a child prints: one anonymous file for descriptors 1 and 2, emptied after every probe."""

from __future__ import annotations

import contextlib
import fcntl
import os

from probes.run.outcome import MAX_LOG

CUT = b"\n[... output cut here ...]\n"


def make_output_file() -> int:
    """An anonymous file in append mode: emptying it is safe while somebody writes to it."""
    descriptor = os.memfd_create("opatlas-output")
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_APPEND)
    return descriptor


def take(descriptor: int) -> bytes:
    """The output so far, at most MAX_LOG bytes (its head and its tail); the file is emptied."""
    size = os.fstat(descriptor).st_size
    if not size:
        return b""
    text = head_and_tail(descriptor, size)
    os.ftruncate(descriptor, 0)
    return text


def head_and_tail(descriptor: int, size: int) -> bytes:
    """At most MAX_LOG bytes of a file of `size` bytes: both ends, for the end holds the reason."""
    if size <= MAX_LOG:
        return os.pread(descriptor, size, 0)
    half = (MAX_LOG - len(CUT)) // 2
    return os.pread(descriptor, half, 0) + CUT + os.pread(descriptor, half, size - half)


def join(first: bytes, second: bytes) -> bytes:
    """Two stretches of one probe's output, bounded by MAX_LOG."""
    if not first:
        return second
    half = (MAX_LOG - len(CUT)) // 2
    return first[:half] + CUT + second[-half:]  # the runtime's last words are in the second


def clean(raw: bytes) -> str:
    """Text that a database and a page can hold, whatever a C++ library printed."""
    return raw.decode("utf-8", "replace").replace("\0", "\ufffd")


def written(descriptor: int) -> int:
    """How much was printed so far; 0 where the descriptor is no file."""
    return os.fstat(descriptor).st_size


def since(descriptor: int, start: int, most: int = MAX_LOG) -> str:
    """What was printed after the first `start` bytes (all where the file was cut since then)."""
    size = os.fstat(descriptor).st_size
    first = start if start <= size else 0
    if first == size:
        return ""
    return clean(os.pread(descriptor, min(size - first, most), first))


def cut(descriptor: int, start: int) -> None:
    """Forget what was printed after the first `start` bytes, where the descriptor is a file."""
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, start)
