"""A TensorRT engine with its buffers: fed, run on a stream of its own, read back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probes.model.values import DTYPES, NUMBER_OF, Tensor, Value, byte_length, to_numpy
from probes.run.adapter import HarnessError, Session
from probes.run.cuda import Cuda, CudaError
from probes.run.outcome import Placement
from probes.run.trt import Log, named_inputs, output_names

# TensorRT's name of a type -> ONNX's.
TYPES = {
    "FLOAT": "float", "HALF": "float16", "BF16": "bfloat16", "FP8": "float8e4m3fn",
    "INT4": "int4", "INT8": "int8", "INT32": "int32", "INT64": "int64", "UINT8": "uint8",
    "BOOL": "bool",
}  # fmt: skip
LAYERS_TIMED = 12


class EngineSession(Session):
    """An engine of `trt`, which is the runtime's module.

    run() is one inference with its inputs and outputs on the device, until the stream is idle.
    The device's own times of the same runs, from events, are in `event_ms`.
    """

    def __init__(
        self, trt: Any, cuda: Cuda, engine: Any, context: Any, model: bytes, log: Log
    ) -> None:
        self.trt, self.cuda, self.engine, self.context = trt, cuda, engine, context
        self.model, self.log = model, log
        self.stream = cuda.make("Stream")
        self.start, self.stop = cuda.make("Event"), cuda.make("Event")
        self.addresses: list[int] = []
        self.hosted: dict[str, Any] = {}
        self.allocators: dict[str, Any] = {}
        self.bound: dict[str, int] = {}
        self.event_ms: list[float] = []
        self.layer_ms: list[tuple[str, float]] = []

    def placed(self, placement: Placement, detail: str) -> EngineSession:
        """Say where its layers are."""
        self.placement, self.placement_detail = placement, detail
        return self

    def feed(self, inputs: Sequence[Value]) -> None:
        """By name; room is made for every output."""
        values = named_inputs(self.model, inputs)
        for name in self._names(self.trt.TensorIOMode.INPUT):
            self._feed(name, values.get(name))
        if missing := self.context.infer_shapes():
            raise HarnessError(f"TensorRT lacks the inputs {', '.join(missing)}")
        for name in self._names(self.trt.TensorIOMode.OUTPUT):
            self._make_room(name)

    def run(self) -> Any:
        """One inference."""
        self.log.clear()
        self.cuda.record(self.start, self.stream)
        done = self.context.execute_async_v3(self.stream)
        self.cuda.record(self.stop, self.stream)
        self.cuda.wait(self.stream)
        if not done:
            raise RuntimeError("\n".join(self.log.errors) or "execute_async_v3 failed")
        self.event_ms.append(self.cuda.between(self.start, self.stop))
        return None

    def outputs(self, raw: Any) -> list[Value]:
        """Read from the device, in the order of the graph."""
        values: list[Value] = [self._read(name) for name in output_names(self.model)]
        if not self.layer_ms:
            try:
                self._time_layers()
            except (CudaError, MemoryError) as error:
                print("Layers were not timed:", error)
        return values

    def conditions(self) -> dict[str, Any]:
        """How a latency was taken, and the median of what the device's events say."""
        median = round(float(np.median(self.event_ms)), 6) if self.event_ms else None
        return {"synchronised": "stream", "copies": "excluded", "cuda_event_p50_ms": median}

    def close(self) -> None:
        """Memory, stream and events."""
        del self.context, self.engine
        for address in self.addresses:
            self.cuda.free(address)
        for allocator in self.allocators.values():
            allocator.release()
        self.cuda.drop("Event", self.start)
        self.cuda.drop("Event", self.stop)
        self.cuda.drop("Stream", self.stream)

    def _names(self, mode: Any) -> list[str]:
        names = map(self.engine.get_tensor_name, range(self.engine.num_io_tensors))
        return [name for name in names if self.engine.get_tensor_mode(name) == mode]

    def _type(self, name: str) -> int:
        kind = self.engine.get_tensor_dtype(name).name
        if kind not in TYPES:
            raise HarnessError(f"no tensor of ours for the type {kind} of {name}")
        return NUMBER_OF[TYPES[kind]]

    def _feed(self, name: str, value: Value) -> None:
        if not isinstance(value, Tensor):
            raise HarnessError(f"no tensor for the input {name}")
        data = _as_type(value, self._type(name), name)
        if not self.context.set_input_shape(name, value.dims):
            raise HarnessError(f"TensorRT does not take the shape {list(value.dims)} of {name}")
        self._bind(name, self._hold(name, len(data), data))

    def _make_room(self, name: str) -> None:
        """Sizes that depend on data are known while it runs: TensorRT asks for the memory then."""
        shape = tuple(self.context.get_tensor_shape(name))
        if -1 in shape:
            self.allocators[name] = make_allocator(self.trt, self.cuda)
            self.context.set_output_allocator(name, self.allocators[name])
        else:
            self._bind(name, self._hold(name, byte_length(self._type(name), shape)))

    def _hold(self, name: str, size: int, data: bytes = b"") -> int:
        """Address of memory with `data`, on the host where TensorRT reads shapes."""
        if self.engine.get_tensor_location(name) == self.trt.TensorLocation.HOST:
            self.hosted[name] = np.zeros(max(size, 1), np.uint8)
            self.hosted[name][: len(data)] = np.frombuffer(data, np.uint8)
            return int(self.hosted[name].ctypes.data)
        address = self.cuda.allocate(size)
        self.addresses.append(address)
        if data:
            self.cuda.write(address, data)
        return address

    def _bind(self, name: str, address: int) -> None:
        self.bound[name] = address
        self.context.set_tensor_address(name, address)

    def _read(self, name: str) -> Tensor:
        allocator = self.allocators.get(name)
        shape = allocator.shape if allocator else tuple(self.context.get_tensor_shape(name))
        dtype, dims = self._type(name), tuple(int(dim) for dim in shape)
        size = byte_length(dtype, dims)
        if name in self.hosted:
            return Tensor(dtype, dims, self.hosted[name].tobytes()[:size])
        address = allocator.address if allocator else self.bound[name]
        return Tensor(dtype, dims, self.cuda.read(address, size))

    def _time_layers(self) -> None:
        """One more run in a context of its own, since a profiler slows down what it watches; its
        line goes into the probe's log."""
        watched = self.engine.create_execution_context()
        if watched is None:
            return
        watched.profiler = make_profiler(self.trt, self.layer_ms)
        for name in self._names(self.trt.TensorIOMode.INPUT):
            watched.set_input_shape(name, tuple(self.context.get_tensor_shape(name)))
        for name, address in self.bound.items():
            watched.set_tensor_address(name, address)
        for name, allocator in self.allocators.items():
            watched.set_output_allocator(name, allocator)
        watched.execute_async_v3(self.stream)
        self.cuda.wait(self.stream)
        slowest = sorted(self.layer_ms, key=lambda pair: -pair[1])[:LAYERS_TIMED]
        print("Layers, ms:", "; ".join(f"{name} {time:.4f}" for name, time in slowest))


