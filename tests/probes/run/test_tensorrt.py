"""TensorRT for a Jetson against a stand-in of its documented API and of libcudart."""

import importlib
import os
import sys

import numpy as np
import pytest
from onnx import TensorProto as T
from onnx import helper

from probes.model.values import from_numpy, pack_values
from probes.run.adapter import HarnessError, Refused
from probes.run.child import Probe
from probes.run.outcome import Placement, Stage
from tests.probes.run.fake_jetson import FakeCudart, FakeJetson, Scene, read
from tests.probes.run.make import make_model, numbers_of, tensor

MODULE = "probes.run.adapters.tensorrt"
FLAGS, F = FakeJetson.BuilderFlag, "float"
VALUES = [[1, -2, 3]]
NEG = make_model("Neg", inputs=[(T.FLOAT, [1, 3])], outputs=[(T.FLOAT, [1, 3])])


def neg_scene(**more):
    return Scene([("x0", F, [1, 3])], [("y0", F, [1, 3])], lambda x: [-x], **more)


@pytest.fixture
def cudart():
    return FakeCudart()


@pytest.fixture
def make(monkeypatch, cudart):
    """make(scene, **config): the fake runtime and an adapter on it."""

    def start(scene, cores=2, **config):
        fake = FakeJetson(scene, cores)
        monkeypatch.setitem(sys.modules, "tensorrt", fake)
        monkeypatch.delitem(sys.modules, MODULE, raising=False)
        monkeypatch.setattr("probes.run.cuda.load_library", lambda: cudart)
        return fake, importlib.import_module(MODULE).adapter({"threads": 1, **config})

    yield start
    sys.modules.pop(MODULE, None)


def run(adapter, model, inputs):
    session = adapter.load(model, inputs, lambda stage: None)
    session.feed(inputs)
    return session, session.outputs(session.run())


def test_a_model_is_built_fed_run_and_read_back(make, cudart):
    _, adapter = make(neg_scene())
    stages = []
    session = adapter.load(NEG, [tensor(VALUES)], stages.append)
    assert stages == [Stage.CONVERT, Stage.COMPILE, Stage.LOAD]
    session.feed([tensor(VALUES)])
    assert numbers_of(session.outputs(session.run())[0]) == [[-1, 2, -3]]
    assert (session.placement, session.placement_detail) == (
        Placement.ACCELERATOR,
        "CaskConvolution:GPU PointWiseV2:GPU x2",
    )
    session.close()
    assert (cudart.memory, cudart.handles) == ({}, {})


def test_the_child_answers_with_outputs_placement_latency_and_one_line_of_layers(make, capfd):
    _, adapter = make(neg_scene())
    described, blobs = pack_values([tensor(VALUES)])

    class Page:
        def enter(self, stage):
            self.stage = stage

        def begin(self, started, serial):
            self.serial = serial

    header = {"serial": 1, "inputs": described, "timed": True}
    reply, outputs = Probe(adapter, Page()).answer(header, [memoryview(NEG), *blobs])
    assert "outcome" not in reply  # the parent compares
    assert np.frombuffer(outputs[0], np.float32).tolist() == [-1, 2, -3]
    assert reply["placement"] == "accelerator"
    assert reply["latency"]["count"] >= 3
    conditions = reply["latency"]["conditions"]
    assert (conditions["clock"], conditions["cuda_event_p50_ms"]) == ("perf_counter", 0.25)
    assert (conditions["synchronised"], conditions["copies"]) == ("stream", "excluded")
    said = capfd.readouterr().out
    assert said == "Layers, ms: Conv_0 + Relu_1 0.5000; PWN(Mul_3) 0.1250\n"


def test_a_run_is_timed_by_events_around_it_and_waits_for_the_stream(make, cudart):
    fake, adapter = make(neg_scene())
    session, _ = run(adapter, NEG, [tensor(VALUES)])
    before = dict(cudart.calls)
    session.run()
    grown = {name: cudart.calls[name] - before.get(name, 0) for name in cudart.calls}
    assert (grown["cudaEventRecord"], grown["cudaStreamSynchronize"]) == (2, 1)
    assert grown["cudaMemcpy"] == grown["cudaMalloc"] == 0  # copies are not timed
    assert fake.contexts[0].profiler is None  # it would slow down what is timed


