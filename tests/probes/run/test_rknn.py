"""The RKNN adapter against recorded answers of rknn-toolkit2, without the toolkit."""

import hashlib
import importlib
import importlib.util
import os
import sys
import types
from contextlib import contextmanager

import numpy as np
import pytest
from onnx import TensorProto as T
from onnx import numpy_helper

from probes.model.values import from_numpy
from probes.run import rknn_toolkit
from probes.run.adapter import HarnessError, NotApplicable, Refused
from probes.run.adapters import rknn
from probes.run.outcome import Outcome, Placement, Stage
from probes.run.output import make_output_file, take
from probes.run.sandbox import ProbeRequest, Sandbox
from tests.probes.run import rknn_fake
from tests.probes.run.make import make_case, make_model, numbers_of, tensor

WEIGHT = numpy_helper.from_array(np.ones((2, 2, 1, 1), np.float32), "w")
CONV = make_model("Conv", inputs=[(T.FLOAT, [1, 2, 2, 2])], outputs=[(T.FLOAT, [1, 2, 2, 2])],
                  initializers=[WEIGHT])  # fmt: skip
IMAGE = tensor(np.arange(8).reshape(1, 2, 2, 2))


def unary(op, dtype, shape):
    return make_model(op, inputs=[(dtype, shape)], outputs=[(dtype, shape)])


@pytest.fixture(autouse=True)
def child(tmp_path, monkeypatch):
    """Stand in a scratch folder and print to a file, as a child does."""
    monkeypatch.chdir(tmp_path)
    descriptor = make_output_file()
    monkeypatch.setattr(rknn_toolkit, "OUTPUT", descriptor)
    yield descriptor
    os.close(descriptor)


@pytest.fixture
def said():
    return []


def adapter_of(monkeypatch, said, *names, **config):
    fake = rknn_fake.toolkit(*names, said=said)
    monkeypatch.setattr(rknn, "import_toolkit", lambda: fake)
    return rknn.RknnAdapter({"platform": "rk3588", **config})


@contextmanager
def loaded(adapter, model, inputs, stages=None):
    session = adapter.load(model, inputs, (stages if stages is not None else []).append)
    try:
        session.feed(inputs)
        yield session
    finally:
        session.close()


def test_a_model_is_converted_compiled_loaded_and_run(monkeypatch, said, tmp_path):
    adapter, stages = adapter_of(monkeypatch, said, "conv"), []
    with loaded(adapter, CONV, [IMAGE], stages) as session:
        (output,) = session.outputs(session.run())
        assert len(list(tmp_path.iterdir())) == 1
    assert stages == [Stage.CONVERT, Stage.COMPILE, Stage.LOAD]
    assert (session.placement, session.placement_detail) == (Placement.ACCELERATOR, "Conv:NPU")
    assert (output.dtype, output.dims) == (T.FLOAT, (1, 2, 2, 2))
    assert [call for call, _ in said] == ["config", "load_onnx", "build", "init_runtime",
                                          "inference", "release"]  # fmt: skip
    told = dict(said)
    assert told["config"]["target_platform"] == "rk3588"
    assert told["build"]["do_quantization"] is False
    assert told["init_runtime"] == {"target": None, "device_id": None}
    assert told["inference"] == {"fed": [("float32", (1, 2, 2, 2))], "data_format": ["nchw"]}
    assert list(tmp_path.iterdir()) == []


def test_a_thousand_probes_leave_no_file(monkeypatch, said, tmp_path):
    adapter = adapter_of(monkeypatch, said, *["conv"] * 500, *["nonzero"] * 500)
    for i in range(1000):
        try:
            adapter.load(CONV, [IMAGE], lambda _: None).close()
        except Refused:
            assert i >= 500
    assert list(tmp_path.iterdir()) == []
    assert [call for call, _ in said].count("release") == 1000


@pytest.mark.parametrize(
    ("name", "stage", "first"),
    [
        ("relu_opset_20", Stage.CONVERT, "Unsupport onnx opset 20, need <= 19!"),
        ("uint32", Stage.COMPILE, "Not support input data type 'uint32'!"),
    ],
)
def test_a_refusal_has_its_stage_and_its_reason(monkeypatch, said, name, stage, first):
    stages = []
    with pytest.raises(Refused) as refused:
        adapter_of(monkeypatch, said, name).load(CONV, [IMAGE], stages.append)
    assert refused.value.stage is stage is stages[-1]
    assert refused.value.message.splitlines()[0] == first


