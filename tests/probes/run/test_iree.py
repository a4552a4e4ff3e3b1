"""IREE on transcripts of the real compiler and runtime: refusals in its words, types, placement."""

import importlib
import os
import sys

import numpy as np
import pytest

from probes.model.values import Tensor, from_numpy
from probes.run import output
from probes.run.adapter import HarnessError, Refused
from probes.run.mlir_log import SILENT, telling
from probes.run.outcome import Placement, Stage
from tests.probes.run.fake_iree import NAMES, FakeIree, HalElementType, Transcript

MODULE = "probes.run.adapters.iree"
ILLEGAL = "failed to legalize operation"
# Transcript -> stage and first line of the refusal.
REFUSED = {
    "cast_INT4_to_INT8.llvm-cpu": (
        Stage.COMPILE,
        "'stream.tensor.sizeof' op failed to calculate total byte count: 'tensor<25xi4>' does not"
        " have integral number of total bytes",
    ),
    "castlike_UINT2_to_FLOAT_expanded.llvm-cpu": (
        Stage.CONVERT,
        "OnnxImportError: Unknown ONNX tensor element type: 25",
    ),
    "gridsample_reflection_padding.cuda-sm_87": (
        Stage.COMPILE,
        f"{ILLEGAL} 'torch.operator' onnx.GridSample",
    ),
    "identity_sequence.llvm-cpu": (Stage.COMPILE, f"{ILLEGAL} 'torch.operator' onnx.Identity"),
    "nesterov_momentum.cuda-sm_87": (
        Stage.COMPILE,
        "function is missing onnx opset version attribute (torch.onnx_meta.opset_version)",
    ),
    "nonzero_example.vulkan-adreno": (Stage.COMPILE, f"{ILLEGAL} 'arith.remsi'"),
    "nonzero_example.vulkan-valhall4": (Stage.COMPILE, f"{ILLEGAL} 'arith.remsi'"),
    "reduce_max_keepdims_example.llvm-cpu": (Stage.COMPILE, f"{ILLEGAL} 'torch.constant.bool'"),
    "slice_default_steps.llvm-cpu": (Stage.COMPILE, "unimplemented: dim is not constant"),
    "unique_sorted_without_axis.llvm-cpu": (
        Stage.COMPILE,
        "operand and result must have the same size and dtype",
    ),
}
TAKEN = sorted(set(NAMES) - set(REFUSED))
RUN = [name for name in TAKEN if name.endswith(".llvm-cpu")]
AHEAD = [name for name in TAKEN if name not in RUN]


@pytest.fixture
def iree(monkeypatch):
    """The packages as the adapter sees them, with descriptor 2 a file as in the child."""
    fake = FakeIree()
    for name, module in fake.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    kept, made = os.dup(2), output.make_output_file()
    os.dup2(made, 2)
    yield fake
    os.dup2(kept, 2)
    os.close(kept)
    os.close(made)
    sys.modules.pop(MODULE, None)


def make_adapter(**config):
    return importlib.import_module(MODULE).adapter({"threads": 1, **config})


def load(iree, name, stages=None):
    asked = iree.ask(name)
    enter = (lambda _: None) if stages is None else stages.append
    return make_adapter(backend=asked.backend).load(asked.model, asked.inputs, enter)


def test_every_transcript_is_told_apart():
    assert set(REFUSED) | set(RUN) | set(AHEAD) == set(NAMES)
    assert (len(RUN), len(AHEAD)) == (6, 2)


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_begins_with_what_is_wrong(iree, name):
    os.write(2, b"<unknown>:0: error: what another probe was told\n")
    with pytest.raises(Refused) as refused:
        load(iree, name)
    stage, first = REFUSED[name]
    assert (refused.value.stage, refused.value.message.splitlines()[0]) == (stage, first)
    assert "another probe" not in refused.value.message
    assert Transcript(name).data["log"].strip() in refused.value.message


def test_a_file_that_is_no_model_or_breaks_a_rule_of_onnx_is_refused_at_import(iree):
    asked = iree.ask("relu.cuda-sm_87")
    for model in (b"no model", asked.model.replace(b"Relu", b"Rolu")):
        with pytest.raises(Refused) as refused:
            make_adapter().load(model, asked.inputs, lambda _: None)
        assert refused.value.stage is Stage.CONVERT