@pytest.mark.parametrize(
    ("precision", "flags", "arithmetic"),
    [("fp32", set(), ""), ("fp16", {FLAGS.FP16}, "float16"),
     ("int8", {FLAGS.INT8, FLAGS.FP16}, "int8")],
)  # fmt: skip
def test_precision_and_workspace_are_what_the_configuration_says(
    make, precision, flags, arithmetic
):
    fake, adapter = make(neg_scene(), precision=precision, workspace_mb=64)
    run(adapter, NEG, [tensor(VALUES)])
    config = fake.configs[0]
    assert config.flags == flags  # and no TF32, which would make float32 a name only
    assert config.pools == {"WORKSPACE": 64 << 20}
    assert config.profiling_verbosity.name == "DETAILED"
    assert config.default_device_type.name == "GPU"
    told = adapter.capabilities()
    assert (told.arithmetic, told.evidence, told.intended_unit) == (arithmetic, "measured", "gpu")


@pytest.mark.parametrize("fallback", [True, False])
def test_a_dla_core_with_and_without_fallback(make, fallback):
    scene = neg_scene(builder_log=read("dla_all.log"))
    fake, adapter = make(scene, precision="fp16", dla_core=1, gpu_fallback=fallback)
    session, _ = run(adapter, NEG, [tensor(VALUES)])
    config = fake.configs[0]
    assert (config.default_device_type.name, config.DLA_core) == ("DLA", 1)
    assert (FLAGS.GPU_FALLBACK in config.flags) is fallback
    assert session.placement is Placement.ACCELERATOR
    assert session.placement_detail == "Conv_0...Relu_1:DLA MaxPool_2:DLA"
    assert adapter.capabilities().intended_unit == "dla"


@pytest.mark.parametrize(
    ("log", "placement", "detail"),
    [
        ("dla_mixed.log", Placement.MIXED,
         "Conv_0...Relu_1:DLA ELEMENTWISE:GPU\n"
         "/Div: DLA cores do not support DIV ElementWise operation."),
        ("dla_none.log", Placement.FALLBACK, "UNARY:GPU"),
    ],
)  # fmt: skip
def test_layers_that_the_dla_does_not_take_are_said_with_the_reason(make, log, placement, detail):
    _, adapter = make(neg_scene(builder_log=read(log)), precision="fp16", dla_core=0)
    session, _ = run(adapter, NEG, [tensor(VALUES)])
    assert (session.placement, session.placement_detail) == (placement, detail)


def test_a_dla_refusal_keeps_the_warning_that_explains_it(make):
    scene = neg_scene(builder_log=read("dla_refused.log"), built=False)
    _, adapter = make(scene, precision="fp16", dla_core=0, gpu_fallback=False)
    with pytest.raises(Refused) as caught:
        adapter.load(NEG, [tensor(VALUES)], lambda stage: None)
    assert caught.value.stage is Stage.COMPILE
    lines = caught.value.message.splitlines()
    assert lines[0].startswith("Layer Erf_0 (UNARY) has been set to run on DLA but is not")
    assert lines[-1] == "Erf_0: DLA cores do not support ERF Unary operation."


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"precision": "fp8"}, "precision is one of"),
        ({"precision": "fp32", "dla_core": 0}, "a DLA computes in fp16 or int8"),
        ({"precision": "fp16", "dla_core": 2}, "this device has 2 DLA cores"),
    ],
)
def test_a_configuration_that_cannot_be_is_said_before_any_probe(make, config, said):
    with pytest.raises(ValueError, match=said):
        make(neg_scene(), **config)


def test_a_board_whose_cuda_does_not_answer_is_unavailable(make, cudart):
    cudart.failing["cudaDeviceSynchronize"] = 100
    with pytest.raises(RuntimeError, match="no device that answers"):
        make(neg_scene())


def test_an_engine_that_does_not_load_is_a_refusal_at_load(make):
    fake, adapter = make(neg_scene())
    fake.deserialises = False
    with pytest.raises(Refused) as caught:
        adapter.load(NEG, [tensor(VALUES)], lambda stage: None)
    assert (caught.value.stage, caught.value.message) == (Stage.LOAD, "No engine, and no reason.")


def test_a_run_that_fails_is_no_harness_error(make):
    fake, adapter = make(neg_scene())
    session, _ = run(adapter, NEG, [tensor(VALUES)])
    fake.scene.runs = False
    with pytest.raises(RuntimeError, match="execute_async_v3 failed"):
        session.run()


