"""onnx.reference: ONNX's own evaluator in Python, the second oracle beside ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx
from onnx.defs import onnx_opset_version
from onnx.reference import ReferenceEvaluator

from probes.model.values import Tensor, Value, from_numpy, to_numpy
from probes.run.adapter import Adapter, Capabilities, Enter, HarnessError, Refused, Session
from probes.run.outcome import Placement, Stage


class ReferenceSession(Session):
    """A model in the evaluator."""

    placement = Placement.ACCELERATOR

    def __init__(self, evaluator: ReferenceEvaluator, model: onnx.ModelProto) -> None:
        self.evaluator = evaluator
        self.names = [info.name for info in model.graph.input]
        self.types = [info.type for info in model.graph.output]
        self.feeds: dict[str, Any] = {}

    def feed(self, inputs: Sequence[Value]) -> None:
        """By position; the graph's inputs come first, initializers never."""
        self.feeds = {
            name: _to_python(value) for name, value in zip(self.names, inputs, strict=True)
        }

    def run(self) -> Any:
        """One evaluation."""
        try:
            return self.evaluator.run(None, self.feeds)
        except ImportError as error:  # some operators want a package that the machine may lack
            raise HarnessError(str(error)) from error

    def outputs(self, raw: Any) -> list[Value]:
        """Arrays, lists of arrays and None as values."""
        return [_from_python(item, _number(of)) for item, of in zip(raw, self.types, strict=True)]


class ReferenceAdapter(Adapter):
    """Takes every operator that it has an implementation or a function body for."""

    @property
    def version(self) -> str:
        return str(onnx.__version__)

    def capabilities(self) -> Capabilities:
        return Capabilities(
            max_opset=onnx_opset_version(), max_ir=int(onnx.IR_VERSION), latency_meaningful=False
        )

    def load(self, model: bytes, inputs: Sequence[Value], enter: Enter) -> Session:
        proto = onnx.load_from_string(model)
        initialised = {tensor.name for tensor in proto.graph.initializer}
        enter(Stage.LOAD)
        try:
            session = ReferenceSession(ReferenceEvaluator(proto), proto)
        except Exception as error:
            raise Refused(Stage.LOAD, f"{type(error).__name__}: {error}") from error
        session.names = [name for name in session.names if name not in initialised]
        return session


def _number(of: onnx.TypeProto) -> int | None:
    """Element type of a tensor output; the arrays say it where the graph does not."""
    return int(of.tensor_type.elem_type) if of.HasField("tensor_type") else None


def _to_python(value: Value) -> Any:
    if isinstance(value, list):
        return [_to_python(item) for item in value]
    return to_numpy(value) if isinstance(value, Tensor) else None


def _from_python(item: Any, number: int | None = None) -> Value:
    if item is None:
        return None
    if isinstance(item, (list, tuple)):
        return [_from_python(inner) for inner in item]
    try:
        return from_numpy(item)
    except ValueError as error:
        raise HarnessError(f"cannot read an output of type {number}: {error}") from error


adapter = ReferenceAdapter