def test_what_is_printed_is_shortened_before_the_result_takes_it(monkeypatch, said, child):
    os.write(child, b"before\n")
    with loaded(adapter_of(monkeypatch, said, "conv"), CONV, [IMAGE]) as session:
        session.run()
    log = take(child).decode()
    assert log.startswith("before\nD base_optimize ...\n")
    assert "Conv               FLOAT16  NPU" in log
    assert ">>>>>> start" not in log
    assert len(log) < 3000


def test_where_nothing_can_be_read_back_the_placement_is_unknown(monkeypatch, said):
    reader, writer = os.pipe()
    monkeypatch.setattr(rknn_toolkit, "OUTPUT", writer)
    with loaded(adapter_of(monkeypatch, said, "conv"), CONV, [IMAGE]) as session:
        assert session.placement is Placement.UNKNOWN
    os.close(writer)
    os.close(reader)


def test_a_scalar_is_compiled_as_it_is_and_run_as_a_shape_of_one(monkeypatch, said):
    """The toolkit's own feeding fails on an input without dimensions."""
    adapter = adapter_of(monkeypatch, said, "neg_scalar", "neg_scalar_as_1")
    with loaded(adapter, unary("Neg", T.FLOAT, []), [tensor(2)]) as session:
        (output,) = session.outputs(session.run())
    assert (output.dims, numbers_of(output)) == ((), -2)
    assert session.placement_detail == "Mul:CPU"
    asked = [arguments for call, arguments in said if call == "load_onnx"]
    assert asked == [{"inputs": None, "input_size_list": None},
                     {"inputs": ["x0"], "input_size_list": [[1]]}]  # fmt: skip


def test_a_scalar_that_is_refused_as_it_is_is_refused(monkeypatch, said):
    with pytest.raises(Refused):
        adapter_of(monkeypatch, said, "nonzero").load(
            unary("Neg", T.FLOAT, []), [tensor(2)], lambda _: None
        )
    assert [call for call, _ in said].count("load_onnx") == 1


def test_a_scalar_that_is_refused_as_a_shape_of_one_is_our_failure(monkeypatch, said):
    with pytest.raises(HarnessError, match="cannot be fed: The input 0 of NonZero"):
        adapter_of(monkeypatch, said, "neg_scalar", "nonzero").load(
            unary("Neg", T.FLOAT, []), [tensor(2)], lambda _: None
        )


def test_a_scalar_that_fails_in_the_run_is_our_failure(monkeypatch, said):
    adapter = adapter_of(monkeypatch, said, "neg_scalar", "neg_scalar")
    with (
        loaded(adapter, unary("Neg", T.FLOAT, []), [tensor(2)]) as session,
        pytest.raises(HarnessError, match="IndexError"),
    ):
        session.run()


@pytest.mark.parametrize("name", ["relu_fed_nothing", "relu_fed_another_shape", "relu_fed_float64"])
def test_a_complaint_of_what_is_fed_is_our_failure(monkeypatch, said, name):
    with (
        loaded(adapter_of(monkeypatch, said, name), CONV, [IMAGE]) as session,
        pytest.raises(HarnessError),
    ):
        session.run()


def test_an_exception_of_the_simulator_is_an_error_of_the_run(monkeypatch, said):
    with (
        loaded(adapter_of(monkeypatch, said, "neg_scalar"), CONV, [IMAGE]) as session,
        pytest.raises(Refused, match="IndexError: list index out of range") as refused,
    ):
        session.run()
    assert refused.value.stage is Stage.RUN


def test_double_is_fed_as_float(monkeypatch, said):
    model = unary("Relu", T.DOUBLE, [4])
    with loaded(adapter_of(monkeypatch, said, "conv"), model, [tensor([1, 2], float)]) as session:
        session.run()
    assert dict(said)["inference"]["fed"] == [("float32", (2,))]


def test_a_sequence_cannot_be_fed(monkeypatch, said):
    adapter = adapter_of(monkeypatch, said, "conv")
    session = adapter.load(CONV, [[IMAGE]], lambda _: None)
    with pytest.raises(HarnessError, match="tensors only"):
        session.feed([[IMAGE]])
    session.close()


def test_half_precision_comes_back_as_such(monkeypatch, said):
    """The toolkit hands it out as float32, on the grid of float16."""
    half = from_numpy(np.array([-1, 0.1, 2, 3], np.float16))
    model = unary("Relu", T.FLOAT16, [4])
    with loaded(adapter_of(monkeypatch, said, "relu_float16"), model, [half]) as session:
        (output,) = session.outputs(session.run())
    assert output == from_numpy(np.array([0, 0.1, 2, 3], np.float16))


