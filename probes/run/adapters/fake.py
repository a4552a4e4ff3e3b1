"""A runtime that misbehaves on command; it ships, for the sandbox is only as good as its tests.

The command is the model's doc string, "fake:<command>[=<argument>]", or by operator in the
configuration: {"operators": {"Relu": "segfault"}}. Otherwise it answers like onnx.reference, or
with its inputs ({"answers": "inputs"}).
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from probes.model.values import Tensor, Value
from probes.run.adapter import Adapter, Capabilities, Enter, HarnessError, Refused, Session
from probes.run.outcome import Placement, Stage

# Read from the file's bytes: onnx is slow to import, and a crash must be cheap to repeat.
COMMAND = re.compile(rb"fake:([a-z_0-9]+)(?:=([\w./-]*))?")
CHUNK = 2**20


def _hang(_: str) -> None:
    while True:
        time.sleep(3600)


def _spin(_: str) -> None:
    """Hang without ever letting another Python thread run."""
    ctypes.PyDLL(None).pause()


def _eat(_: str) -> None:
    eaten = []
    while True:
        eaten.append(bytearray(b"x") * (16 * CHUNK))


def _print_much(megabytes: str) -> None:
    for _ in range(int(megabytes or 1024)):
        os.write(1, b"x" * (CHUNK - 1) + b"\n")


def _garble(_: str) -> None:
    """Write to every descriptor, as a program with a damaged memory may."""
    for descriptor in range(3, 100):
        with contextlib.suppress(OSError):
            os.write(descriptor, b"not a frame, not a frame, not a frame")


def _orphan(_: str) -> None:
    """Die and leave behind a process that holds every descriptor open."""
    if os.fork() == 0:
        time.sleep(600)
    os._exit(7)


def _print_c(text: str) -> None:
    """Through C's buffer, as vendor libraries do."""
    ctypes.CDLL(None).printf(b"%s\n", text.encode())


def _raise(error: Exception) -> Callable[[str], None]:
    def command(_: str) -> None:
        raise error

    return command


COMMANDS: dict[str, Callable[[str], Any]] = {
    "segfault": lambda _: ctypes.string_at(0),
    "abort": lambda _: os.abort(),
    "exit": lambda code: os._exit(int(code or 0)),
    "sys_exit": lambda code: sys.exit(int(code or 0)),
    "kill": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "hang": _hang,
    "spin": _spin,
    "sleep": lambda seconds: time.sleep(float(seconds)),
    "eat": _eat,
    "print": _print_much,
    "printf": _print_c,
    "garble": _garble,
    "orphan": _orphan,
    "raise": _raise(RuntimeError("told to raise")),
    "no_memory": _raise(MemoryError("told to run out")),
    "harness": _raise(HarnessError("told to be our fault")),
    "refuse_run": _raise(Refused(Stage.RUN, "told to refuse at run")),
}
REFUSALS = {f"refuse_{stage.value}": stage for stage in (Stage.CONVERT, Stage.COMPILE, Stage.LOAD)}


class FakeSession(Session):
    """A command before the answer, and perhaps a change after it."""

    placement = Placement.ACCELERATOR

    def __init__(
        self,
        answer: Callable[[Sequence[Value]], list[Value]],
        command: str,
        argument: str,
        runs: list[int],
    ) -> None:
        self.answer, self.command, self.argument, self.runs = answer, command, argument, runs
        self.inputs: Sequence[Value] = ()

    def feed(self, inputs: Sequence[Value]) -> None:
        self.inputs = inputs

    def run(self) -> Any:
        self.runs[0] += 1
        if self.command in COMMANDS:
            COMMANDS[self.command](self.argument)
        if self.command == "segfault_warm" and self.runs[0] > 1:
            COMMANDS["segfault"]("")
        if self.command == "segfault_once" and _first_time(self.argument):
            COMMANDS["segfault"]("")
        return self.answer(self.inputs)

    def outputs(self, raw: Any) -> list[Value]:
        values: list[Value] = raw
        wrong = self.command == "mismatch"
        if self.command == "unstable":
            wrong = _first_time(self.argument)
        return [_flip(value) for value in values] if wrong else values


class FakeAdapter(Adapter):
    """Obeys the model."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        if config.get("unavailable"):
            raise ImportError("told to be unavailable")
        if config.get("die_at_start"):
            os.abort()
        self.runs = [0]

    @property
    def version(self) -> str:
        return "1.0"

    def capabilities(self) -> Capabilities:
        return Capabilities(
            max_opset=self.config.get("max_opset"),
            max_ir=self.config.get("max_ir"),
            numbers_meaningful=not self.config.get("compile_only"),
            latency_meaningful=bool(self.config.get("latency")),
            evidence=self.config.get("evidence", "measured"),
        )

    def load(self, model: bytes, inputs: Sequence[Value], enter: Enter) -> Session:
        command, argument = self._command(model)
        at_load = command.endswith("_at_load") and command[: -len("_at_load")]
        enter(Stage.COMPILE)
        if at_load:
            COMMANDS[at_load](argument)
        if command in REFUSALS:
            raise Refused(REFUSALS[command], f"told to refuse at {REFUSALS[command].value}")
        enter(Stage.LOAD)
        echo = self.config.get("answers") == "inputs"
        answer = list if echo else functools.partial(_answer, model)
        return FakeSession(answer, command, argument, self.runs)

    def _command(self, model: bytes) -> tuple[str, str]:
        told = COMMAND.search(model)
        if told:
            return told[1].decode(), (told[2] or b"").decode()
        table = self.config.get("operators", {})
        found = [table[name] for name in (_operators(model) if table else ()) if name in table]
        command, _, argument = (found[0] if found else "").partition("=")
        return command, argument


def _operators(model: bytes) -> list[str]:
    import onnx

    return [node.op_type for node in onnx.load_from_string(model).graph.node]


def _answer(model: bytes, inputs: Sequence[Value]) -> list[Value]:
    """What the reference evaluator says; imported late, for most commands never get here."""
    from probes.run.adapters.reference import ReferenceAdapter

    try:
        session = ReferenceAdapter({}).load(model, inputs, lambda _: None)
        session.feed(inputs)
    except Exception as error:
        raise HarnessError(f"the fake cannot answer: {error}") from error
    return session.outputs(session.run())


def _first_time(marker: str) -> bool:
    """Whether the file was absent; afterwards it exists."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def _flip(value: Value) -> Value:
    """The same shape and type with other bits."""
    if isinstance(value, Tensor):
        return Tensor(value.dtype, value.dims, bytes(byte ^ 0x3F for byte in value.data))
    return [_flip(item) for item in value] if isinstance(value, list) else None


adapter = FakeAdapter
