"""Keep child processes running: start, restart with back-off, stop all of them together."""

import ctypes
import errno
import fcntl
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

Say = Callable[[str], None]

FIRST_DELAY_S, LONGEST_DELAY_S = 1.0, 30.0
STEADY_S = 60.0  # a child that ran so long starts again without delay
STOP_S = 15.0
LOOK_S = 0.3
PR_SET_PDEATHSIG = 1


class Supervised:
    """One command that should always run, in a session of its own: Ctrl-C reaches only us."""

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        self.name, self.command = name, list(command)
        self.environment = {**os.environ, **(environment or {})}
        self.delay = FIRST_DELAY_S
        self.process: subprocess.Popen[bytes] | None = None
        self.started = self.start_at = 0.0

    def start(self) -> None:
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            self.command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )

    def tend(self, say: Say) -> None:
        """Start it when it is due; when it ended, say so and set when it starts again."""
        now = time.monotonic()
        if self.process is None:
            if now >= self.start_at:
                self.start()
            return
        code = self.process.poll()
        if code is None:
            return
        if now - self.started > STEADY_S:
            self.delay = FIRST_DELAY_S
        say(f"The {self.name} ended ({_ending(code)}); it starts again in {self.delay:.0f} s.")
        self.process, self.start_at = None, now + self.delay
        self.delay = min(self.delay * 2, LONGEST_DELAY_S)

    def signal(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                return


def supervise(
    children: Sequence[Supervised], *, say: Say, tick: Callable[[], None] = lambda: None
) -> None:
    """Run the children until an exception (Ctrl-C), then end them: politely first, then not."""
    try:
        while True:
            for child in children:
                child.tend(say)
            tick()
            time.sleep(LOOK_S)
    finally:
        end_all(children)


def end_all(children: Sequence[Supervised]) -> None:
    for child in children:
        child.signal(signal.SIGTERM)
    until = time.monotonic() + STOP_S
    for child in children:
        if child.process is None:
            continue
        try:
            child.process.wait(max(until - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            child.signal(signal.SIGKILL)
            child.process.wait()


def is_free(host: str, port: int) -> bool:
    """Whether nobody listens there; raises OSError for a host or port that is not ours to use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise
    return True


class FolderInUse(Exception):
    """Another process holds the folder; `pid` is its number, as far as it is known."""

    def __init__(self, pid: str) -> None:
        super().__init__(pid)
        self.pid = pid


@contextmanager
def sole_user(folder: Path) -> Iterator[None]:
    """Within it no other process may enter it with this folder; raises FolderInUse if one has."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "up.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise FolderInUse(file.read().strip() or "unknown") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def answers(host: str, port: int) -> bool:
    """Whether a server takes connections there."""
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False


def _ending(code: int) -> str:
    return f"exit status {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


def _die_with_parent() -> None:
    """A killed supervisor leaves no orphans behind (Linux)."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
