"""The adapter of QNN's HTP on recorded words, without Qualcomm's library."""

import importlib
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto as T
from onnxruntime.capi import onnxruntime_pybind11_state as state

from probes.model.values import to_numpy
from probes.run import qnn_log
from probes.run.adapter import HarnessError, NotApplicable, Refused
from probes.run.outcome import Placement, Stage
from tests.probes.run.make import make_model, tensor

RECORDED = Path(__file__).parents[2] / "data" / "transcripts" / "qnn"
FALLBACK = "fallback to CPU EP has been explicitly disabled by the user."
RELU = make_model("Relu", inputs=[(T.FLOAT, [3])], outputs=[(T.FLOAT, [3])])


class FakeQnn:
    """What onnxruntime-qnn does to a session: takes it, or refuses it in recorded words."""

    def __init__(self):
        self.soc, self.arch = "SM8550", "73"
        self.words, self.error = "relu", None
        self.opened = []

    def session(self, adapter, model, level, **entries):
        self.opened.append((level, model))
        folder = entries.get("ep.context_file_path")
        if folder:
            text = f"\0relaxed_precision_flag=true;x;soc_type={self.soc};arch={self.arch};\0"
            Path(folder).with_name("probe_qnn.bin").write_bytes(f"\0a;{text}".encode())
        if level == 0:
            os.write(2, (RECORDED / f"{self.words}.log").read_bytes())
        if self.error and not folder:
            raise self.error
        session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
        part = SimpleNamespace(
            ep_name=qnn_log.PROVIDER, get_nodes=lambda: [SimpleNamespace(op_type="Relu")]
        )
        session.get_provider_graph_assignment_info = lambda: [part]
        return session


@pytest.fixture
def qnn(monkeypatch):
    """A stand-in for the plug-in and its sessions."""
    library = SimpleNamespace(get_library_path=lambda: "libqnn.so")
    monkeypatch.setitem(sys.modules, "onnxruntime_qnn", library)
    monkeypatch.setattr(ort, "register_execution_provider_library", lambda *_: None, raising=False)
    monkeypatch.setattr(ort, "get_ep_devices", list, raising=False)
    module = importlib.import_module("probes.run.adapters.qnn_htp")
    fake = FakeQnn()
    monkeypatch.setattr(module.QnnAdapter, "_session", lambda *a, **k: fake.session(*a, **k))
    return fake


@pytest.fixture
def output(tmp_path):
    """Descriptor 2 as a child has it: a file that can be read and emptied."""
    kept = os.dup(2)
    file = os.open(tmp_path / "output", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 2)
    yield file
    os.dup2(kept, 2)
    os.close(kept)
    os.close(file)


def make_adapter(**config):
    from probes.run.adapters.qnn_htp import adapter

    return adapter({"threads": 1, "soc_model": "43", "precision": "fp16", **config})


def load(adapter, model, *inputs):
    stages = []
    return adapter.load(model, list(inputs), stages.append)


@pytest.mark.usefixtures("output")
def test_the_target_that_was_prepared_for_is_a_fact(qnn):
    facts = make_adapter().facts()
    assert facts["qnn_soc"] == "SM8550"
    assert facts["qnn_arch"] == "73"
    assert facts["qnn_build"] == "2.51.0.260929181845"


@pytest.mark.parametrize(("soc_model", "soc"), [("57", "SM8550"), ("30", "SM8550")])
def test_another_target_than_asked_for_is_our_error(qnn, soc_model, soc):
    qnn.soc = soc
    with pytest.raises(HarnessError, match=f"asked for soc_model {soc_model}"):
        make_adapter(soc_model=soc_model)


def test_what_is_taken_is_loaded_quietly_and_says_where_it_runs(qnn, output):
    adapter = make_adapter()
    before = os.fstat(output).st_size
    session = load(adapter, RELU, tensor([-1, 0, 2]))
    session.feed([tensor([-1, 0, 2])])
    assert to_numpy(session.outputs(session.run())[0]).tolist() == [0, 0, 2]
    assert (session.placement, session.placement_detail) == (Placement.ACCELERATOR, "Relu:QNN")
    assert os.fstat(output).st_size == before


@pytest.mark.parametrize(
    ("words", "first"),
    [("erf", "The QNN provider does not take Erf: "), ("div_uint8", "The HTP back end does not ")],
)
def test_a_refusal_is_asked_for_its_reason_and_leaves_no_log(qnn, output, words, first):
    adapter = make_adapter()
    qnn.words, qnn.error = words, state.Fail(FALLBACK)
    with pytest.raises(Refused) as caught:
        load(adapter, RELU)
    assert caught.value.stage is Stage.COMPILE
    assert caught.value.message.startswith(first)
    assert caught.value.message.endswith(FALLBACK)
    assert [level for level, _ in qnn.opened[1:]] == [4, 0]
    assert os.fstat(output).st_size == 0


@pytest.mark.usefixtures("output")
def test_what_onnx_runtime_itself_refuses_is_refused_at_load(qnn):
    adapter = make_adapter()
    qnn.error = state.InvalidGraph("no such operator")
    with pytest.raises(Refused) as caught:
        load(adapter, RELU)
    assert caught.value.stage is Stage.LOAD
    assert caught.value.message.startswith("ONNX Runtime: no such operator")


@pytest.mark.usefixtures("output")
def test_what_the_machine_lacks_is_not_the_chips_refusal(qnn):
    adapter = make_adapter()
    qnn.error = state.Fail("Failed to construct locale with name: en_US.UTF-8")
    with pytest.raises(HarnessError):
        load(adapter, RELU)


@pytest.mark.usefixtures("output")
def test_eight_bits_are_held_against_the_same_model_on_the_cpu(qnn):
    adapter = make_adapter(precision="int8")
    x = tensor([-1, 0.3, 2])
    session = load(adapter, RELU, x)
    session.feed([x])
    (answer,), (reference,) = session.outputs(session.run()), session.reference
    assert to_numpy(answer).tolist() == to_numpy(reference).tolist()
    assert to_numpy(reference) == pytest.approx([0, 0.3, 2], abs=0.01)
    assert session.steps == [pytest.approx(2 / 255)]
    assert qnn.opened[-1][1] != RELU


@pytest.mark.usefixtures("output")
def test_what_eight_bits_do_not_apply_to(qnn):
    adapter = make_adapter(precision="int8")
    integers = make_model("Neg", inputs=[(T.INT32, [2])], outputs=[(T.INT32, [2])])
    with pytest.raises(NotApplicable):
        load(adapter, integers, tensor([1, 2], np.int32))


@pytest.mark.usefixtures("output")
def test_arithmetic_and_evidence_follow_the_configuration_and_the_machine(qnn):
    from probes.run.adapters import qnn_htp

    assert make_adapter().capabilities().arithmetic == "float16"
    assert make_adapter(precision="int8").capabilities().arithmetic == "int8"
    told = make_adapter().capabilities()
    assert told.latency_meaningful == (not qnn_htp.EMULATED)
    assert (told.evidence == "simulated") == qnn_htp.EMULATED
