"""What rknn-toolkit2 2.5.0 was seen to print: where layers went, what is wrong, what is noise."""

import pytest

from probes.run import rknn_log
from probes.run.outcome import Placement
from tests.probes.run.rknn_fake import RECORDED, calls_of, printed

NAMES = sorted(path.stem for path in RECORDED.glob("*.json"))


def raised(name, call):
    return calls_of(name)[call].get("raises", "")


@pytest.mark.parametrize(
    ("name", "where", "detail"),
    [
        ("conv", Placement.ACCELERATOR, "Conv:NPU"),
        ("conv_int8", Placement.ACCELERATOR, "Conv:NPU"),
        ("sin", Placement.MIXED, "Reshape:NPU x2 Sin:CPU"),
        ("mod", Placement.FALLBACK, "Mod:CPU"),
        ("nonzero", Placement.UNKNOWN, ""),
    ],
)
def test_the_table_of_layers_says_where_each_went(name, where, detail):
    assert rknn_log.placement(rknn_log.layers(printed(name))) == (where, detail)


def test_the_gpu_of_a_chip_is_not_its_npu():
    assert rknn_log.placement([("Conv", "GPU")]) == (Placement.FALLBACK, "Conv:GPU")
    assert rknn_log.placement([("Conv", "GPU"), ("Relu", "NPU")])[0] is Placement.MIXED


def test_a_long_placement_is_cut_after_whole_operators():
    found = [(f"Op{i}", "NPU") for i in range(100)]
    where, detail = rknn_log.placement(found)
    assert where is Placement.ACCELERATOR
    assert detail.endswith("Op59:NPU and 40 more")


def test_other_tables_of_the_log_have_no_layers():
    log = printed("conv").split("Feature Tensor Information Table")
    assert rknn_log.layers(log[1]) == []


@pytest.mark.parametrize(
    ("name", "call", "first"),
    [
        ("relu_opset_20", "load_onnx", "Unsupport onnx opset 20, need <= 19!"),
        ("nonzero", "build", "The input 0 of NonZero('y0') need to be constant! It will cause the "
                             "graph to be a dynamic graph! Remove NonZero('y0') manually and try "
                             "again!"),
        ("uint32", "build", "Not support input data type 'uint32'!"),
        ("layer_normalization_default_axis", "build", "KeyError: 'LayerNormalization'"),
        ("neg_scalar", "inference", "IndexError: list index out of range"),
        ("relu_fed_another_shape", "inference", "The input shape (3, 2) is wrong, expect [2, 3]!"),
    ],
)  # fmt: skip
def test_the_first_line_says_what_is_wrong(name, call, first):
    message = rknn_log.message(raised(name, call), printed(name, call))
    assert message.splitlines()[0] == first
    assert message.splitlines()[1] == "Traceback (most recent call last):"
    assert "\x1b" not in message


def test_an_exception_of_onnx_runtime_in_the_compiler_keeps_its_type():
    first = rknn_log.message(raised("no_such_operator", "build"), "").splitlines()[0]
    assert first.startswith("InvalidGraph: [ONNXRuntimeError] : 10 : INVALID_GRAPH")
    assert "No Op registered for NoSuchOp" in first


def test_paths_of_this_machine_are_in_no_message_and_no_log():
    name = "no_such_operator"
    assert "/env/site-packages/" in raised(name, "build")
    message = rknn_log.message(raised(name, "build"), printed(name))
    assert "/env/" not in message
    assert 'File "onnxruntime/capi/' in message
    assert "/env/" not in rknn_log.telling(printed(name))


@pytest.mark.parametrize("name", ["relu_fed_float64", "relu_fed_nothing"])
def test_without_an_exception_the_log_gives_the_reason(name):
    message = rknn_log.message("", printed(name, "inference"))
    first = {"relu_fed_float64": "Unsupport inputs[0].dtype: float64",
             "relu_fed_nothing": "Inputs are invalid!"}[name]  # fmt: skip
    assert message.splitlines() == [first, first]
    assert rknn_log.is_fed_wrong(message)


def test_no_reason_at_all_is_said():
    assert rknn_log.message("", "") == "The toolkit gave no reason."


def test_a_shape_that_the_compiler_refuses_is_not_our_feeding():
    refused = "The input shape ['N', 4] of 'x0' is not support!"
    assert not rknn_log.is_fed_wrong(refused)
    assert rknn_log.is_fed_wrong("The input(ndarray) shape (1, 2) is wrong, expect 'nhwc'")


def test_models_that_pass_complain_of_nothing():
    passing = [name for name in NAMES if calls_of(name).get("inference", {}).get("returns")]
    assert len(passing) >= 6
    assert [rknn_log.complaints(printed(name)) for name in passing] == [[]] * len(passing)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_of_a_log_tells_the_same_and_is_short(name):
    whole = printed(name)
    kept = rknn_log.telling(whole)
    assert len(kept) < 3500
    assert rknn_log.layers(kept) == rknn_log.layers(whole)
    assert rknn_log.complaints(kept) == rknn_log.complaints(whole)
    assert "site-packages" not in kept
    assert "\x1b" not in kept
    assert ">>>>>> start" not in kept


def test_the_table_of_layers_is_kept_without_the_time_of_day():
    kept = rknn_log.telling(printed("conv"))
    assert "D RKNN: 1    Conv               FLOAT16  NPU    (1,2,2,2),(2,2,1,1)" in kept
    assert "0x0000" not in kept
    assert kept == rknn_log.telling(kept)
