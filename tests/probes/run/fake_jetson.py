"""Stands in for `tensorrt` 10.3 and for libcudart: the documented calls, with host memory as the
device's and numpy as its kernels. What was called, in order, is in `calls`."""

import ctypes
from collections import defaultdict
from enum import Enum
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx

from probes.model.values import numpy_dtype
from probes.run.trt_session import TYPES
from tests.probes.run.fake_trt import Severity

TRANSCRIPTS = Path(__file__).resolve().parents[2] / "data" / "transcripts" / "jetson"
NAMES_OF = {onnx_name: name for name, onnx_name in TYPES.items()}
DataType = Enum("DataType", [*TYPES, "E8M0"])


def read(name):
    return (TRANSCRIPTS / name).read_text(encoding="utf-8")


class Base:
    """What the runtime's own abstract classes are: to be initialised by name."""

    def __init__(self):
        self.initialised = True


class Scene:
    """What a built engine is: tensors as (name, dtype, shape), and what it computes."""

    def __init__(self, inputs, outputs, compute, **more):
        self.inputs, self.outputs, self.compute = inputs, outputs, compute
        self.inspector = more.get("inspector", read("gpu.json"))
        self.builder_log = more.get("builder_log", "")
        self.built = more.get("built", True)
        self.on_host = more.get("on_host", ())
        self.runs = more.get("runs", True)
        self.layer_ms = more.get("layer_ms", {"Conv_0 + Relu_1": 0.5, "PWN(Mul_3)": 0.125})


class FakeJetson:
    __version__ = "10.3.0"
    ILogger = IProfiler = IOutputAllocator = IInt8EntropyCalibrator2 = Base
    BuilderFlag = Enum("BuilderFlag", "FP16 INT8 TF32 GPU_FALLBACK")
    MemoryPoolType = Enum("MemoryPoolType", "WORKSPACE DLA_MANAGED_SRAM")
    DeviceType = Enum("DeviceType", "GPU DLA")
    ProfilingVerbosity = Enum("ProfilingVerbosity", "LAYER_NAMES_ONLY DETAILED NONE")
    LayerInformationFormat = Enum("LayerInformationFormat", "ONELINE JSON")
    TensorIOMode = Enum("TensorIOMode", "NONE INPUT OUTPUT")
    TensorLocation = Enum("TensorLocation", "DEVICE HOST")

    def __init__(self, scene, cores=2):
        self.scene, self.cores = scene, cores
        self.calls, self.configs, self.contexts = [], [], []
        self.deserialises = True

    def init_libnvinfer_plugins(self, logger, namespace):
        return True

    def Builder(self, logger):
        return FakeBuilder(self, logger)

    def OnnxParser(self, network, logger):
        return SimpleNamespace(parse=lambda model: True, num_errors=0)

    def Runtime(self, logger):
        make = lambda plan: FakeEngine(self) if self.deserialises else None  # noqa: E731
        return SimpleNamespace(deserialize_cuda_engine=make)


class FakeBuilder:
    def __init__(self, fake, logger):
        self.fake, self.logger = fake, logger
        self.num_DLA_cores = fake.cores

    def create_network(self, flags):
        tensors = [
            SimpleNamespace(name=name, shape=tuple(shape), is_shape_tensor=False)
            for name, _, shape in self.fake.scene.inputs
        ]
        return SimpleNamespace(num_inputs=len(tensors), get_input=tensors.__getitem__)

    def create_builder_config(self):
        self.fake.configs.append(FakeConfig())
        return self.fake.configs[-1]

    def create_optimization_profile(self):
        return SimpleNamespace(set_shape=lambda *sizes: self.fake.calls.append(sizes))

    def build_serialized_network(self, network, config):
        for line in self.fake.scene.builder_log.splitlines():
            severity, message = line.split("\t", 1)
            self.logger.log(Severity[severity], message)
        if config.int8_calibrator:
            config.batches = [
                config.int8_calibrator.get_batch([name for name, *_ in self.fake.scene.inputs])
                for _ in range(2)
            ]
        return b"plan" if self.fake.scene.built else None


class FakeConfig:
    def __init__(self):
        self.flags = {FakeJetson.BuilderFlag.TF32}
        self.pools, self.profiles = {}, []
        self.default_device_type, self.DLA_core = FakeJetson.DeviceType.GPU, -1
        self.profiling_verbosity = FakeJetson.ProfilingVerbosity.LAYER_NAMES_ONLY
        self.int8_calibrator = self.calibration_profile = None

    def set_flag(self, flag):
        self.flags.add(flag)

    def clear_flag(self, flag):
        self.flags.discard(flag)

    def get_flag(self, flag):
        return flag in self.flags

    def set_memory_pool_limit(self, pool, size):
        self.pools[pool.name] = size

    def add_optimization_profile(self, profile):
        self.profiles.append(profile)
        return 0

    def set_calibration_profile(self, profile):
        self.calibration_profile = profile


