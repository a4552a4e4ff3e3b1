"""ONNX Runtime on the CPU, without Python's silent retries and without spinning threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnxruntime as ort

from probes.model.values import Value
from probes.run.adapter import Adapter, Capabilities, Enter, HarnessError, Refused, Session
from probes.run.ort_session import ERRORS, OrtSession, is_of_machine, newest_stamps
from probes.run.outcome import Stage

LEVELS = {
    "off": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}


class OrtAdapter(Adapter):
    """config: threads, optimization ("off", "basic", "extended", "all")."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        options = ort.SessionOptions()
        options.intra_op_num_threads = int(self.config.get("threads", 1))
        options.inter_op_num_threads = 1
        options.graph_optimization_level = LEVELS[self.config.get("optimization", "all")]
        options.log_severity_level = 3
        for pool in ("intra_op", "inter_op"):
            options.add_session_config_entry(f"session.{pool}.allow_spinning", "0")
        self.options = options

    @property
    def version(self) -> str:
        return str(ort.__version__)

    def capabilities(self) -> Capabilities:
        opset, ir = newest_stamps()
        return Capabilities(max_opset=opset, max_ir=ir)

    def load(self, model: bytes, inputs: Sequence[Value], enter: Enter) -> Session:
        enter(Stage.LOAD)
        try:
            session = ort.InferenceSession(
                model, self.options, providers=["CPUExecutionProvider"], enable_fallback=0
            )
        except ERRORS as error:
            if is_of_machine(error):
                raise HarnessError(str(error)) from error
            raise Refused(Stage.LOAD, str(error)) from error
        return OrtSession(session)


adapter = OrtAdapter