def test_after_an_error_that_cuda_does_not_recover_from_a_fresh_child_asks(
    make, cudart, monkeypatch
):
    class Ended(BaseException):
        pass

    def end(code):
        assert code == os.EX_TEMPFAIL
        raise Ended

    _, adapter = make(neg_scene())
    monkeypatch.setattr(os, "_exit", end)
    cudart.failing["cudaDeviceSynchronize"] = 700
    with pytest.raises(Ended):
        adapter.load(NEG, [tensor(VALUES)], lambda stage: None)


def test_memory_that_runs_out_on_the_device_is_said_as_such(make, cudart):
    _, adapter = make(neg_scene())
    session = adapter.load(NEG, [tensor(VALUES)], lambda stage: None)
    cudart.failing["cudaMalloc"] = 2
    with pytest.raises(MemoryError, match="cudaMalloc: an error"):
        session.feed([tensor(VALUES)])


@pytest.mark.parametrize(
    ("fed", "said"),
    [
        ([], "0 inputs for the 1"),
        ([None], "no tensor for the input x0"),
        ([tensor([[1, 2]])], r"does not take the shape \[1, 2\]"),
        ([from_numpy(np.array([[1, 2, 3]], np.int64))], "wants x0 as float instead of int64"),
    ],
)
def test_inputs_that_do_not_fit_are_ours(make, fed, said):
    _, adapter = make(neg_scene())
    session = adapter.load(NEG, [tensor(VALUES)], lambda stage: None)
    with pytest.raises(HarnessError, match=said):
        session.feed(fed)


def test_a_type_that_we_cannot_read_is_ours(make):
    _, adapter = make(Scene([("x0", F, [1])], [("y0", "float8e8m0", [1])], lambda x: [x]))
    model = make_model("Neg", inputs=[(T.FLOAT, [1])], outputs=[(T.FLOAT, [1])])
    session = adapter.load(model, [tensor([1])], lambda stage: None)
    with pytest.raises(HarnessError, match="no tensor of ours for the type E8M0 of y0"):
        session.feed([tensor([1])])


def test_double_is_fed_as_the_float_that_the_parser_made_of_it(make):
    _, adapter = make(neg_scene())
    model = make_model("Neg", inputs=[(T.DOUBLE, [1, 3])], outputs=[(T.DOUBLE, [1, 3])])
    _, outputs = run(adapter, model, [from_numpy(np.array(VALUES, np.float64))])
    assert (outputs[0].dtype, numbers_of(outputs[0])) == (T.FLOAT, [[-1, 2, -3]])


@pytest.mark.parametrize(
    ("name", "number"), [("float16", T.FLOAT16), ("int64", T.INT64), ("bool", T.BOOL)]
)
def test_other_types_cross_as_their_bytes(make, name, number):
    _, adapter = make(Scene([("x0", name, [2])], [("y0", name, [2])], lambda x: [x]))
    model = make_model("Identity", inputs=[(number, [2])], outputs=[(number, [2])])
    value = from_numpy(np.array([1, 0], helper.tensor_dtype_to_np_dtype(number)))
    assert run(adapter, model, [value])[1] == [value]


def test_a_scalar_and_an_empty_tensor_keep_their_shapes(make):
    for shape in ([], [0, 2]):
        _, adapter = make(Scene([("x0", F, shape)], [("y0", F, shape)], lambda x: [-x]))
        model = make_model("Neg", inputs=[(T.FLOAT, shape)], outputs=[(T.FLOAT, shape)])
        _, outputs = run(adapter, model, [tensor(np.ones(shape))])
        assert outputs[0].dims == tuple(shape)


def test_outputs_come_in_the_order_of_the_graph(make):
    scene = Scene([("x0", F, [1])], [("y0", F, [1]), ("y1", F, [1])], lambda x: [x + 1, x + 2])
    _, adapter = make(scene)
    model = make_model("Split", inputs=[(T.FLOAT, [1])], outputs=[(T.FLOAT, [1]), (T.FLOAT, [1])])
    _, outputs = run(adapter, model, [tensor([1])])
    assert [numbers_of(value) for value in outputs] == [[2], [3]]