def make_allocator(trt: Any, cuda: Cuda) -> Any:
    """Memory of one output whose size only the run tells."""

    class Allocator(trt.IOutputAllocator):  # type: ignore[misc]
        def __init__(self) -> None:
            trt.IOutputAllocator.__init__(self)
            self.address, self.size = 0, -1
            self.shape: tuple[int, ...] = ()

        def reallocate_output(self, tensor_name: str, memory: Any, size: int, _: int) -> int:
            if size > self.size:
                self.release()
                self.address, self.size = cuda.allocate(size), size
            return self.address

        def reallocate_output_async(
            self, tensor_name: str, memory: Any, size: int, alignment: int, stream: int
        ) -> int:
            return self.reallocate_output(tensor_name, memory, size, alignment)

        def notify_shape(self, tensor_name: str, shape: Any) -> None:
            self.shape = tuple(shape)

        def release(self) -> None:
            if self.address:
                cuda.free(self.address)
            self.address, self.size = 0, -1

    return Allocator()


def make_profiler(trt: Any, into: list[tuple[str, float]]) -> Any:
    """A profiler that adds (layer, milliseconds) to a list."""

    class Profiler(trt.IProfiler):  # type: ignore[misc]
        def __init__(self) -> None:
            trt.IProfiler.__init__(self)

        def report_layer_time(self, layer_name: str, ms: float) -> None:
            into.append((layer_name, float(ms)))

    return Profiler()


def _as_type(value: Tensor, wanted: int, name: str) -> bytes:
    """The parser makes float of double: whoever uses it has to feed float."""
    if value.dtype == wanted:
        return value.data
    if (value.dtype, wanted) == (NUMBER_OF["double"], NUMBER_OF["float"]):
        return to_numpy(value).astype(np.float32).tobytes()
    types = f"{DTYPES[wanted].name} instead of {DTYPES[value.dtype].name}"
    raise HarnessError(f"TensorRT wants {name} as {types}")
