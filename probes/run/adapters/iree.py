"""IREE's compiler, ahead of time for GPUs that are not here (compiled, never run), and on the CPU.

What it says for sm_87 is IREE's word on Orin's GPU and says nothing of TensorRT.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import iree.compiler.version as built
import iree.runtime as rt
import numpy as np
import onnx
from iree.compiler import ir
from iree.compiler.api import Invocation, Output, Source
from iree.compiler.api import Session as Compiler
from iree.compiler.extras.onnx_importer import ModelInfo, NodeImporter

from probes.model.values import DTYPES, NUMBER_OF, Tensor, Value
from probes.run import output
from probes.run.adapter import Adapter, Capabilities, Enter, HarnessError, Refused, Session
from probes.run.mlir_log import telling
from probes.run.outcome import Placement, Stage

BACKENDS: dict[str, tuple[str, ...]] = {
    "cuda-sm_87": ("--iree-hal-target-device=cuda", "--iree-cuda-target=sm_87"),
    "vulkan-valhall4": ("--iree-hal-target-device=vulkan", "--iree-vulkan-target=valhall4"),
    "vulkan-adreno": ("--iree-hal-target-device=vulkan", "--iree-vulkan-target=adreno"),
    "llvm-cpu": ("--iree-hal-target-device=local",
                 "--iree-hal-local-target-device-backends=llvm-cpu",
                 "--iree-llvmcpu-target-cpu=host"),
}  # fmt: skip
CPU = "llvm-cpu"
# Without the second, a graph of doubles is compiled in float32 behind an interface of doubles.
FLAGS = ("--iree-input-type=onnx", "--iree-input-demote-f64-to-f32=false")
ENTRY = "main"
HAL = rt.HalElementType
# IREE's element types -> ONNX's names; integers without a sign are what the graph declares.
TYPES: dict[Any, str] = {
    HAL.FLOAT_32: "float", HAL.FLOAT_64: "double", HAL.FLOAT_16: "float16",
    HAL.BFLOAT_16: "bfloat16", HAL.BOOL_8: "bool",
    HAL.COMPLEX_64: "complex64", HAL.COMPLEX_128: "complex128",
    HAL.SINT_8: "int8", HAL.SINT_16: "int16", HAL.SINT_32: "int32", HAL.SINT_64: "int64",
    HAL.UINT_8: "uint8", HAL.UINT_16: "uint16", HAL.UINT_32: "uint32", HAL.UINT_64: "uint64",
    HAL.FLOAT_8_E4M3_FN: "float8e4m3fn", HAL.FLOAT_8_E4M3_FNUZ: "float8e4m3fnuz",
    HAL.FLOAT_8_E5M2: "float8e5m2", HAL.FLOAT_8_E5M2_FNUZ: "float8e5m2fnuz",
    HAL.FLOAT_8_E8M0_FNU: "float8e8m0",
}  # fmt: skip
SIGNLESS: dict[Any, str] = {
    HAL.INT_8: "int8", HAL.INT_16: "int16", HAL.INT_32: "int32", HAL.INT_64: "int64",
}  # fmt: skip
TO_HAL = {NUMBER_OF[name]: element for element, name in TYPES.items()}
FROM_HAL = {int(element): NUMBER_OF[name] for element, name in (TYPES | SIGNLESS).items()}
UNSIGNED_OR_NOT = frozenset(map(int, SIGNLESS))
STORAGE = {8: "u1", 16: "<u2", 32: "<u4", 64: "<u8", 128: "<c16"}


class CompiledSession(Session):
    """A module for a device that is not here: nothing to feed, nothing ran anywhere."""

    def feed(self, inputs: Sequence[Value]) -> None:
        raise HarnessError("this configuration compiles only")

    def run(self) -> Any:
        raise HarnessError("this configuration compiles only")

    def outputs(self, raw: Any) -> list[Value]:
        raise HarnessError("this configuration compiles only")


class CpuSession(Session):
    """A module in IREE's runtime, on the calling thread."""

    placement = Placement.ACCELERATOR

    def __init__(self, config: rt.Config, module: bytes, declared: Sequence[int]) -> None:
        made = rt.VmModule.copy_buffer(config.vm_instance, module)
        modules = [*config.default_vm_modules, made]
        self.context = rt.VmContext(config.vm_instance, modules=modules)
        self.function = made.lookup_function(ENTRY)
        self.device = config.device
        self.declared = declared
        self.arguments = rt.VmVariantList(0)

    def feed(self, inputs: Sequence[Value]) -> None:
        """By position, in buffers of the runtime's own."""
        self.arguments = rt.VmVariantList(len(inputs))
        for value in inputs:
            self.arguments.push_ref(self._to_view(value).ref)

    def _to_view(self, value: Value) -> Any:
        if not isinstance(value, Tensor) or value.dtype not in TO_HAL:
            what = DTYPES[value.dtype].name if isinstance(value, Tensor) else "a sequence, nothing"
            raise HarnessError(f"IREE's runtime has no buffer for this: {what}")
        storage = STORAGE[DTYPES[value.dtype].bits]
        return self.device.allocator.allocate_buffer_copy(
            memory_type=rt.MemoryType.DEVICE_LOCAL,
            allowed_usage=rt.BufferUsage.DEFAULT,
            device=self.device,
            buffer=np.frombuffer(value.data, storage).reshape(value.dims),
            element_type=TO_HAL[value.dtype],
        )

    def run(self) -> Any:
        """One synchronous call."""
        results = rt.VmVariantList(len(self.declared))
        self.context.invoke(self.function, self.arguments, results)
        return results

    def outputs(self, raw: Any) -> list[Value]:
        """Copies, in the types that the runtime states."""
        views = [raw.get_as_object(index, rt.HalBufferView) for index in range(len(raw))]
        return [_from_view(*pair) for pair in zip(views, self.declared, strict=True)]


