"""Which process holds a claim: those of this machine say so, so that a dead one is seen at once."""

import hashlib
import os
import secrets
import socket
from functools import cache
from pathlib import Path
from typing import NamedTuple

MARK = "@"  # begins the claims of local workers; those of agents are plain hexadecimal numbers
PROC = Path("/proc")
ENDED = {"Z", "X", "x"}  # a zombie holds nothing


class Process(NamedTuple):
    """A process of the machine of this name; `started` tells it from a later one of its number."""

    machine: str
    pid: int
    started: int


def claim_name() -> str:
    """A new claim of this process, at most 32 characters."""
    here = _here()
    return f"{MARK}{here.machine}.{here.pid:x}.{here.started:x}.{secrets.token_hex(2)}"


def is_gone(claim: str) -> bool:
    """Whether the claim is one of this machine's whose process has ended; unsure means no."""
    holder, here = _holder(claim), _here()
    if holder is None or holder.machine != here.machine or not here.started:
        return False
    return _started(holder.pid) != holder.started


def _holder(claim: str) -> Process | None:
    parts = claim.removeprefix(MARK).split(".")
    if not claim.startswith(MARK) or len(parts) != 4:
        return None
    try:
        return Process(parts[0], int(parts[1], 16), int(parts[2], 16))
    except ValueError:
        return None


def _here() -> Process:
    pid = os.getpid()
    return Process(_machine(), pid, _started(pid))


def _started(pid: int) -> int:
    """The tick since boot at which a process began; 0 where none runs, or nothing can be read."""
    try:
        stat = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return 0
    state, *fields = stat.rpartition(")")[2].split()
    return 0 if state in ENDED else int(fields[18])


@cache
def _machine() -> str:
    """Machine and process namespace: process numbers of a container mean nothing outside it."""
    facts = [socket.gethostname()]
    for path in (Path("/etc/machine-id"), PROC / "self/ns/pid"):
        try:
            facts.append(os.readlink(path) if path.is_symlink() else path.read_text())
        except OSError:
            facts.append("")
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:8]
