"""What TensorRT and TensorRT-RTX share: a quiet log, the ONNX parser, profiles, the builder.

`trt` is the runtime's module, which only an adapter imports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from probes.model.values import DTYPES, Tensor, Value, to_numpy
from probes.run.adapter import HarnessError, Refused
from probes.run.outcome import Stage
from probes.run.trt_words import (
    About,
    ParserError,
    Verdict,
    builder_verdict,
    lacks_memory,
    parser_verdict,
)

MOST_LINES = 60
PLACED = ("[DlaLayer]", "[GpuLayer]", "---------- Layers")  # said at differing severities
LAYERS_SHOWN = 12


class Log:
    """Errors, warnings and the list of placed layers of one load; the rest is dropped."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.warnings: list[str] = []
        self.placed: list[str] = []

    def clear(self) -> None:
        """Begin the next load, or the next stage of one."""
        for lines in (self.errors, self.warnings, self.placed):
            lines.clear()

    def take(self, severity: str, message: str) -> None:
        """One message of the runtime."""
        lines = {"ERROR": self.errors, "INTERNAL_ERROR": self.errors, "WARNING": self.warnings}
        if message.startswith(PLACED):
            self.placed.append(message)
        elif severity in lines and len(lines[severity]) < MOST_LINES:
            lines[severity].append(message)


def make_logger(trt: Any, log: Log) -> Any:
    """A logger of the runtime's own kind that writes to `log`."""

    class Logger(trt.ILogger):  # type: ignore[misc]
        def __init__(self) -> None:
            trt.ILogger.__init__(self)

        def log(self, severity: Any, msg: str) -> None:
            log.take(severity.name, msg)

    return Logger()


def parse(trt: Any, network: Any, logger: Any, log: Log, model: bytes, *, here: str) -> Any:
    """Fill the network; the parser, which must outlive it. Raises Refused, or HarnessError where
    this installation lacks what the model needs."""
    log.clear()
    parser = trt.OnnxParser(network, logger)
    if parser.parse(model):
        return parser
    errors = [_error(parser.get_error(i)) for i in range(parser.num_errors)]
    verdict = parser_verdict(errors, log.errors, _about(model, errors), here)
    raise _failure(Stage.CONVERT, verdict)


def add_profile(
    builder: Any, network: Any, config: Any, model: bytes, inputs: Sequence[Value]
) -> Any:
    """One profile of exactly the probe's inputs, where a shape or a shape's values are open; None
    where none is needed."""
    tensors = [network.get_input(i) for i in range(network.num_inputs)]
    asking = [t for t in tensors if t.is_shape_tensor or -1 in tuple(t.shape)]
    if not asking:
        return None
    values = named_inputs(model, inputs)
    profile = builder.create_optimization_profile()
    for tensor in asking:
        value = values.get(tensor.name)
        if not isinstance(value, Tensor):
            raise HarnessError(f"no value for the input {tensor.name}, whose shape is open")
        if tensor.is_shape_tensor:
            numbers = [int(number) for number in to_numpy(value).reshape(-1)]
            profile.set_shape_input(tensor.name, numbers, numbers, numbers)
        else:
            profile.set_shape(tensor.name, value.dims, value.dims, value.dims)
    if config.add_optimization_profile(profile) < 0:
        raise HarnessError("the builder does not take the optimization profile of the inputs")
    return profile


def build(builder: Any, network: Any, config: Any, log: Log) -> Any:
    """The serialized engine. Raises Refused, MemoryError or, for our own profile, HarnessError."""
    log.clear()
    plan = builder.build_serialized_network(network, config)
    if plan is None:
        if lacks_memory(log.errors):
            raise MemoryError("\n".join(log.errors))
        reasons = [line for line in log.warnings if "DLA" in line]
        raise _failure(Stage.COMPILE, builder_verdict([*log.errors, *reasons]))
    return plan


def named_inputs(model: bytes, inputs: Sequence[Value]) -> dict[str, Value]:
    """The probe's inputs by the names of the graph's; HarnessError when they do not pair."""
    graph = _graph(model)
    initialised = {tensor.name for tensor in graph.initializer}
    names = [info.name for info in graph.input if info.name not in initialised]
    if len(names) != len(inputs):
        raise HarnessError(f"{len(inputs)} inputs for the {len(names)} of the graph")
    return dict(zip(names, inputs, strict=True))


def output_names(model: bytes) -> list[str]:
    """Names of the graph's outputs, in order."""
    return [info.name for info in _graph(model).output]


def layers_text(layers: Mapping[tuple[str, str], int]) -> str:
    """As "MATRIX_MULTIPLY:GPU SHUFFLE:GPU x2", bounded; keys are (layer, unit)."""
    shown = [
        f"{layer}:{unit}" + (f" x{count}" if count > 1 else "")
        for (layer, unit), count in layers.items()
    ]
    rest = len(shown) - LAYERS_SHOWN
    return " ".join([*shown[:LAYERS_SHOWN], *([f"and {rest} more"] if rest > 0 else [])])


def network_layers(network: Any) -> Iterator[str]:
    """The kind of every layer of a parsed network."""
    for index in range(network.num_layers):
        yield str(network.get_layer(index).type.name)


def _failure(stage: Stage, verdict: Verdict) -> Exception:
    return HarnessError(verdict.text) if verdict.ours else Refused(stage, verdict.text)


def _error(error: Any) -> ParserError:
    return ParserError(
        code=error.code().name,
        node=error.node(),
        name=error.node_name(),
        operator=error.node_operator(),
        function=error.func(),
        file=error.file(),
        line=error.line(),
        text=error.desc(),
    )


def _about(model: bytes, errors: Sequence[ParserError]) -> About:
    if not errors:
        return About()
    graph, first = _graph(model), errors[0]
    domains = [node.domain for node in graph.node if node.op_type == first.operator]
    types = [
        _type_name(info.type)
        for info in graph.input
        if first.function == "importInput" and info.name == first.file
    ]
    return About("".join(domains[:1]), "".join(types[:1]), len(graph.node))


def _type_name(proto: Any) -> str:
    kind = str(proto.WhichOneof("value"))
    row = DTYPES.get(proto.tensor_type.elem_type)
    return row.name if row and kind == "tensor_type" else kind.removesuffix("_type")


def _graph(model: bytes) -> Any:
    """Bytes that are no model have an empty one."""
    try:
        return onnx.load_from_string(model).graph
    except DecodeError:
        return onnx.GraphProto()
