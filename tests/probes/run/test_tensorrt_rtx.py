"""TensorRT-RTX on transcripts of the real toolkit: what it refuses, and what is not its fault."""

import importlib
import sys

import pytest

from probes.model.values import to_numpy
from probes.run.adapter import HarnessError, Refused
from probes.run.outcome import Placement, Stage
from probes.run.trt import LAYERS_SHOWN, MOST_LINES, Log, layers_text
from probes.run.trt_words import About, builder_verdict, gist, lacks_memory, parser_verdict
from tests.probes.run.fake_trt import NAMES, FakeRtx

MODULE = "probes.run.adapters.tensorrt_rtx"
BUILT = {
    "relu": "ACTIVATION:GPU",
    "dynamic_relu": "ACTIVATION:GPU",
    "reshape_by_input": "SHUFFLE:GPU",
}
# Transcript -> stage and first line of the refusal.
REFUSED = {
    "add_int16": (
        Stage.CONVERT,
        "Input x of type int16: Failed to convert ONNX date type to TensorRT data type.",
    ),
    "add_uint8": (
        Stage.CONVERT,
        "Add (node 0): node_of_sum: ElementWiseOperation SUM requires inputs with type kFLOAT,"
        " kHALF, kBF16, kFP8, or kINT8, kINT32, or kINT64. But type is UInt8.",
    ),
    "affine_grid": (Stage.CONVERT, "AffineGrid (node 0): the ONNX parser does not support it."),
    "contrib_unknown": (
        Stage.CONVERT,
        "FusedGemmFoo (node 0): no importer, and no plugin of that name ships in this wheel.",
    ),
    "deform_conv": (
        Stage.CONVERT,
        "DeformConv (node 0): no importer, and no plugin of that name ships in this wheel.",
    ),
    "no_model": (Stage.CONVERT, "The model: Failed to parse the ONNX model."),
    "nonzero": (
        Stage.CONVERT,
        "NonZero (node 0): its importer needs the plugin NonZero, which this wheel does not ship.",
    ),
    "reduce_sum_axes_by_input": (
        Stage.CONVERT,
        "ReduceSum (node 0): Axis input must resolve to a build-time constant (an initializer or a"
        " constant-foldable subgraph)!",
    ),
    "resize_tf_crop": (
        Stage.CONVERT,
        "Resize (node 0): TensorRT only supports half_pixel, pytorch_half_pixel,"
        " tf_half_pixel_for_nn, asymmetric and align_corners transformation modes!",
    ),
    "sequence_input": (
        Stage.CONVERT,
        "Input sequence of type sequence: Failed to convert ONNX date type to TensorRT data type.",
    ),
    "stops_at_importer": (
        Stage.CONVERT,
        "NonZero first (node 0): its importer needs the plugin NonZero, which this wheel does not"
        " ship.",
    ),
    "two_bad_nodes": (
        Stage.CONVERT,
        "BitCast first (node 0): no importer, and no plugin of that name ships in this wheel.",
    ),
    "two_checked": (Stage.CONVERT, "Unique first (node 0): the ONNX parser does not support it."),
    "attention_4d": (
        Stage.COMPILE,
        "Attention operation was not supported by a dedicated kernel.",
    ),
    "matmul_2d": (
        Stage.COMPILE,
        "Cannot compile operation 'node_of_c' for Turing (SM75): FP32 GEMM is not supported.",
    ),
    "non_max_suppression": (
        Stage.COMPILE,
        "node_of_selected_indices_2 has no runners that implement it",
    ),
    "quantize_by_input": (
        Stage.COMPILE,
        "IQuantizeLayer/IDequantizeLayer node_of_y has `zero_point` which is not an initializer.",
    ),
}
# Transcript -> what the sentence says that this installation lacks.
OURS = {
    "contrib_with_plugin": "the plugin MatMulNBits comes with a library that is not in this wheel",
    "dynamic_relu_without_profile": "no optimization profile has been defined",
    "plugin_of_a_library": "the plugin EfficientNMS_TRT comes with a library",
    "roialign": "it needs a CUDA driver, and none answers here",
}