class IreeAdapter(Adapter):
    """config: backend (a row of BACKENDS), threads."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.backend = str(self.config.get("backend", CPU))
        self.flags = (*FLAGS, *BACKENDS[self.backend])
        self.runtime = rt.Config("local-sync") if self.backend == CPU else None

    @property
    def version(self) -> str:
        return version("iree-base-compiler")

    def facts(self) -> dict[str, Any]:
        revision = built.REVISIONS.get("IREE", "")
        return {"iree_build": f"{built.VERSION} {revision}", "iree_flags": list(self.flags)}

    def capabilities(self) -> Capabilities:
        """No stamps: its importer reads any opset. Many of its rules want axes, sizes and pads as
        constants."""
        if self.backend == CPU:
            return Capabilities(constant_inputs=True)
        return Capabilities(
            constant_inputs=True,
            intended_unit="gpu",
            placement_known=False,
            numbers_meaningful=False,
            latency_meaningful=False,
            evidence="simulated",
        )

    def load(self, model: bytes, inputs: Sequence[Value], enter: Enter) -> Session:
        enter(Stage.CONVERT)
        try:
            proto = _inferred(model)
            bytecode = _imported(proto)
        except MemoryError:
            raise
        except Exception as error:
            raise Refused(Stage.CONVERT, f"{type(error).__name__}: {error}") from error
        enter(Stage.COMPILE)
        module = self._compile(bytecode)
        if self.runtime is None:
            return CompiledSession()
        enter(Stage.LOAD)
        declared = [info.type.tensor_type.elem_type for info in proto.graph.output]
        try:
            return CpuSession(self.runtime, module, declared)
        except (RuntimeError, ValueError) as error:
            raise Refused(Stage.LOAD, str(error)) from error

    def _compile(self, bytecode: bytes) -> bytes:
        """A compiled module; its errors come on descriptor 2 and nowhere else."""
        before = output.written(2)
        with Compiler() as compiler:
            compiler.set_flags(*self.flags)
            compiler.context.enable_multithreading(int(self.config.get("threads", 1)) > 1)
            with compiler.invocation() as invocation:
                invocation.enable_console_diagnostics()
                source = Source.wrap_buffer(compiler, bytecode)
                if invocation.parse_source(source) and invocation.execute():
                    return _module(invocation)
        raise Refused(Stage.COMPILE, telling(output.since(2, before)))


def _inferred(model: bytes) -> onnx.ModelProto:
    """Checked and with every shape, as IREE's own import command does it."""
    proto = onnx.load_from_string(model)
    proto.graph.name = ENTRY  # the name of the function to call
    # A shape that a case leaves open is no fault of the model, but the checker wants one.
    if not all(info.type.tensor_type.HasField("shape") for info in proto.graph.output):
        proto = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    onnx.checker.check_model(proto)
    return onnx.shape_inference.infer_shapes(proto, data_prop=True)


def _imported(proto: onnx.ModelProto) -> bytes:
    """The graph in MLIR's bytecode: the compiler dies on a module that is handed over in memory."""
    info = ModelInfo(proto)
    with ir.Context() as context:
        module = info.create_module(context=context).operation
        NodeImporter.define_function(info.main_graph, module).import_all()
        module.verify()
        written = io.BytesIO()
        module.write_bytecode(written)
    return written.getvalue()


def _module(invocation: Invocation) -> bytes:
    made = Output.open_membuffer()
    invocation.output_vm_bytecode(made)
    return bytes(made.map_memory())


def _from_view(view: Any, declared: int) -> Tensor:
    """`declared` tells the sign of an integer of the same width, or that it is a bool."""
    element = int(view.element_type)
    number = FROM_HAL.get(element)
    if number is None:
        raise HarnessError(f"cannot read an output of IREE's element type {element:#x}")
    if element in UNSIGNED_OR_NOT and DTYPES[declared].bits == DTYPES[number].bits:
        number = declared
    data = view.map().asarray([view.byte_length], np.dtype(np.uint8)).tobytes()
    return Tensor(number, tuple(view.shape), data)


adapter = IreeAdapter