@pytest.mark.parametrize("name", AHEAD)
def test_what_is_compiled_for_a_device_elsewhere_claims_no_placement_and_no_numbers(iree, name):
    stages = []
    session = load(iree, name, stages)
    told = make_adapter(backend=iree.transcript.backend).capabilities()
    assert session.placement is Placement.UNKNOWN
    assert (told.evidence, told.intended_unit) == ("simulated", "gpu")
    unsure = (told.numbers_meaningful, told.latency_meaningful, told.placement_known)
    assert unsure == (False, False, False)
    assert stages == [Stage.CONVERT, Stage.COMPILE]
    with pytest.raises(HarnessError):
        session.feed(iree.transcript.inputs)


@pytest.mark.parametrize("name", RUN)
def test_outputs_come_back_in_the_declared_types(iree, name):
    session = load(iree, name)
    session.feed(iree.transcript.inputs)
    outputs = session.outputs(session.run())
    assert [(v.dtype, v.dims) for v in outputs] == [
        (v.dtype, v.dims) for v in iree.transcript.expected
    ]
    assert session.outputs(session.run()) == outputs
    assert [len(data) for _, _, data in iree.fed[0]] == [
        len(value.data) for value in iree.transcript.inputs
    ]


def test_integers_without_a_sign_give_the_same_numbers(iree):
    session = load(iree, "bitshift_right_uint8.llvm-cpu")
    assert session.outputs(session.run()) == iree.transcript.expected


def test_another_type_than_the_declared_one_is_not_hidden(iree):
    session = load(iree, "argmax_keepdims_example_select_last_index.llvm-cpu")
    raw = session.run()
    raw[0].element_type, raw[0].data = int(HalElementType.INT_32), bytes(8)
    raw[0].byte_length = 8
    assert session.outputs(raw) == [Tensor(6, (2, 1), bytes(8))]


def test_a_type_that_we_cannot_read_or_make_is_our_fault(iree):
    session = load(iree, "acosh_example.llvm-cpu")
    raw = session.run()
    raw[0].element_type = 0
    with pytest.raises(HarnessError, match="element type 0x0"):
        session.outputs(raw)
    for value in ([], None, from_numpy(np.array(["a"], object)), Tensor(22, (2,), b"\0")):
        with pytest.raises(HarnessError):
            session.feed([value])


def test_the_cpu_is_measured_and_a_module_that_does_not_load_is_refused(iree):
    adapter = make_adapter(backend="llvm-cpu")
    told = adapter.capabilities()
    assert (told.evidence, told.intended_unit) == ("measured", "cpu")
    assert told.latency_meaningful
    assert load(iree, "acosh_example.llvm-cpu").placement is Placement.ACCELERATOR
    iree.load_error = "NOT_FOUND; no executable for this processor"
    with pytest.raises(Refused) as refused:
        load(iree, "acosh_example.llvm-cpu")
    assert (refused.value.stage, refused.value.message) == (Stage.LOAD, iree.load_error)


def test_an_error_of_a_run_stays_an_error_of_the_run(iree):
    session = load(iree, "acosh_example.llvm-cpu")
    iree.invoke_error = "OUT_OF_RANGE; index"
    with pytest.raises(RuntimeError, match="OUT_OF_RANGE"):
        session.run()


@pytest.mark.parametrize(
    ("backend", "flags"),
    [
        ("cuda-sm_87", ("--iree-hal-target-device=cuda", "--iree-cuda-target=sm_87")),
        ("vulkan-valhall4", ("--iree-hal-target-device=vulkan", "--iree-vulkan-target=valhall4")),
        ("vulkan-adreno", ("--iree-hal-target-device=vulkan", "--iree-vulkan-target=adreno")),
    ],
)
def test_the_target_is_in_the_flags_and_the_flags_in_the_facts(iree, backend, flags):
    asked = iree.ask("relu.cuda-sm_87")
    adapter = make_adapter(backend=backend)
    adapter.load(asked.model, asked.inputs, lambda _: None)
    assert iree.flags[-1][-2:] == flags
    assert "--iree-input-demote-f64-to-f32=false" in iree.flags[-1]
    assert adapter.facts()["iree_flags"] == list(iree.flags[-1])
    assert iree.threads == [False]


def test_an_unknown_back_end_is_no_adapter(iree):
    with pytest.raises(KeyError):
        make_adapter(backend="cuda-sm_00")


def test_a_compiler_that_says_nothing_is_quoted_as_such():
    assert telling("") == SILENT
    assert telling("a warning\n") == f"{SILENT}\na warning"


def test_framing_alone_is_better_than_nothing():
    line = '<unknown>:0: error: loc("n"): failed to run translation of source executable to target'
    assert telling(line).splitlines()[0] == line.partition("): ")[2]