@pytest.fixture
def fake(monkeypatch):
    fake = FakeRtx()
    monkeypatch.setitem(sys.modules, "tensorrt_rtx", fake)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield fake
    sys.modules.pop(MODULE, None)


@pytest.fixture
def load(fake):
    """Ask for a transcript; the session and the stages that were entered."""

    def ask(name):
        transcript = fake.ask(name)
        capability = transcript.data["compute_capability"]
        adapter = importlib.import_module(MODULE).adapter({"compute_capability": capability})
        stages = []
        return adapter.load(transcript.model, transcript.inputs, stages.append), stages

    return ask


def test_every_transcript_is_told_apart():
    assert sorted([*BUILT, *REFUSED, *OURS]) == list(NAMES)


@pytest.mark.parametrize("name", sorted(BUILT))
def test_what_is_built_is_on_the_gpu_and_was_never_run(load, name):
    session, stages = load(name)
    assert stages == [Stage.CONVERT, Stage.COMPILE]
    assert (session.placement, session.placement_detail) == (Placement.ACCELERATOR, BUILT[name])
    for call in (lambda: session.feed([]), session.run, lambda: session.outputs(None)):
        with pytest.raises(HarnessError, match="compile only"):
            call()


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_refusal_begins_with_what_is_wrong_and_keeps_the_words(load, fake, name):
    stage, line = REFUSED[name]
    with pytest.raises(Refused) as caught:
        load(name)
    first, *rest = caught.value.message.splitlines()
    assert caught.value.stage is stage
    assert first.startswith(line)
    said = [error["desc"] for error in fake.transcript.data["errors"]]
    said += [text for severity, text in fake.transcript.data["builder_log"] if severity == "ERROR"]
    assert said
    assert all(text in "\n".join(rest) for text in said)


@pytest.mark.parametrize("name", sorted(OURS))
def test_what_this_installation_lacks_is_never_a_refusal(load, name):
    with pytest.raises(HarnessError, match=OURS[name]):
        load(name)


def test_an_importer_that_fails_ends_the_list_of_errors_and_a_checker_does_not(load):
    told = {}
    for name in ("stops_at_importer", "nonzero", "two_checked"):
        with pytest.raises(Refused) as caught:
            load(name)
        told[name] = caught.value.message
    stops = "The parser stops there: nodes after it were not looked at."
    assert stops in told["stops_at_importer"].splitlines()
    assert stops not in told["nonzero"]  # there is no node after it
    assert "Det second (node 1)" in told["two_checked"]
    assert stops not in told["two_checked"]


def test_open_shapes_get_a_profile_of_exactly_the_inputs(load, fake):
    load("relu")
    assert fake.configs[-1].profiles == []
    load("dynamic_relu")
    assert fake.configs[-1].profiles[0].shapes == {"x": ((2, 3),) * 3}


def test_the_values_of_a_shape_go_into_the_profile(load, fake):
    load("reshape_by_input")
    values = to_numpy(fake.transcript.inputs[1]).tolist()
    assert fake.configs[-1].profiles[0].values == {"shape": (values, values, values)}
    assert fake.configs[-1].profiles[0].shapes == {}


def test_an_input_that_is_missing_or_a_profile_that_is_not_taken_is_ours(fake, load):
    transcript = fake.ask("dynamic_relu")
    adapter = importlib.import_module(MODULE).adapter({"compute_capability": "86"})
    with pytest.raises(HarnessError, match="0 inputs for the 1 of the graph"):
        adapter.load(transcript.model, [], lambda stage: None)
    with pytest.raises(HarnessError, match="no value for the input x"):
        adapter.load(transcript.model, [None], lambda stage: None)
    fake.takes_profiles = False
    with pytest.raises(HarnessError, match="does not take the optimization profile"):
        adapter.load(transcript.model, transcript.inputs, lambda stage: None)


