"""One limited child process: pipes of its own, and a watch on its time, memory and output."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fcntl import fcntl
from pathlib import Path

from probes.run import output
from probes.run.keeper import keeper
from probes.run.progress import ProgressPage, make_page_file

ENGINE = Path(__file__).resolve().parents[1]
ROOT = ENGINE.parent
F_SETPIPE_SZ = 1031
PIPE_BYTES = 2**20
HELD = re.compile(rb"^(?:RssAnon|RssShmem):\s*(\d+)", re.MULTILINE)
# What a child inherits: it runs strangers' models, so no secret of the server is among it.
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV",
             "PYTHONHASHSEED", "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "NVIDIA_VISIBLE_DEVICES",
             "ADSP_LIBRARY_PATH", "QNN_SDK_ROOT")  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """seconds: one probe; memory_bytes: resident size of the child; output_bytes: what it may
    print before the middle is dropped; start_seconds: import of the runtime."""

    seconds: float = 60.0
    memory_bytes: int = 4 * 2**30
    output_bytes: int = 2**20
    start_seconds: float = 120.0


class ChildProcess:
    """A running `python -m module`, told its descriptors on the command line.

    killed_for: "" or "time" or "memory", and with it killed_serial; log: output dropped so far.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        *,
        limits: Limits,
        environment: Mapping[str, str],
        python: str = sys.executable,
    ) -> None:
        self.limits = limits
        self.killed_for = ""
        self.killed_serial = -1
        self.peak_bytes = 0
        self._dropped: tuple[int, bytes] = (-1, b"")
        self.scratch = tempfile.mkdtemp(prefix="opatlas-child-")
        self.engine = "" if python == sys.executable else _engine_alone()
        requests, self.requests = _pipe()
        self.replies, replies = _pipe()
        page = make_page_file()
        self.progress = ProgressPage(page)
        self.output = output.make_output_file()
        inside = (requests, replies, page)
        command = [python, "-m", module, str(os.getpid()), *map(str, inside), *arguments]
        try:
            self.popen = keeper().call(lambda: self._start(command, inside, environment))
        except OSError:  # no such interpreter any more, no process to be had
            self._free()
            raise
        finally:
            for descriptor in inside:
                os.close(descriptor)
        os.set_blocking(self.requests, False)
        os.set_blocking(self.replies, False)
        keeper().watch(self)

    def _start(
        self, command: list[str], inside: tuple[int, ...], environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        inherited_path = os.environ.get("PYTHONPATH", "")
        path = self.engine or os.pathsep.join(filter(None, (str(ROOT), inherited_path)))
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.output,
            pass_fds=inside,
            cwd=self.scratch,
            env={**inherited, "PYTHONPATH": path, "TMPDIR": self.scratch, **environment},
            start_new_session=True,
        )

    def tick(self, now: float) -> None:
        """Kill the child for its time or memory, drop the middle of what it prints too much."""
        doing = self.progress.read()
        if not doing.started or self.killed_for:
            return
        memory = resident_bytes(self.popen.pid)
        self.peak_bytes = max(self.peak_bytes, memory)
        over_time = now - doing.started > self.limits.seconds
        if over_time or memory > self.limits.memory_bytes:
            self.killed_for = "time" if over_time else "memory"
            self.killed_serial = doing.serial
            self.kill()
        size = os.fstat(self.output).st_size
        if size > self.limits.output_bytes:
            self._drop(doing.serial, size)

    def _drop(self, serial: int, size: int) -> None:
        if self._dropped[0] != serial:
            self._dropped = (serial, output.head_and_tail(self.output, size))
        os.ftruncate(self.output, 0)

    def dropped(self, serial: int) -> bytes:
        """The head of what a probe printed before the file was emptied under it."""
        return self._dropped[1] if self._dropped[0] == serial else b""

    def kill(self) -> None:
        """End the child and everything it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.popen.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Return code, negative for a signal; kills a child that lingers without its pipe."""
        try:
            return self.popen.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.kill()
            return self.popen.wait()

    def close(self) -> None:
        """Kill, reap, free the descriptors and the scratch directory."""
        self.kill()
        self.popen.wait()
        keeper().unwatch(self)
        self._free()

    def _free(self) -> None:
        self.progress.close()
        for descriptor in (self.requests, self.replies, self.output):
            os.close(descriptor)
        for folder in filter(None, (self.scratch, self.engine)):
            shutil.rmtree(folder, ignore_errors=True)


def _pipe() -> tuple[int, int]:
    """A pipe as wide as an ordinary user may make it."""
    ends = os.pipe()
    with contextlib.suppress(OSError):  # the user's share of pipe memory may be used up
        fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES)
    return ends


def _engine_alone() -> str:
    """A folder that holds nothing but this package: beside an installed one lie packages of ours,
    and another interpreter must not find those."""
    folder = tempfile.mkdtemp(prefix="opatlas-engine-")
    (Path(folder) / ENGINE.name).symlink_to(ENGINE)
    return folder


def resident_bytes(pid: int) -> int:
    """Memory that a process holds: anonymous and shared, but not the pages of mapped files, which
    the kernel drops when it likes. 0 when the process is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_bytes()
    except OSError:
        return 0
    return sum(int(kilobytes) * 1024 for kilobytes in HELD.findall(status))


def describe_end(code: int) -> tuple[str, str]:
    """Signal name ("" for a plain exit) and a sentence for a return code."""
    if code >= 0:
        return "", f"The runtime ended the process with exit code {code}."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return name, f"The process was ended by {name}."