class FakeEngine:
    def __init__(self, fake):
        self.fake, scene = fake, fake.scene
        modes = FakeJetson.TensorIOMode
        self.modes = dict.fromkeys((name for name, *_ in scene.inputs), modes.INPUT)
        self.modes.update(dict.fromkeys((name for name, *_ in scene.outputs), modes.OUTPUT))
        self.types = {name: dtype for name, dtype, _ in (*scene.inputs, *scene.outputs)}
        self.names = sorted(self.modes, reverse=True)  # an order that is not the graph's
        self.num_io_tensors = len(self.names)

    def get_tensor_name(self, index):
        return self.names[index]

    def get_tensor_mode(self, name):
        return self.modes[name]

    def get_tensor_dtype(self, name):
        return DataType[NAMES_OF.get(self.types[name], "E8M0")]

    def get_tensor_location(self, name):
        host = name in self.fake.scene.on_host
        return FakeJetson.TensorLocation.HOST if host else FakeJetson.TensorLocation.DEVICE

    def create_execution_context(self):
        self.fake.contexts.append(FakeContext(self))
        return self.fake.contexts[-1]

    def create_engine_inspector(self):
        return SimpleNamespace(get_engine_information=lambda form: self.fake.scene.inspector)


class FakeContext:
    def __init__(self, engine):
        self.engine, self.fake = engine, engine.fake
        scene = self.fake.scene
        self.shapes = {name: tuple(shape) for name, _, shape in (*scene.inputs, *scene.outputs)}
        self.addresses, self.allocators, self.profiler = {}, {}, None

    def set_input_shape(self, name, shape):
        declared = self.shapes[name]
        fits = len(declared) == len(shape) and all(
            d in (-1, s) for d, s in zip(declared, shape, strict=True)
        )
        if fits:
            self.shapes[name] = tuple(shape)
        return fits

    def get_tensor_shape(self, name):
        return self.shapes[name]

    def infer_shapes(self):
        inputs = [name for name, *_ in self.fake.scene.inputs]
        return [name for name in inputs if name not in self.addresses]

    def set_tensor_address(self, name, address):
        assert isinstance(address, int)
        self.addresses[name] = address

    def set_output_allocator(self, name, allocator):
        assert allocator.initialised
        self.allocators[name] = allocator

    def execute_async_v3(self, stream):
        self.fake.calls.append("execute")
        scene = self.fake.scene
        if not scene.runs:
            return False
        results = scene.compute(*(self._array(name) for name, *_ in scene.inputs))
        for (name, dtype, _), result in zip(scene.outputs, results, strict=True):
            self._store(name, np.asarray(result).astype(numpy_dtype(_number(dtype))))
        for layer, time in scene.layer_ms.items() if self.profiler else ():
            self.profiler.report_layer_time(layer, time)
        return True

    def _array(self, name):
        dtype, shape = numpy_dtype(_number(self.engine.types[name])), self.shapes[name]
        size = int(np.prod(shape)) * dtype.itemsize
        return np.frombuffer(ctypes.string_at(self.addresses[name], size), dtype).reshape(shape)

    def _store(self, name, array):
        if name in self.allocators:
            allocator, size = self.allocators[name], array.nbytes
            # First too little, as an estimate may be.
            for wanted in (size // 2, size):
                address = allocator.reallocate_output_async(name, None, wanted, 256, 0)
            allocator.notify_shape(name, array.shape)
        else:
            address = self.addresses[name]
        ctypes.memmove(address, array.tobytes(), array.nbytes)


def _number(name):
    return onnx.TensorProto.DataType.Value(name.upper())


class Call:
    """A function of a C library: its result type can be set."""

    def __init__(self, function):
        self.function, self.restype = function, ctypes.c_int

    def __call__(self, *arguments):
        return self.function(*arguments)


class FakeCudart:
    """`failing`: name of a function -> the code that it returns."""

    def __init__(self):
        self.memory, self.handles, self.failing = {}, {}, {}
        self.freed = []  # kept: the address of a buffer that is gone may be another's
        self.calls = defaultdict(int)
        self.numbers = count(1)
        self.cudaGetErrorString = Call(lambda code: b"an error")

    def __getattr__(self, name):
        def call(*arguments):
            self.calls[name] += 1
            if name in self.failing:
                return self.failing[name]
            return getattr(self, f"_{name}")(*arguments) or 0

        if not name.startswith("cuda"):
            raise AttributeError(name)
        return Call(call)

    def _cudaMalloc(self, pointer, size):
        buffer = ctypes.create_string_buffer(size.value)
        pointer._obj.value = ctypes.addressof(buffer)
        self.memory[pointer._obj.value] = buffer

    def _cudaFree(self, pointer):
        self.freed.append(self.memory.pop(pointer.value))

    def _cudaMemcpy(self, target, source, size, kind):
        device = target if kind.value == 1 else source
        assert len(self.memory[device.value]) >= size.value
        ctypes.memmove(target, source, size.value)

    def _cudaDeviceSynchronize(self):
        return 0

    def _create(self, handle):
        handle._obj.value = next(self.numbers)
        self.handles[handle._obj.value] = None

    _cudaStreamCreate = _cudaEventCreate = _create

    def _destroy(self, handle):
        del self.handles[handle.value]

    _cudaStreamDestroy = _cudaEventDestroy = _destroy

    def _cudaEventRecord(self, event, stream):
        assert {event.value, stream.value} <= set(self.handles)

    def _cudaStreamSynchronize(self, stream):
        assert stream.value in self.handles

    def _cudaEventElapsedTime(self, time, start, stop):
        assert start.value != stop.value
        time._obj.value = 0.25

    def _cudaRuntimeGetVersion(self, number):
        number._obj.value = 12060

    _cudaDriverGetVersion = _cudaRuntimeGetVersion

    def _cudaDeviceGetAttribute(self, number, attribute, device):
        number._obj.value = {75: 8, 76: 7}[attribute.value]