def test_one_gpu_is_built_for_and_its_own_plugins_are_there(load, fake):
    load("relu")
    assert [c.name for c in fake.configs[-1].capabilities.values()] == ["SM86"]
    assert fake.plugins_loaded


def test_a_gpu_that_it_does_not_build_for_is_said_before_any_probe(fake):
    with pytest.raises(ValueError, match="does not build for SM87"):
        importlib.import_module(MODULE).adapter({"compute_capability": "87"})


def test_it_compiles_only_and_never_claims_more(fake):
    adapter = importlib.import_module(MODULE).adapter({"compute_capability": 120})
    told = adapter.capabilities()
    assert (told.numbers_meaningful, told.latency_meaningful) == (False, False)
    assert (told.evidence, told.intended_unit) == ("simulated", "gpu")
    assert told.constant_inputs
    assert "double" not in told.dtypes  # it becomes float without a word
    assert (adapter.version, adapter.facts()) == ("1.7.1.116", {"compute_capability": "120"})


def test_a_passing_probe_writes_nothing(load, capfd):
    load("relu")
    assert capfd.readouterr() == ("", "")


def test_the_log_keeps_errors_warnings_and_placement_and_no_more():
    log = Log()
    for severity in ("VERBOSE", "INFO"):
        log.take(severity, "Parsing node")
        log.take(severity, "[GpuLayer] CONVOLUTION: c")
    for number in range(MOST_LINES + 5):
        log.take("ERROR", f"wrong {number}")
        log.take("INTERNAL_ERROR", "worse")
        log.take("WARNING", "hm")
    assert (len(log.errors), len(log.warnings)) == (MOST_LINES, MOST_LINES)
    assert log.placed == ["[GpuLayer] CONVOLUTION: c"] * 2
    log.clear()
    assert (log.errors, log.warnings, log.placed) == ([], [], [])


def test_layers_are_counted_and_bounded():
    assert layers_text({("CONVOLUTION", "DLA"): 1, ("SHUFFLE", "GPU"): 2}) == (
        "CONVOLUTION:DLA SHUFFLE:GPU x2"
    )
    many = {(f"L{i}", "GPU"): 1 for i in range(LAYERS_SHOWN + 3)}
    assert layers_text(many).endswith(f"L{LAYERS_SHOWN - 1}:GPU and 3 more")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("false", "false"),
        ("", ""),
        ("Something else", "Something else"),
        ('a == 1 && "Not this."', "Not this."),
        ('(a) && "One and " "two."', "One and two."),
        ("Assertion failed: x::y() == z: Nor this.", "Nor this."),
        ("Assertion failed: onlyACondition", "Assertion failed: onlyACondition"),
        (
            "IBuilder::build: Error Code 1: Myelin ([a.cpp:3: f] FooException: b.h:7:"
            " CHECK(x()) failed.  In compileGraph at /src/c.cpp:9)",
            "CHECK(x()) failed.",
        ),
    ],
)
def test_the_sentence_inside_an_error(text, sentence):
    assert gist(text) == sentence


def test_a_toolkit_that_gives_no_reason_is_quoted_as_such():
    assert builder_verdict([]).text.startswith("The builder gives no reason.")
    silent = parser_verdict([], [], About(), "this wheel")
    assert silent.text == "The model: the parser gives no reason."
    assert not silent.ours


def test_memory_that_runs_out_is_no_refusal(load, fake):
    assert lacks_memory(["[defaultAllocator.cpp::allocate::31] Error Code 1: Out of memory"])
    transcript = fake.ask("relu")
    transcript.data["built"] = False
    transcript.data["builder_log"] = [["ERROR", "Requested size was 9 bytes: out of memory."]]
    adapter = importlib.import_module(MODULE).adapter({"compute_capability": "86"})
    with pytest.raises(MemoryError):
        adapter.load(transcript.model, transcript.inputs, lambda stage: None)
