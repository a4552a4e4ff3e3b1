"""Run a named function on untrusted input in a child with limits; this process stays whole."""

from __future__ import annotations

import json
import os
import select
import sys
import time
from typing import Any

from probes.model import frames
from probes.run import output
from probes.run.process import ChildProcess, Limits, describe_end

START_SECONDS = 15.0  # on top of the function's own time: Python starts, modules are imported
CHUNK = 2**20


class LimitedError(Exception):
    """The function gave no result. log: what the child printed, bounded."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class TimeLimit(LimitedError):
    """It took longer than it may."""


class MemoryLimit(LimitedError):
    """It grew larger than it may."""


class ChildCrash(LimitedError):
    """The process died: a segmentation fault, an abort, an exit()."""


class FunctionFailed(LimitedError):
    """It raised. kind: the exception's class name; arguments: its JSON-ready arguments."""

    def __init__(self, kind: str, message: str, arguments: list[Any]) -> None:
        super().__init__(message)
        self.kind = kind
        self.arguments = arguments


def call_limited(
    module_function: str, payload: dict[str, Any], *, seconds: float, memory_bytes: int
) -> dict[str, Any]:
    """The dict that "package.module:function" returns for `payload` (JSON both ways).

    Raises TimeLimit, MemoryLimit, ChildCrash or FunctionFailed.
    """
    limits = Limits(seconds=seconds, memory_bytes=int(memory_bytes), start_seconds=START_SECONDS)
    child = ChildProcess(
        "probes.run.limited_child",
        [module_function],
        limits=limits,
        environment={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        python=sys.executable,
    )
    try:
        reply = _exchange(child, frames.encode({}, [json.dumps(payload).encode()]))
        return _result(reply) if reply else _raise_ending(child)
    finally:
        child.close()


def _exchange(child: ChildProcess, request: bytes) -> bytes:
    """Send the request, read until the child closes its pipe; b"" when it gave no whole frame."""
    deadline = time.monotonic() + child.limits.seconds + child.limits.start_seconds
    waiting, received = memoryview(request), bytearray()
    while (left := deadline - time.monotonic()) > 0:
        writers = [child.requests] if len(waiting) else []
        readable, writable, _ = select.select([child.replies], writers, [], left)
        if writable:
            waiting = waiting[_write(child.requests, waiting) :]
        if readable:
            chunk = os.read(child.replies, CHUNK)
            received += chunk
            if not chunk:
                break
    else:
        raise TimeLimit(f"It took more than {child.limits.seconds:g} seconds.")
    whole = frames.frame_length(received) == len(received)
    return bytes(received) if whole else b""


def _write(descriptor: int, data: memoryview) -> int:
    try:
        return os.write(descriptor, data[:CHUNK])
    except BrokenPipeError:
        return len(data)  # it died; reading will end


def _result(reply: bytes) -> dict[str, Any]:
    header, blobs = frames.decode(reply)
    document = json.loads(bytes(blobs[0]))
    if header.get("failed"):
        if document["kind"] == "MemoryError":
            raise MemoryLimit("The process ran out of memory.")
        raise FunctionFailed(document["kind"], document["message"], document["arguments"])
    result: dict[str, Any] = document
    return result


def _raise_ending(child: ChildProcess) -> dict[str, Any]:
    """Raise what ended a child that did not answer."""
    code = child.wait()
    log = output.clean(output.take(child.output))
    if child.killed_for == "memory":
        raise MemoryLimit(f"It needed more than {child.limits.memory_bytes} bytes.", log)
    if child.killed_for == "time":
        raise TimeLimit(f"It took more than {child.limits.seconds:g} seconds.", log)
    raise ChildCrash(describe_end(code)[1], log)
