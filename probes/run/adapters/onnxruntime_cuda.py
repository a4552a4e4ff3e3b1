"""ONNX Runtime on an NVIDIA GPU, by its CUDA or its TensorRT provider.

Held by tests with the CPU provider in their place; it has not run on a GPU.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import onnxruntime as ort

from probes.model.values import DTYPES, STRING, Tensor, Value, from_numpy, to_numpy
from probes.run import cuda_words, ort_placement, ort_session, output
from probes.run.adapter import Adapter, Capabilities, Enter, HarnessError, Refused, Session
from probes.run.ort_session import ERRORS, NATIVE, OrtSession
from probes.run.outcome import Stage


class Provider(NamedTuple):
    """A provider by ONNX Runtime's name, and where its inputs and outputs lie."""

    name: str
    device: str


PROVIDERS = {
    "cuda": Provider("CUDAExecutionProvider", "cuda"),
    "tensorrt": Provider("TensorrtExecutionProvider", "cuda"),
    "cpu": Provider("CPUExecutionProvider", "cpu"),
}
VERBOSE, QUIET = 0, 3
LOG_BYTES = 2**20
BOUND = NATIVE - {"tensor(string)"}  # what a binding takes and gives back through numpy


class BoundSession(OrtSession):
    """Inputs and outputs lie on the device where their types allow it, so that what is timed is the
    inference and no copy."""

    def __init__(self, session: ort.InferenceSession, device: str) -> None:
        super().__init__(session)
        self.device = device
        self.binding: Any = None
        self.lent: list[Any] = []  # a binding keeps no reference to the memory it was given

    def feed(self, inputs: Sequence[Value]) -> None:
        """By position."""
        self.binding = None
        if not (set(self.types) <= BOUND and all(map(_is_plain, inputs))):
            super().feed(inputs)
            return
        binding = self.session.io_binding()
        self.lent = [to_numpy(value).copy() for value in inputs]  # type: ignore[arg-type]
        for name, array in zip(self.names, self.lent, strict=True):
            binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
        for node in self.session.get_outputs():
            binding.bind_output(node.name, self.device)
        self.binding = binding

    def run(self) -> Any:
        """One inference, finished on the device when it returns."""
        try:
            if self.binding is None:
                return super().run()
            self.session.run_with_iobinding(self.binding)
            self.binding.synchronize_outputs()
        except ERRORS as error:
            ort_session.check_fed(error)
            cuda_words.settle(error)
            raise
        return None

    def outputs(self, raw: Any) -> list[Value]:
        """Copied from the device."""
        if self.binding is None:
            return super().outputs(raw)
        return [from_numpy(value.numpy()) for value in self.binding.get_outputs()]


class OrtGpuAdapter(Adapter):
    """config: threads, provider (a key of PROVIDERS), precision ("fp32", "tf32", and "fp16" with
    TensorRT), device_id, workspace_bytes (TensorRT)."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.provider = PROVIDERS[self.config.get("provider", "cuda")]
        self.precision = str(self.config.get("precision", "fp32"))
        if self.provider.name not in ort.get_available_providers():
            raise ImportError(f"this build of ONNX Runtime has no {self.provider.name}")
        if self.provider.device == "cuda":
            _find_libraries(self.precision)
        self._check()

    def _check(self) -> None:
        """A provider whose libraries are absent is left out with a warning, and the CPU answers."""
        try:
            session = self._session(ort_session.identity(), QUIET)
        except ERRORS as error:
            raise ImportError(str(error)) from error
        if self.provider.name not in session.get_providers():
            raise ImportError(f"{self.provider.name} did not start: CUDA or cuDNN is missing")

    @property
    def version(self) -> str:
        return str(ort.__version__)

    def capabilities(self) -> Capabilities:
        opset, ir = ort_session.newest_stamps()
        return Capabilities(
            max_opset=opset,
            max_ir=ir,
            arithmetic="" if self.precision == "fp32" else "float16",
            intended_unit="gpu" if self.provider.device == "cuda" else "cpu",
        )

    def facts(self) -> dict[str, Any]:
        return {
            "onnxruntime_build": ort.get_build_info(),
            "nvidia_driver": cuda_words.driver(),
            "provider_options": self._options(),
        }

    def load(self, model: bytes, inputs: Sequence[Value], enter: Enter) -> Session:
        enter(Stage.LOAD)
        try:
            session, assigned = self._placed(model)
        except ERRORS as error:
            cuda_words.settle(error)
            if ort_session.is_of_machine(error):
                raise HarnessError(str(error)) from error
            stage = Stage.COMPILE if "TensorRT" in str(error) else Stage.LOAD
            raise Refused(stage, str(error)) from error
        loaded = BoundSession(session, self.provider.device)
        loaded.placement, loaded.placement_detail = ort_placement.placement(
            assigned, self.provider.name
        )
        return loaded

    def _placed(self, model: bytes) -> tuple[ort.InferenceSession, ort_placement.Assigned]:
        """A session and where its nodes went; releases without that information are asked aloud."""
        told = hasattr(ort.InferenceSession, "get_provider_graph_assignment_info")
        if not told:
            before = output.written(2)
            self._session(model, VERBOSE)
            assigned = ort_placement.from_log(output.since(2, before, LOG_BYTES))
            output.cut(2, before)
        session = self._session(model, QUIET)
        if told:
            parts = session.get_provider_graph_assignment_info()
            assigned = [(part.ep_name, n.op_type) for part in parts for n in part.get_nodes()]
        return session, assigned

    def _session(self, model: bytes, level: int) -> ort.InferenceSession:
        options = ort.SessionOptions()
        options.intra_op_num_threads = int(self.config.get("threads", 1))
        options.inter_op_num_threads = 1
        options.log_severity_level = level
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        providers = [(self.provider.name, self._options())]
        session = ort.InferenceSession(model, options, providers=providers, enable_fallback=0)
        session.disable_fallback()
        return session

    def _options(self) -> dict[str, str]:
        device = {"device_id": str(self.config.get("device_id", 0))}
        options: dict[str, dict[str, str]] = {
            "CUDAExecutionProvider": {
                **device,
                "use_tf32": str(int(self.precision == "tf32")),
                "cudnn_conv_algo_search": "HEURISTIC",
            },
            "TensorrtExecutionProvider": {
                **device,
                "trt_fp16_enable": str(int(self.precision == "fp16")),
                "trt_max_workspace_size": str(self.config.get("workspace_bytes", 2**30)),
            },
        }
        return options.get(self.provider.name, {})


def _find_libraries(precision: str) -> None:
    """CUDA, cuDNN and TensorRT of wheels beside ours, where the system has none. NVIDIA's libraries
    round float32 to TF32 by default: forbidden, unless that is what is asked."""
    if precision != "tf32":
        os.environ["NVIDIA_TF32_OVERRIDE"] = "0"
    with contextlib.suppress(ImportError):
        importlib.import_module("tensorrt")
    if hasattr(ort, "preload_dlls"):
        ort.preload_dlls()


def _is_plain(value: Value) -> bool:
    return isinstance(value, Tensor) and value.dtype != STRING and bool(DTYPES[value.dtype].numpy)


adapter = OrtGpuAdapter
