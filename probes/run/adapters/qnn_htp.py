"""Qualcomm's HTP through ONNX Runtime: prepared and emulated on x86, run on the chip elsewhere."""

from __future__ import annotations

import contextlib
import platform
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import onnxruntime as ort
import onnxruntime_qnn

from probes.model.values import Value, from_numpy
from probes.run import ort_placement, ort_session, output, qdq, qnn_log
from probes.run.adapter import (
    Adapter,
    Capabilities,
    Enter,
    HarnessError,
    Refused,
    Session,
)
from probes.run.ort_session import ERRORS, OrtSession, cpu_values
from probes.run.outcome import Stage


class Soc(NamedTuple):
    """A chip by its own name and the version of its HTP."""

    name: str
    arch: str


# By Qualcomm's number, which is what selects the target; a number it does not know selects another
# chip in silence.
SOCS = {
    "36": Soc("SM8450", "69"), "43": Soc("SM8550", "73"), "57": Soc("SM8650", "75"),
    "60": Soc("SC8380XP", "73"), "69": Soc("SM8750", "79"), "87": Soc("SM8850", "81"),
}  # fmt: skip
OLDEST_OPSET = 7  # of ONNX Runtime's layout transformer, without which the provider takes nothing
DTYPES = ("float", "float16", "int32", "int64", "uint32", "uint8", "bool")  # seen at the edge
QUIET, VERBOSE = 4, 0
STDERR, LONGEST_LOG = 2, 64 * 2**20
EMULATED = platform.machine() not in ("aarch64", "arm64")
# In ONNX Runtime's error where it has read the model and QNN does not take or prepare it.
NOT_TAKEN = ("fallback to CPU EP has been", "QNN", "Qnn")


class QnnAdapter(Adapter):
    """config: threads, soc_model (a key of SOCS), precision ("fp16", "int8")."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.soc_model = str(self.config.get("soc_model", "43"))
        self.int8 = self.config.get("precision", "fp16") == "int8"
        ort.register_execution_provider_library(
            qnn_log.PROVIDER, onnxruntime_qnn.get_library_path()
        )
        self.devices = _devices()
        self.target = self._prepared_for()
        expected = SOCS.get(self.soc_model)
        if expected is None or expected != (self.target["soc"], self.target["arch"]):
            raise HarnessError(f"asked for soc_model {self.soc_model}, got {self.target}")

    @property
    def version(self) -> str:
        return version("onnxruntime-qnn")

    def capabilities(self) -> Capabilities:
        opset, ir = ort_session.newest_stamps()
        oldest, newest = OLDEST_OPSET, opset
        if self.int8:
            oldest, newest = qdq.OLDEST_OPSET, min(opset or qdq.NEWEST_OPSET, qdq.NEWEST_OPSET)
        return Capabilities(
            min_opset=oldest,
            max_opset=newest,
            max_ir=ir,
            dtypes=DTYPES,
            static_shapes=True,
            constant_inputs=True,
            arithmetic="int8" if self.int8 else "float16",
            intended_unit="npu",
            latency_meaningful=not EMULATED,
            evidence="simulated" if EMULATED else "measured",
        )

    def facts(self) -> dict[str, Any]:
        return {
            "onnxruntime": str(ort.__version__),
            **{f"qnn_{k}": v for k, v in self.target.items()},
        }

    def load(self, model: bytes, inputs: Sequence[Value], enter: Enter) -> Session:
        enter(Stage.LOAD)
        if self.int8:
            return self._load_quantized(model, inputs, enter)
        return QnnSession(self._open(model, enter))

    def _load_quantized(self, model: bytes, inputs: Sequence[Value], enter: Enter) -> Session:
        """The model in 8 bits, held against the same model on the CPU."""
        qdq.check(model)
        made, steps = qdq.quantized(model, cpu_values(qdq.exposed(model), inputs))
        reference = cpu_values(made, inputs)
        session = QnnSession(self._open(made, enter))
        session.reference = [from_numpy(reference[name]) for name in session.output_names]
        session.steps = steps
        return session

    def _open(self, model: bytes, enter: Enter) -> ort.InferenceSession:
        """Nothing on the CPU; asked again, aloud, where the answer is no."""
        enter(Stage.COMPILE)
        try:
            return self._session(model, QUIET)
        except ERRORS as error:
            if ort_session.is_of_machine(error):
                raise HarnessError(str(error)) from error
            message = str(error)
        taken = any(mark in message for mark in NOT_TAKEN)
        log = self._words(model)
        raise Refused(Stage.COMPILE if taken else Stage.LOAD, qnn_log.refusal(log, message))

    def _words(self, model: bytes) -> str:
        start = output.written(STDERR)
        with contextlib.suppress(*ERRORS):
            self._session(model, VERBOSE)
        return _taken(start)

    def _session(self, model: bytes, level: int, **entries: str) -> ort.InferenceSession:
        options = ort.SessionOptions()
        options.intra_op_num_threads = int(self.config.get("threads", 1))
        options.inter_op_num_threads = 1
        options.log_severity_level = level
        settled = {
            "session.disable_cpu_ep_fallback": "1",
            "session.record_ep_graph_assignment_info": "1",
            "session.intra_op.allow_spinning": "0",
        }
        for name, value in {**settled, **entries}.items():
            options.add_session_config_entry(name, value)
        told = {"backend_type": "htp", "soc_model": self.soc_model}
        options.add_provider_for_devices(self.devices, told)
        session = ort.InferenceSession(model, options, enable_fallback=0)
        session.disable_fallback()
        return session

    def _prepared_for(self) -> dict[str, str]:
        """What a context binary says it was made for, and the version of its maker."""
        start = output.written(STDERR)
        with tempfile.TemporaryDirectory() as folder:
            entries = {
                "ep.context_enable": "1",
                "ep.context_embed_mode": "0",
                "ep.context_file_path": f"{folder}/probe.onnx",
            }
            self._session(ort_session.identity(), VERBOSE, **entries)
            found = [qnn_log.target(path.read_bytes()) for path in Path(folder).glob("*.bin")]
        if len(found) != 1 or not {"soc", "arch"} <= found[0].keys():
            raise HarnessError(f"cannot tell what QNN prepares for: {found}")
        return {**found[0], "build": qnn_log.build(_taken(start))}


class QnnSession(OrtSession):
    """A session whose nodes are all on the HTP, or folded away."""

    def __init__(self, session: ort.InferenceSession) -> None:
        super().__init__(session)
        assigned = [
            (part.ep_name, node.op_type)
            for part in session.get_provider_graph_assignment_info()
            for node in part.get_nodes()
        ]
        self.placement, self.placement_detail = ort_placement.placement(assigned, qnn_log.PROVIDER)


def _taken(start: int) -> str:
    """What was printed after `start`, taken back: a log this long is no part of the result."""
    text = output.since(STDERR, start, LONGEST_LOG)
    output.cut(STDERR, start)
    return text


def _devices() -> list[Any]:
    """The NPU; on a host without one, what the provider has there."""
    found = [device for device in ort.get_ep_devices() if device.ep_name == qnn_log.PROVIDER]
    return sorted(found, key=lambda d: d.device.type != ort.OrtHardwareDeviceType.NPU)[:1]


adapter = QnnAdapter
