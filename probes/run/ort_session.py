"""A session of ONNX Runtime, whatever its execution provider; imported by adapters only."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as state

from probes.model.values import DTYPES, NUMBER_OF, STRING, Tensor, Value, from_numpy, to_numpy
from probes.run.adapter import HarnessError, NotApplicable, Session
from probes.run.outcome import Placement

# What session creation and a kernel raise, where the release has it; RuntimeError is an uncaught
# C++ exception.
NAMED = (
    "Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NotImplemented",
    "RuntimeException", "EPFail", "EngineError", "NoModel", "NoSuchFile", "NotFound",
)  # fmt: skip
ERRORS = (
    *(getattr(state, name) for name in NAMED if hasattr(state, name)), RuntimeError, ValueError,
)  # fmt: skip
# ONNX Runtime checks what it is fed before any node runs: these complaints are about us.
FED_WRONG = ("Invalid Feed Input Name", "Required inputs", "Unexpected input data type",
             "Invalid rank for input", "Got invalid dimensions for input",
             "Invalid input name", "Feed Input")  # fmt: skip
# What the machine lacks, not the runtime.
MACHINE = ("Failed to construct locale",)
# Identity of a float, without its version stamps (protobuf: graph, then field numbers of these).
IDENTITY = (
    b'\x3a\x37\n\x10\n\x01x\x12\x01y"\x08Identity\x12\x01gZ\x0f\n\x01x\x12\n\n\x08\x08\x01\x12'
    b"\x04\n\x02\x08\x01b\x0f\n\x01y\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01"
)
IR_LIMIT = re.compile(r"max supported IR version: (\d+)")
OPSET_LIMIT = re.compile(r"support for domain ai\.onnx is till opset (\d+)")
NATIVE = frozenset(f"tensor({row.name})" for row in DTYPES.values() if row.numpy)
INNERMOST = re.compile(r"tensor\((\w+)\)")


class OrtSession(Session):
    """A session; arrays where numpy knows the type, OrtValues of raw bytes elsewhere."""

    placement = Placement.ACCELERATOR

    def __init__(self, session: ort.InferenceSession) -> None:
        self.session = session
        self.names = [node.name for node in session.get_inputs()]
        self.output_names = [node.name for node in session.get_outputs()]
        self.types = [node.type for node in session.get_outputs()]
        self.raw = any(kind not in NATIVE and kind.startswith("tensor(") for kind in self.types)
        self.feeds: dict[str, Any] = {}

    def feed(self, inputs: Sequence[Value]) -> None:
        """By position."""
        make = _ort_value if self.raw else _feed
        self.feeds = {name: make(v) for name, v in zip(self.names, inputs, strict=True)}

    def run(self) -> Any:
        """One inference; a complaint about the feeds is ours."""
        try:
            if self.raw:
                return self.session.run_with_ort_values(None, self.feeds)
            return self.session.run(None, self.feeds)
        except ERRORS as error:
            check_fed(error)
            raise

    def outputs(self, raw: Any) -> list[Value]:
        """In the types that the session declares."""
        read = _from_ort_value if self.raw else _from_python
        return [read(item, kind) for item, kind in zip(raw, self.types, strict=True)]


def cpu_values(model: bytes, inputs: Sequence[Value]) -> dict[str, Any]:
    """Inputs and outputs by name, on the CPU, each node for itself: what the model means. Raises
    NotApplicable where ONNX Runtime cannot say."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = OrtSession(
            ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        )
        session.feed(inputs)
        answers = session.run()
    except ERRORS as error:
        raise NotApplicable(f"ONNX Runtime's CPU gives no reference: {error}") from error
    return {**session.feeds, **dict(zip(session.output_names, answers, strict=True))}


def newest_stamps() -> tuple[int | None, int | None]:
    """Opset and IR version that this release accepts at most, as its own refusals state them."""
    return _limit(8, 127, OPSET_LIMIT), _limit(127, 8, IR_LIMIT)


def _limit(ir_version: int, opset: int, pattern: re.Pattern[str]) -> int | None:
    try:
        ort.InferenceSession(identity(ir_version, opset), providers=["CPUExecutionProvider"])
    except ERRORS as error:
        found = pattern.search(str(error))
        return int(found[1]) if found else None
    return None


def check_fed(error: Exception) -> None:
    """Raises HarnessError where the error is about what we fed."""
    if any(mark in str(error) for mark in FED_WRONG):
        raise HarnessError(str(error)) from error


def identity(ir_version: int = 8, opset: int = 13) -> bytes:
    """A model of one node that every release takes."""
    return bytes((0x08, ir_version)) + IDENTITY + bytes((0x42, 4, 0x0A, 0, 0x10, opset))


def is_of_machine(error: Exception) -> bool:
    """Whether an error names what the machine lacks, not what the runtime refuses."""
    return any(mark in str(error) for mark in MACHINE)


def _feed(value: Value) -> Any:
    if isinstance(value, list):
        return [_feed(item) for item in value]
    if value is None:
        return None
    return to_numpy(value) if DTYPES[value.dtype].numpy else _ort_value(value)


def _ort_value(value: Value) -> ort.OrtValue:
    """The tensor's bytes in memory of ONNX Runtime's own."""
    if not isinstance(value, Tensor) or value.dtype == STRING:
        raise HarnessError("only tensors of numbers go beside a type that numpy lacks")
    made = ort.OrtValue.ortvalue_from_shape_and_type(list(value.dims), value.dtype)
    if made.is_tensor() and len(value.data):
        ctypes.memmove(made.data_ptr(), value.data, len(value.data))
    return made


def _from_ort_value(value: ort.OrtValue, _: str) -> Value:
    if not value.has_value():
        return None
    if not value.is_tensor():
        raise HarnessError(f"cannot read an output of type {value.data_type()}")
    dtype = value.element_type()
    dims = tuple(int(dim) for dim in value.shape())
    if dtype == STRING:
        return from_numpy(value.numpy())
    size = value._ortvalue.tensor_size_in_bytes()
    return Tensor(dtype, dims, ctypes.string_at(value.data_ptr(), size) if size else b"")


def _from_python(item: Any, kind: str) -> Value:
    if item is None:
        return None
    if isinstance(item, list):
        return [_from_python(inner, kind) for inner in item]
    if isinstance(item, dict):
        raise HarnessError(f"cannot read an output of type {kind}")
    found = INNERMOST.search(kind)
    number = NUMBER_OF.get(found[1]) if found else None
    return from_numpy(item, number)
