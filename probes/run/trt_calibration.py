"""Ranges for int8: from the probe's own inputs, where the model does not carry its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import onnx

from probes.model.values import Tensor, Value
from probes.run.cuda import Cuda
from probes.run.trt import named_inputs


@contextmanager
def calibrate(
    trt: Any, cuda: Cuda, config: Any, profile: Any, model: bytes, inputs: Sequence[Value]
) -> Iterator[None]:
    """While an int8 engine is built; nothing where another precision, or a quantized model, asks
    for none."""
    if not config.get_flag(trt.BuilderFlag.INT8) or _is_quantized(model):
        yield
        return
    addresses: dict[str, int] = {}
    try:
        for name, value in named_inputs(model, inputs).items():
            if isinstance(value, Tensor):
                addresses[name] = cuda.allocate(len(value.data))
                cuda.write(addresses[name], value.data)
        calibrator = _make_calibrator(trt, addresses)
        config.int8_calibrator = calibrator
        if profile is not None:
            config.set_calibration_profile(profile)
        yield
    finally:
        for address in addresses.values():
            cuda.free(address)


def _is_quantized(model: bytes) -> bool:
    return any(node.op_type == "QuantizeLinear" for node in onnx.load_from_string(model).graph.node)


def _make_calibrator(trt: Any, addresses: dict[str, int]) -> Any:
    class Calibrator(trt.IInt8EntropyCalibrator2):  # type: ignore[misc]
        """One batch: what the probe will be fed."""

        def __init__(self) -> None:
            trt.IInt8EntropyCalibrator2.__init__(self)
            self.given = False

        def get_batch_size(self) -> int:
            return 1

        def get_batch(self, names: Sequence[str]) -> list[int] | None:
            if self.given:
                return None
            self.given = True
            return [addresses[name] for name in names]

        def read_calibration_cache(self) -> bytes | None:
            return None

        def write_calibration_cache(self, cache: bytes) -> None:
            return None

    return Calibrator()
