"""TensorRT on a Jetson (JetPack 6: TensorRT 10.3, Python 3.10), on its GPU or a DLA core.

Written against the documented API and tested on a stand-in: it has not run on a board.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tensorrt as trt

from probes.model.values import Value
from probes.run.adapter import Adapter, Capabilities, Enter, Refused, Session
from probes.run.cuda import Cuda, load_library
from probes.run.outcome import Stage
from probes.run.trt import Log, add_profile, build, make_logger, parse
from probes.run.trt_calibration import calibrate
from probes.run.trt_placement import describe, inspected_layers, logged_layers, place
from probes.run.trt_session import EngineSession

HERE = "this installation"
DTYPES = ("float", "float16", "bfloat16", "int32", "int64", "bool")
PRECISIONS = {"fp32": (), "fp16": ("FP16",), "int8": ("INT8", "FP16")}
ARITHMETIC = {"fp32": "", "fp16": "float16", "int8": "int8"}
WORKSPACE_MB = 1024
BOARD_FILES = {
    "l4t": Path("/etc/nv_tegra_release"),
    "power_mode": Path("/var/lib/nvpmodel/status"),
}


class TensorRtAdapter(Adapter):
    """config: precision ("fp32", "fp16", "int8"), workspace_mb, dla_core (a number, or None for
    the GPU), gpu_fallback (whether layers that the DLA does not take go to the GPU)."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.precision = str(self.config.get("precision", "fp32"))
        self.dla_core = self.config.get("dla_core")
        self.log = Log()
        self.logger = make_logger(trt, self.log)
        self.cuda = Cuda(load_library())
        trt.init_libnvinfer_plugins(self.logger, "")
        self.builder = trt.Builder(self.logger)
        self._check()

    def _check(self) -> None:
        """What cannot be asked at all is said once, before any probe."""
        if not self.cuda.is_well():
            raise RuntimeError("CUDA finds no device that answers")
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision is one of {', '.join(PRECISIONS)}")
        if self.dla_core is None:
            return
        if self.precision == "fp32":
            raise ValueError("a DLA computes in fp16 or int8")
        if int(self.dla_core) >= self.builder.num_DLA_cores:
            raise ValueError(f"this device has {self.builder.num_DLA_cores} DLA cores")

    @property
    def version(self) -> str:
        return str(trt.__version__)

    @property
    def unit(self) -> str:
        """The unit that is asked for."""
        return "GPU" if self.dla_core is None else "DLA"

    def capabilities(self) -> Capabilities:
        """Axes, sizes and zero points have to be constants for most importers."""
        return Capabilities(
            dtypes=DTYPES,
            constant_inputs=True,
            arithmetic=ARITHMETIC[self.precision],
            intended_unit=self.unit.lower(),
        )

    def facts(self) -> dict[str, Any]:
        """TF32 is off: it would make fp32 a name only."""
        board = {
            name: path.read_text(encoding="utf-8", errors="replace").splitlines()[:1]
            for name, path in BOARD_FILES.items()
            if path.exists()
        }
        return {**self.cuda.facts(), **board, "tf32": False}

    def load(self, model: bytes, inputs: Sequence[Value], enter: Enter) -> Session:
        if not self.cuda.is_well():
            os._exit(os.EX_TEMPFAIL)  # a probe before broke the device's state: a fresh child asks
        enter(Stage.CONVERT)
        network = self.builder.create_network(0)
        parser = parse(trt, network, self.logger, self.log, model, here=HERE)
        enter(Stage.COMPILE)
        config = self._configure()
        profile = add_profile(self.builder, network, config, model, inputs)
        with calibrate(trt, self.cuda, config, profile, model, inputs):
            plan = build(self.builder, network, config, self.log)
        del parser
        enter(Stage.LOAD)
        return self._open(plan, model)

    def _configure(self) -> Any:
        config = self.builder.create_builder_config()
        workspace = int(self.config.get("workspace_mb", WORKSPACE_MB)) << 20
        config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, workspace)
        config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
        config.clear_flag(trt.BuilderFlag.TF32)
        for name in PRECISIONS[self.precision]:
            config.set_flag(getattr(trt.BuilderFlag, name))
        if self.dla_core is not None:
            config.default_device_type = trt.DeviceType.DLA
            config.DLA_core = int(self.dla_core)
            if self.config.get("gpu_fallback", True):
                config.set_flag(trt.BuilderFlag.GPU_FALLBACK)
        return config

    def _open(self, plan: Any, model: bytes) -> Session:
        """`log` still has what the builder said of its layers."""
        placed, warnings = list(self.log.placed), list(self.log.warnings)
        engine = trt.Runtime(self.logger).deserialize_cuda_engine(plan)
        context = engine and engine.create_execution_context()
        if not context:
            raise Refused(Stage.LOAD, "\n".join(self.log.errors) or "No engine, and no reason.")
        told = engine.create_engine_inspector().get_engine_information(
            trt.LayerInformationFormat.JSON
        )
        layers = (self.dla_core is not None and logged_layers(placed)) or inspected_layers(told)
        session = EngineSession(trt, self.cuda, engine, context, model, self.log)
        return session.placed(place(layers, self.unit), describe(layers, warnings))


adapter = TensorRtAdapter