def test_an_output_whose_size_only_the_run_tells(make, cudart):
    scene = Scene([("x0", F, [4])], [("y0", F, [-1])], lambda x: [x[x > 0]])
    _, adapter = make(scene)
    model = make_model("Compress", inputs=[(T.FLOAT, [4])], outputs=[(T.FLOAT, ["n"])])
    session, outputs = run(adapter, model, [tensor([1, -1, 2, 3])])
    assert numbers_of(outputs[0]) == [1, 2, 3]
    session.close()
    assert cudart.memory == {}


def test_open_shapes_get_a_profile_and_the_shape_that_is_fed(make):
    fake, adapter = make(Scene([("x0", F, [-1, 3])], [("y0", F, [2, 3])], lambda x: [-x]))
    model = make_model("Neg", inputs=[(T.FLOAT, ["n", 3])], outputs=[(T.FLOAT, ["n", 3])])
    run(adapter, model, [tensor(np.ones((2, 3)))])
    assert fake.calls[0] == ("x0", (2, 3), (2, 3), (2, 3))
    assert fake.contexts[0].shapes["x0"] == (2, 3)


def test_what_tensorrt_reads_on_the_host_stays_there(make, cudart):
    scene = Scene(
        [("x0", F, [2]), ("x1", "int64", [1])], [("y0", F, [2])],
        lambda x, k: [x + float(k[0])], on_host=("x1",),
    )  # fmt: skip
    _, adapter = make(scene)
    inputs = [(T.FLOAT, [2]), (T.INT64, [1])]
    model = make_model("Tile", inputs=inputs, outputs=[(T.FLOAT, [2])])
    fed = [tensor([1, 2]), from_numpy(np.array([5], np.int64))]
    _, outputs = run(adapter, model, fed)
    assert numbers_of(outputs[0]) == [6, 7]
    assert len(cudart.memory) == 2  # x0 and y0


def test_int8_is_calibrated_with_what_the_probe_is_fed(make, cudart):
    fake, adapter = make(neg_scene(), precision="int8")
    run(adapter, NEG, [tensor(VALUES)])
    config = fake.configs[0]
    first, last = config.batches
    assert len(first) == 1
    assert last is None
    assert config.calibration_profile is None
    assert first[0] not in cudart.memory  # freed when the engine is built


def test_int8_of_an_open_shape_is_calibrated_in_the_profile(make):
    scene = Scene([("x0", F, [-1])], [("y0", F, [2])], lambda x: [-x])
    fake, adapter = make(scene, precision="int8")
    model = make_model("Neg", inputs=[(T.FLOAT, ["n"])], outputs=[(T.FLOAT, ["n"])])
    run(adapter, model, [tensor([1, 2])])
    assert fake.configs[0].calibration_profile is fake.configs[0].profiles[0]


def test_a_quantized_model_carries_its_own_ranges(make):
    fake, adapter = make(neg_scene(), precision="int8")
    model = make_model(
        "QuantizeLinear", inputs=[(T.FLOAT, [1, 3])], outputs=[(T.FLOAT, [1, 3])]
    )  # fmt: skip
    adapter.load(model, [tensor(VALUES)], lambda stage: None)
    assert fake.configs[0].int8_calibrator is None


def test_layers_that_cannot_be_timed_are_said_and_spoil_nothing(make, cudart, capfd):
    _, adapter = make(neg_scene())
    session = adapter.load(NEG, [tensor(VALUES)], lambda stage: None)
    session.feed([tensor(VALUES)])
    raw = session.run()
    cudart.failing["cudaStreamSynchronize"] = 4
    assert numbers_of(session.outputs(raw)[0]) == [[-1, 2, -3]]
    assert capfd.readouterr().out.startswith("Layers were not timed: cudaStreamSynchronize")


def test_the_board_is_described(make, monkeypatch, tmp_path):
    _, adapter = make(neg_scene())
    (tmp_path / "release").write_text("# R36 (release), REVISION: 4.0\nmore\n")
    module = sys.modules[MODULE]
    files = {"l4t": tmp_path / "release", "power_mode": tmp_path / "absent"}
    monkeypatch.setattr(module, "BOARD_FILES", files)
    assert adapter.facts() == {
        "cuda_runtime": "12.6", "cuda_driver": "12.6", "compute_capability": "87",
        "l4t": ["# R36 (release), REVISION: 4.0"], "tf32": False,
    }  # fmt: skip
    assert adapter.version == "10.3.0"
