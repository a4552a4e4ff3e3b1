"""TensorRT-RTX, built ahead of time for a GPU that need not be here: compiled, never run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import tensorrt_rtx as trt

from probes.model.values import Value
from probes.run.adapter import Adapter, Capabilities, Enter, HarnessError, Session
from probes.run.outcome import Placement, Stage
from probes.run.trt import (
    Log,
    add_profile,
    build,
    layers_text,
    make_logger,
    network_layers,
    parse,
)

HERE = "this wheel"
# int8 and float8 are types of quantized tensors only; double silently becomes float.
DTYPES = ("float", "float16", "bfloat16", "int32", "int64", "bool")


class CompiledSession(Session):
    """A model that was built. There is no fallback: what is built runs on the GPU, all of it."""

    placement = Placement.ACCELERATOR

    def __init__(self, layers: Counter[str]) -> None:
        self.placement_detail = layers_text({(kind, "GPU"): n for kind, n in layers.items()})

    def feed(self, inputs: Sequence[Value]) -> None:
        raise HarnessError("TensorRT-RTX is asked to compile only")

    def run(self) -> Any:
        raise HarnessError("TensorRT-RTX is asked to compile only")

    def outputs(self, raw: Any) -> list[Value]:
        raise HarnessError("TensorRT-RTX is asked to compile only")


class TensorRtRtxAdapter(Adapter):
    """config: compute_capability, of the GPU that is built for ("75", "80", "86", "89", "120")."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        name = "SM" + str(self.config["compute_capability"])
        self.capability = getattr(trt.ComputeCapability, name, None)
        if self.capability is None:
            raise ValueError(f"TensorRT-RTX {trt.__version__} does not build for {name}")
        self.log = Log()
        self.logger = make_logger(trt, self.log)
        trt.init_libnvinfer_plugins(self.logger, "")
        self.builder = trt.Builder(self.logger)

    @property
    def version(self) -> str:
        return str(trt.__version__)

    def facts(self) -> dict[str, Any]:
        return {"compute_capability": str(self.config["compute_capability"])}

    def capabilities(self) -> Capabilities:
        """Axes, sizes and zero points have to be constants for most importers."""
        return Capabilities(
            dtypes=DTYPES,
            constant_inputs=True,
            intended_unit="gpu",
            numbers_meaningful=False,
            latency_meaningful=False,
            evidence="simulated",
        )

    def load(self, model: bytes, inputs: Sequence[Value], enter: Enter) -> Session:
        enter(Stage.CONVERT)
        network = self.builder.create_network(0)
        parser = parse(trt, network, self.logger, self.log, model, here=HERE)
        enter(Stage.COMPILE)
        config = self.builder.create_builder_config()
        config.num_compute_capabilities = 1
        config.set_compute_capability(self.capability, 0)
        add_profile(self.builder, network, config, model, inputs)
        build(self.builder, network, config, self.log)
        del parser
        return CompiledSession(Counter(network_layers(network)))


adapter = TensorRtRtxAdapter