def test_a_scalar_comes_back_as_such_where_one_is_declared(monkeypatch, said):
    declared = make_model("Squeeze", inputs=[(T.FLOAT, [1])], outputs=[(T.FLOAT, [])])
    unknown = make_model("Squeeze", inputs=[(T.FLOAT, [1])], outputs=[(T.FLOAT, None)])
    for model, dims in ((declared, ()), (unknown, (1,))):
        with loaded(adapter_of(monkeypatch, said, "conv"), model, [tensor([1])]) as session:
            (output,) = session.outputs([np.array([3], np.float32)])
        assert output.dims == dims


def test_numbers_off_the_grid_of_float16_stay_float(monkeypatch, said):
    model = unary("Relu", T.FLOAT16, [2])
    with loaded(adapter_of(monkeypatch, said, "conv"), model, [tensor([1, 2])]) as session:
        (output,) = session.outputs([np.array([0.1, 1], np.float32)])
    assert output.dtype == T.FLOAT


def test_a_missing_output_is_left_to_the_comparison(monkeypatch, said):
    with loaded(adapter_of(monkeypatch, said, "conv"), CONV, [IMAGE]) as session:
        assert session.outputs([]) == []


def test_int8_takes_its_ranges_from_the_probes_own_inputs(monkeypatch, said):
    adapter = adapter_of(monkeypatch, said, "conv_int8", precision="int8")
    with loaded(adapter, CONV, [IMAGE]) as session:
        session.outputs(session.run())
    assert dict(said)["build"] == {"do_quantization": True, "samples": [(1, 2, 2, 2)]}
    assert adapter.capabilities().arithmetic == "int8"


def test_int8_of_a_graph_of_integers_makes_no_sense(monkeypatch, said):
    adapter = adapter_of(monkeypatch, said, precision="int8")
    with pytest.raises(NotApplicable):
        adapter.load(unary("Neg", T.INT64, [1]), [tensor([1], np.int64)], lambda _: None)
    assert said == []


def test_a_platform_that_the_toolkit_lacks_is_our_failure(monkeypatch, said):
    adapter = adapter_of(monkeypatch, said, "conv", platform="rk1")
    fake = adapter.toolkit
    monkeypatch.setattr(fake, "config", lambda self, target_platform: -1)
    with pytest.raises(HarnessError, match="rk1"):
        adapter.load(CONV, [IMAGE], lambda _: None)


def test_a_simulator_is_no_measurement(monkeypatch, said):
    capabilities = adapter_of(monkeypatch, said).capabilities()
    assert (capabilities.evidence, capabilities.latency_meaningful) == ("simulated", False)
    assert (capabilities.max_opset, capabilities.arithmetic) == (19, "float16")
    assert "uint8" not in capabilities.dtypes


def test_a_board_is_asked_over_the_toolkit(monkeypatch, said):
    adapter = adapter_of(
        monkeypatch, said, "board", "board", way="board", device_id="10.0.0.2:5555"
    )
    with loaded(adapter, CONV, [IMAGE]) as session:
        (output,) = session.outputs(session.run())
    assert output.dims == (1, 2, 2, 2)
    assert dict(said)["init_runtime"] == {"target": "rk3588", "device_id": "10.0.0.2:5555"}
    assert (session.memory_bytes, session.placement_detail) == (576, "Conv:NPU")
    assert adapter.capabilities().evidence == "measured"


def test_without_a_board_the_runtime_is_unavailable(monkeypatch, said):
    with pytest.raises(RuntimeError, match="sees no board"):
        adapter_of(monkeypatch, said, "board_absent", way="board")


def test_a_board_that_went_away_refuses_nothing(monkeypatch, said):
    adapter = adapter_of(monkeypatch, said, "board", "board_absent", way="board")
    with pytest.raises(HarnessError, match="no devices/emulators found"):
        adapter.load(CONV, [IMAGE], lambda _: None)


@pytest.fixture
def lite(monkeypatch, said):
    monkeypatch.setattr(rknn, "import_lite", lambda: rknn_fake.lite("lite", said))


def test_the_lite_runtime_runs_what_the_toolkit_beside_it_compiles(monkeypatch, said, lite):
    adapter = adapter_of(monkeypatch, said, "conv", way="lite")
    with loaded(adapter, CONV, [IMAGE]) as session:
        session.outputs(session.run())
    calls = [call for call, _ in said]
    after = ["export_rknn", "release", "load_rknn", "init_runtime", "inference", "release"]
    assert calls[-len(after) :] == after
    assert session.placement_detail == "Conv:NPU"
    capabilities = adapter.capabilities()
    assert (capabilities.evidence, capabilities.latency_meaningful) == ("measured", True)


