"""A runtime that misbehaves on command; it ships, for the sandbox is only as good as its tests.

The command is the model's doc string, "fake:<command>[=<argument>]", or by operator in the
configuration: {"operators": {"Relu": "segfault"}}. Without one it answers like onnx.reference.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import onnx

from probes.model.values import Tensor, Value
from probes.run.adapter import Adapter, Capabilities, Enter, HarnessError, Refused, Session
from probes.run.adapters.reference import ReferenceAdapter
from probes.run.outcome import Placement, Stage

PREFIX = "fake:"
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
    "raise": _raise(RuntimeError("told to raise")),
    "no_memory": _raise(MemoryError("told to run out")),
    "harness": _raise(HarnessError("told to be our fault")),
    "refuse_run": _raise(Refused(Stage.RUN, "told to refuse at run")),
}
REFUSALS = {f"refuse_{stage.value}": stage for stage in (Stage.CONVERT, Stage.COMPILE, Stage.LOAD)}


class FakeSession(Session):
    """The reference evaluator's session with a command before and a change after."""

    placement = Placement.ACCELERATOR

    def __init__(self, inner: Session, command: str, argument: str, runs: list[int]) -> None:
        self.inner, self.command, self.argument = inner, command, argument
        self.runs = runs

    def feed(self, inputs: Sequence[Value]) -> None:
        self.inner.feed(inputs)

    def run(self) -> Any:
        self.runs[0] += 1
        if self.command in COMMANDS:
            COMMANDS[self.command](self.argument)
        if self.command == "segfault_warm" and self.runs[0] > 1:
            COMMANDS["segfault"]("")
        if self.command == "segfault_once" and _first_time(self.argument):
            COMMANDS["segfault"]("")
        return self.inner.run()

    def outputs(self, raw: Any) -> list[Value]:
        values = self.inner.outputs(raw)
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
        self.inner = ReferenceAdapter(config)
        self.runs = [0]

    @property
    def version(self) -> str:
        return "1.0"

    def capabilities(self) -> Capabilities:
        return Capabilities(
            max_opset=self.config.get("max_opset"),
            max_ir=self.config.get("max_ir"),
            numbers_meaningful=not self.config.get("compile_only"),
            evidence=self.config.get("evidence", "measured"),
        )

    def load(self, model: bytes, enter: Enter) -> Session:
        command, argument = self._command(onnx.load_from_string(model))
        at_load = command.endswith("_at_load") and command[: -len("_at_load")]
        enter(Stage.COMPILE)
        if at_load:
            COMMANDS[at_load](argument)
        if command in REFUSALS:
            raise Refused(REFUSALS[command], f"told to refuse at {REFUSALS[command].value}")
        return FakeSession(self.inner.load(model, enter), command, argument, self.runs)

    def _command(self, proto: onnx.ModelProto) -> tuple[str, str]:
        text = proto.doc_string
        if not text.startswith(PREFIX):
            table = self.config.get("operators", {})
            told = [table[node.op_type] for node in proto.graph.node if node.op_type in table]
            text = PREFIX + (told[0] if told else "")
        command, _, argument = text[len(PREFIX) :].partition("=")
        return command, argument


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
