"""QNN's own words, as recorded from onnxruntime-qnn 2.7.0: who refuses what, for which chip."""

from pathlib import Path

import pytest

from probes.run import qnn_log
from probes.run.outcome import MAX_MESSAGE

RECORDED = Path(__file__).parents[2] / "data" / "transcripts" / "qnn"
FALLBACK = (
    "[ONNXRuntimeError] : 1 : FAIL : This session contains graph nodes that are assigned to the "
    "default CPU EP, but fallback to CPU EP has been explicitly disabled by the user."
)
# From the options that HTP's prepare step writes into a context binary.
OPTIONS = (
    b"\0fuse_memgroups=-4;relaxed_precision_flag=true;disable_swiglu_fusion=false;min_arch=73;"
    b"debug_dynamic_dma_bytes=false;soc_type=SM8550;arch=73;num_nsps=1;\0"
)


def recorded(name):
    return (RECORDED / f"{name}.log").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("erf", "The QNN provider does not take Erf: Operators of type `Erf` are not supported by "
                "QNN EP."),
        ("mod", "The QNN provider does not take Mod: QNN Mod Op only support fmod == 0 for now."),
        ("div_uint8", "The HTP back end does not take Div of UINT_8: error 3110."),
        ("group_normalization", "7 of 25 nodes on the HTP. The QNN provider does not take "
                                "GroupNormalization: QNN GroupNorm input 1 (scale) must have 1D "
                                "shape [channel]."),
        ("instance_normalization_6", "QNN: QNNExecutionProvider cannot be used with this model due "
                                     "to its ONNX opset not being supported by the layout "
                                     "transformer."),
    ],
)  # fmt: skip
def test_the_first_line_says_who_refuses_what(name, first):
    message = qnn_log.refusal(recorded(name), FALLBACK)
    assert message.splitlines()[0] == first
    assert message.splitlines()[-1] == FALLBACK
    assert len(message) <= MAX_MESSAGE


def test_the_raw_words_follow_without_time_colour_and_idle_warnings():
    message = qnn_log.refusal(recorded("div_uint8"), FALLBACK)
    assert message.splitlines()[1:-1] == [
        "QNN.backendValidateOpConfig() failed for node `Div0` of type `ElementWiseDivide` "
        "with error code 3110",
        "REASON : Failed to add node.",
    ]


@pytest.mark.parametrize(
    ("error", "first"),
    [
        ("[ONNXRuntimeError] : 10 : INVALID_GRAPH : no such operator\nmore",
         "ONNX Runtime: no such operator"),
        ("[ONNXRuntimeError] : 11 : EP_FAIL : Failed to finalize QNN graph. Code: 1002",
         "QNN: Failed to finalize QNN graph. Code: 1002"),
        ("", "ONNX Runtime: refused without a word"),
    ],
)  # fmt: skip
def test_without_a_verdict_the_error_is_quoted(error, first):
    assert qnn_log.refusal("", error).splitlines()[0] == first


def test_an_error_while_preparing_is_qnns_own():
    log = "2026-11-29 20:00:00.0 [E:onnxruntime:, qnn_model.cc:1 X] Failed to create tensor\n"
    error = "[ONNXRuntimeError] : 11 : EP_FAIL : Failed to compose Qnn graph."
    assert qnn_log.refusal(log, error).splitlines()[0] == "QNN: Failed to create tensor"


def test_a_long_list_of_reasons_keeps_the_error_at_its_end():
    log = "".join(f"\tREASON : {number} {'x' * 100}\n" for number in range(100))
    message = qnn_log.refusal(log, FALLBACK)
    assert message.endswith(FALLBACK)
    assert len(message) <= MAX_MESSAGE


def test_an_accepted_graph_has_verdicts_and_no_reason():
    found = qnn_log.verdicts(recorded("relu"))
    assert [(v.operator, v.nodes, v.passed, v.reason) for v in found] == [("Relu", 1, True, "")] * 2


def test_a_reason_of_the_provider_is_not_laid_on_the_back_end():
    """The provider may have offered another form of the node before it said no itself."""
    log = (
        "backendValidateOpConfig() failed for node `a` of type `Conv2d` with error code 3110\n"
        "Validation FAILED for 1 nodes in OrtNodeUnit (Conv) :\n\tREASON : Cannot get shape\n"
    )
    assert qnn_log.verdicts(log) == [qnn_log.Verdict("Conv", 1, False, "Cannot get shape")]


def test_the_target_is_read_from_a_context_binary():
    """min_arch and other options that only end like the ones asked for are not taken for them."""
    expected = {"soc": "SM8550", "arch": "73", "relaxed_precision": "true"}
    assert qnn_log.target(OPTIONS) == expected
    assert qnn_log.target(b"\0min_arch=69;other_soc_type=SM8450;\0") == {}


def test_the_version_of_the_back_end():
    assert qnn_log.build(recorded("relu")) == "2.51.0.260929181845"
    assert qnn_log.build("") == ""
