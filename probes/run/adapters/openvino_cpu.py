"""OpenVINO on the CPU, in float32: its own default there is bfloat16, which says nothing of the
operator."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import openvino as ov

from probes.model.values import NUMBER_OF, STRING, Tensor, Value, from_numpy, to_numpy
from probes.run.adapter import Adapter, Capabilities, Enter, HarnessError, Refused, Session
from probes.run.outcome import Placement, Stage

# OpenVINO's name of a type -> ONNX's.
TYPES = {
    "f32": "float", "f64": "double", "f16": "float16", "bf16": "bfloat16", "boolean": "bool",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "i4": "int4",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "u4": "uint4", "u2": "uint2",
    "f8e4m3": "float8e4m3fn", "f8e5m2": "float8e5m2", "f8e8m0": "float8e8m0",
    "f4e2m1": "float4e2m1", "string": "string",
}  # fmt: skip
TO_ONNX = {name: NUMBER_OF[onnx_name] for name, onnx_name in TYPES.items()}
# Lines of an error that say where in OpenVINO's own sources it arose, not what is wrong.
FRAMING = re.compile(
    r"Exception from src/|Check '.*' failed at |FrontEnd API failed|Model wasn't fully converted"
    r"|Summary:|To facilitate the conversion|While validating ONNX node"
)
FROM_ONNX = {number: getattr(ov.Type, name) for name, number in TO_ONNX.items()}


class OpenVinoSession(Session):
    """A compiled model with one request."""

    placement = Placement.ACCELERATOR

    def __init__(self, compiled: ov.CompiledModel, model: bytes) -> None:
        self.compiled = compiled
        self.model = model
        self.request = compiled.create_infer_request()

    def feed(self, inputs: Sequence[Value]) -> None:
        """By position: identity graphs lose the names of their inputs. Where an input that decides
        nothing was dropped, the names of the others tell which are left."""
        if len(inputs) != len(self.compiled.inputs):
            inputs = _remaining(self.compiled, self.model, inputs)
        for position, value in enumerate(inputs):
            if isinstance(value, Tensor) and value.dtype == STRING:
                self._fill_strings(position, value)
            else:
                self.request.set_input_tensor(position, _to_tensor(value))

    def _fill_strings(self, position: int, value: Tensor) -> None:
        """Into the request's own tensor: one of ours is freed twice where a graph passes it on."""
        tensor = self.request.get_input_tensor(position)
        tensor.set_shape(ov.Shape(value.dims))
        tensor.str_data = to_numpy(value).astype(np.str_)

    def run(self) -> Any:
        """One inference, synchronous."""
        self.request.infer()
        return self.request

    def outputs(self, raw: Any) -> list[Value]:
        """Copies of the request's output tensors."""
        return [_from_tensor(raw.get_output_tensor(i)) for i in range(len(self.compiled.outputs))]


class OpenVinoAdapter(Adapter):
    """config: threads, precision (an INFERENCE_PRECISION_HINT)."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.core = ov.Core()
        self.properties = {
            "INFERENCE_PRECISION_HINT": str(self.config.get("precision", "f32")),
            "INFERENCE_NUM_THREADS": int(self.config.get("threads", 1)),
            "NUM_STREAMS": "1",
        }

    @property
    def version(self) -> str:
        return str(ov.get_version()).split("-", 1)[0]

    def facts(self) -> dict[str, Any]:
        return {"openvino_build": str(ov.get_version()), "openvino_properties": self.properties}

    def capabilities(self) -> Capabilities:
        """No stamps: it reads files of any opset and IR version."""
        return Capabilities()

    def load(self, model: bytes, inputs: Sequence[Value], enter: Enter) -> Session:
        enter(Stage.CONVERT)
        try:
            converted = self.core.read_model(model)
        except Exception as error:
            raise Refused(Stage.CONVERT, _message(error)) from error
        enter(Stage.COMPILE)
        try:
            compiled = self.core.compile_model(converted, "CPU", self.properties)
        except Exception as error:
            raise Refused(Stage.COMPILE, _message(error)) from error
        enter(Stage.LOAD)
        return OpenVinoSession(compiled, model)


def _message(error: Exception) -> str:
    """What is wrong on the first line, then the error as it came."""
    text = str(error)
    lines = (line.strip() for line in text.splitlines())
    telling = [line.removeprefix("-- ") for line in lines if line and not FRAMING.match(line)]
    return "\n".join([" ".join(telling), text]) if telling else text


def _remaining(compiled: ov.CompiledModel, model: bytes, inputs: Sequence[Value]) -> list[Value]:
    import onnx

    graph = onnx.load_from_string(model).graph
    initialised = {tensor.name for tensor in graph.initializer}
    names = [info.name for info in graph.input if info.name not in initialised]
    by_name = dict(zip(names, inputs, strict=True))
    left = [by_name.keys() & port.names for port in compiled.inputs]
    if any(len(found) != 1 for found in left):
        raise HarnessError(f"{len(left)} of {len(inputs)} inputs are left: no telling which.")
    return [by_name[found.pop()] for found in left]


def _to_tensor(value: Value) -> ov.Tensor:
    if not isinstance(value, Tensor) or value.dtype not in FROM_ONNX:
        what = f"type {value.dtype}" if isinstance(value, Tensor) else "a sequence or nothing"
        raise HarnessError(f"OpenVINO has no tensor for {what}")
    tensor = ov.Tensor(FROM_ONNX[value.dtype], ov.Shape(value.dims))
    if value.data:
        tensor.data.reshape(-1).view(np.uint8)[:] = np.frombuffer(value.data, np.uint8)
    return tensor


def _from_tensor(tensor: ov.Tensor) -> Value:
    name = tensor.element_type.get_type_name()
    dims = tuple(int(dim) for dim in tensor.shape)
    if name not in TO_ONNX:
        raise HarnessError(f"cannot read an output of type {name}")
    if TO_ONNX[name] == STRING:
        return from_numpy(np.asarray(tensor.str_data, dtype=object).reshape(dims))
    return Tensor(TO_ONNX[name], dims, tensor.data.tobytes())


adapter = OpenVinoAdapter