def test_the_lite_runtime_runs_what_was_compiled_elsewhere(monkeypatch, said, lite, tmp_path):
    folder = tmp_path / "compiled"
    folder.mkdir()
    adapter = adapter_of(monkeypatch, said, way="lite", compiled=str(folder))
    with pytest.raises(HarnessError, match="not among the compiled models"):
        adapter.load(CONV, [IMAGE], lambda _: None)
    (folder / f"{hashlib.sha256(CONV).hexdigest()}.rknn").write_bytes(b"RKNN")
    with loaded(adapter, CONV, [IMAGE]) as session:
        session.outputs(session.run())
    assert session.placement is Placement.UNKNOWN
    assert "build" not in dict(said)


@pytest.fixture
def without_torch(monkeypatch):
    """A toolkit that imports torch as rknn-toolkit2 does, where torch is not installed."""
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.delitem(sys.modules, "torch.nn", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    made = types.ModuleType("rknn.api")

    def imported(name):
        assert name == "rknn.api"
        exec(
            "import torch\nimport torch.nn as nn\n"
            "class Layer(nn.Module): pass\n"
            "@torch.no_grad()\ndef algorithm(): return 1\n"
            "def other(): return torch.tensor\n"
            "class RKNN: pass\n",
            made.__dict__,
        )
        return made

    monkeypatch.setattr(importlib, "import_module", imported)
    return made


def test_the_toolkit_is_imported_without_torch(without_torch):
    assert rknn_toolkit.import_toolkit() is without_torch.RKNN
    assert without_torch.algorithm() == 1
    assert "torch" not in sys.modules


def test_what_would_have_needed_torch_is_our_failure(without_torch, monkeypatch, said):
    rknn_toolkit.import_toolkit()
    adapter = adapter_of(monkeypatch, said, "conv")

    def build(self, **_):
        try:
            without_torch.other()
        except AttributeError:
            return -1

    monkeypatch.setattr(adapter.toolkit, "build", build)
    with pytest.raises(HarnessError):
        adapter.load(CONV, [IMAGE], lambda _: None)
    monkeypatch.setattr(adapter.toolkit, "build", lambda self, **_: -1)
    monkeypatch.setattr(adapter.toolkit, "__init__", lambda self, **_: setattr(self, "calls", {}))
    with pytest.raises(Refused, match="gave no reason"):
        adapter.load(CONV, [IMAGE], lambda _: None)


def test_in_its_sandbox_a_toolkit_passes_and_refuses(tmp_path, monkeypatch):
    """From a package named as the real one, which answers as the real one did."""
    (tmp_path / "rknn").mkdir()
    (tmp_path / "rknn" / "__init__.py").touch()
    (tmp_path / "rknn" / "api.py").write_text(
        "from tests.probes.run.rknn_fake import toolkit\nRKNN = toolkit('conv', 'nonzero')\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    expected = rknn_fake.arrays(rknn_fake.calls_of("conv")["inference"]["returns"])
    case = make_case(CONV, [IMAGE], [from_numpy(array) for array in expected])
    with Sandbox("rknn", python=sys.executable) as sandbox:
        passed, refused = sandbox.run_many([ProbeRequest(case), ProbeRequest(case)])
        assert sandbox.describe()[1]["config"]["platform"] == "rk3588"
    assert (passed.outcome, passed.message) == (Outcome.PASSED, "")
    assert (passed.placement, passed.placement_detail) == (Placement.ACCELERATOR, "Conv:NPU")
    assert "Conv               FLOAT16  NPU" in passed.log
    assert passed.latency is None
    assert (refused.outcome, refused.stage) == (Outcome.REJECTED, Stage.COMPILE)
    assert refused.message.startswith("The input 0 of NonZero('y0') need to be constant!")


def test_the_indices_that_torch_would_lay_out():
    """As torch gives them; with the real one the same models end the same way."""
    numbers = rknn_toolkit.NUMBERS
    row = numbers["arange"](2, 8)
    assert row.numpy().tolist() == [2, 3, 4, 5, 6, 7]
    assert [part.tolist() for part in numbers["split"](row, 4)] == [[2, 3, 4, 5], [6, 7]]
    parts = numbers["split"](row.reshape(2, 3), [1, 2], 1)
    assert [part.tolist() for part in parts] == [[[2], [5]], [[3, 4], [6, 7]]]
    assert numbers["cat"](parts, 1).tolist() == [[2, 3, 4], [5, 6, 7]]
