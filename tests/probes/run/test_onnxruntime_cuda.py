"""ONNX Runtime's adapter for GPUs, with its CPU provider in their place, and what it asks of CUDA
and TensorRT. It has not run on a GPU."""

import importlib.util
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto as T
from onnx import helper

from probes.model.values import from_numpy, numpy_dtype
from probes.run import cuda_words, ort_placement, ort_session, output
from probes.run.adapter import HarnessError, Refused
from probes.run.adapters import onnxruntime_cuda
from probes.run.outcome import Placement, Stage
from tests.probes.run.make import make_model, tensor

RECORDED = Path(__file__).parents[2] / "data" / "transcripts" / "onnxruntime"
CUDA, TENSORRT, CPU = (onnxruntime_cuda.PROVIDERS[key].name for key in ("cuda", "tensorrt", "cpu"))


def make_adapter(**config):
    return onnxruntime_cuda.adapter({"threads": 1, "provider": "cpu", **config})


def load(model, **config):
    return make_adapter(**config).load(model, (), lambda _: None)


def answer(session, inputs):
    session.feed(inputs)
    first = session.outputs(session.run())
    assert session.outputs(session.run()) == first
    return first


def unary(op, dtype, shape, out=None, **attributes):
    return make_model(op, inputs=[(dtype, shape)], outputs=[(out or dtype, shape)], **attributes)


def recorded(name):
    return (RECORDED / f"{name}.log").read_text(encoding="utf-8")


@pytest.mark.parametrize("shape", [[], [0], [2, 3]])
@pytest.mark.parametrize("number", [T.FLOAT, T.DOUBLE, T.INT64, T.UINT8, T.BOOL, T.FLOAT16])
def test_tensors_are_bound_and_come_back_as_they_are(number, shape):
    value = from_numpy(np.ones(shape, numpy_dtype(number)))
    session = load(unary("Identity", number, shape))
    assert answer(session, [value]) == [value]
    assert session.binding is not None
    assert [array.tobytes() for array in session.lent] == [value.data]


@pytest.mark.parametrize("number", [T.BFLOAT16, T.FLOAT8E4M3FN])
def test_types_that_numpy_lacks_are_not_bound(number):
    value = from_numpy(np.ones([2], numpy_dtype(number)), number)
    session = load(unary("Cast", number, [2], T.FLOAT, opset=21, ir=10, to=T.FLOAT))
    assert answer(session, [value]) == [tensor([1, 1])]
    assert session.binding is None


def test_strings_and_sequences_are_not_bound():
    words = from_numpy(np.array(["a", "é"], object))
    session = load(unary("Identity", T.STRING, [2]))
    assert answer(session, [words]) == [words]
    assert session.binding is None
    one = helper.make_tensor_value_info("x", T.FLOAT, [2])
    made = helper.make_tensor_sequence_value_info("y", T.FLOAT, None)
    node = helper.make_node("SequenceConstruct", ["x", "x"], ["y"])
    graph = helper.make_graph([node], "g", [one], [made])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    value = tensor([1, 2])
    assert answer(load(model.SerializeToString()), [value]) == [[value, value]]


def test_the_next_inputs_replace_the_first():
    session = load(unary("Neg", T.FLOAT, [2]))
    assert answer(session, [tensor([1, 2])]) == [tensor([-1, -2])]
    assert answer(session, [tensor([3, 4])]) == [tensor([-3, -4])]


@pytest.mark.parametrize("inputs", [[], [tensor([1.0])] * 2, [tensor([1.0, 2.0])], [tensor([[1]])]])
def test_what_we_feed_wrong_is_our_fault(inputs):
    session = load(unary("Relu", T.FLOAT, [1]))
    with pytest.raises((HarnessError, ValueError)):
        feed_and_run(session, inputs)


def feed_and_run(session, inputs):
    session.feed(inputs)
    session.run()


def test_a_kernel_that_fails_is_an_error_of_the_run():
    data, index = (T.FLOAT, [2]), (T.INT64, [1])
    session = load(make_model("Gather", inputs=[data, index], outputs=[(T.FLOAT, [1])]))
    session.feed([tensor([1, 2]), from_numpy(np.array([7], np.int64))])
    with pytest.raises(ort_session.ERRORS, match="out of data bounds"):
        session.run()


def test_an_unknown_operator_is_refused_at_load():
    with pytest.raises(Refused, match="NoSuchOp") as refused:
        load(unary("NoSuchOp", T.FLOAT, [1]))
    assert refused.value.stage is Stage.LOAD


def test_placement_is_told_by_assignment_information_and_by_an_older_log(monkeypatch):
    model = unary("Sin", T.FLOAT, [2])
    session = load(model)
    told = (session.placement, session.placement_detail)
    assert told == (Placement.ACCELERATOR, "Sin:CPU")
    base = ort.InferenceSession.__bases__[0]
    monkeypatch.delattr(base, "get_provider_graph_assignment_info")
    kept, made = os.dup(2), output.make_output_file()
    os.dup2(made, 2)
    try:
        session = load(model)
        left = output.written(2)
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(made)
    told = (session.placement, session.placement_detail)
    assert told == (Placement.ACCELERATOR, "all nodes:CPU")
    assert left == 0


def test_the_log_of_an_older_release_is_read_with_and_without_names():
    assert ort_placement.from_log(recorded("all_1.20.1")) == [(CPU, ort_placement.ANY)] * 2
    qnn = "QNNExecutionProvider"
    some = ort_placement.from_log(recorded("some_1.32.0"))
    assert [provider for provider, _ in some] == [qnn, qnn, CPU]
    assert some[-1] == (CPU, "Mod")
    assert ort_placement.placement(some, qnn)[0] is Placement.MIXED
    assert ort_placement.from_log("") == []


@pytest.mark.parametrize(
    ("assigned", "placement", "detail"),
    [
        ([], Placement.UNKNOWN, "folded into a constant, no node is left"),
        ([(CUDA, "Conv"), (CUDA, "Conv")], Placement.ACCELERATOR, "Conv:CUDA"),
        ([(CUDA, "Conv"), (CPU, "NonZero")], Placement.MIXED, "Conv:CUDA NonZero:CPU"),
        ([(CPU, "NonZero")], Placement.FALLBACK, "NonZero:CPU"),
    ],
)
def test_placement(assigned, placement, detail):
    assert ort_placement.placement(assigned, CUDA) == (placement, detail)


def test_a_build_without_the_provider_is_unavailable():
    with pytest.raises(ImportError, match="has no CUDAExecutionProvider"):
        make_adapter(provider="cuda")


@pytest.fixture
def has_gpu(monkeypatch):
    """A build that lists the GPU providers. `session` stands in for its sessions, which start what
    they are told to; the real ones here take the CPU instead."""
    asked = []

    class FakeSession:
        def __init__(self, model, options, providers, enable_fallback):
            self.providers = providers
            asked.append((providers, options, enable_fallback))

        def get_providers(self):
            return [name for name, _ in self.providers] + [CPU]

        def disable_fallback(self):
            asked.append("strict")

    monkeypatch.setattr(ort, "get_available_providers", lambda: [TENSORRT, CUDA, CPU])
    monkeypatch.setattr(ort, "preload_dlls", lambda: asked.append("preloaded"))
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "as it was")
    monkeypatch.setitem(sys.modules, "tensorrt", None)  # absent
    return SimpleNamespace(asked=asked, session=FakeSession)


@pytest.mark.parametrize("provider", ["cuda", "tensorrt"])
def test_a_provider_that_did_not_start_is_unavailable_and_not_the_cpu(has_gpu, provider):
    with pytest.warns(UserWarning, match="not in available|is not in"), pytest.raises(ImportError):
        make_adapter(provider=provider)


@pytest.mark.parametrize(
    ("config", "name", "options", "arithmetic"),
    [
        ({"provider": "cuda"}, CUDA, {"use_tf32": "0", "device_id": "0"}, ""),
        ({"provider": "cuda", "precision": "tf32"}, CUDA, {"use_tf32": "1"}, "float16"),
        ({"provider": "tensorrt", "device_id": 1}, TENSORRT,
         {"trt_fp16_enable": "0", "device_id": "1"}, ""),
        ({"provider": "tensorrt", "precision": "fp16"}, TENSORRT,
         {"trt_fp16_enable": "1"}, "float16"),
    ],
)  # fmt: skip
def test_what_the_providers_are_asked(has_gpu, monkeypatch, config, name, options, arithmetic):
    monkeypatch.setattr(ort, "InferenceSession", has_gpu.session)
    adapter = make_adapter(**config)
    preloaded, (providers, asked, fallback), strict = has_gpu.asked
    assert (preloaded, strict, fallback) == ("preloaded", "strict", 0)
    assert [provider for provider, _ in providers] == [name]
    assert options.items() <= providers[0][1].items()
    assert asked.get_session_config_entry("session.record_ep_graph_assignment_info") == "1"
    assert adapter.facts()["provider_options"] == providers[0][1]
    tf32 = config.get("precision") == "tf32"
    assert os.environ["NVIDIA_TF32_OVERRIDE"] == ("as it was" if tf32 else "0")
    monkeypatch.setattr(ort_session, "newest_stamps", lambda: (26, 13))
    told = adapter.capabilities()
    assert (told.evidence, told.intended_unit, told.arithmetic) == ("measured", "gpu", arithmetic)


# Text of an error -> what it means; "" is the runtime's own answer.
MEANINGS = {
    "CUDA failure 2: out of memory ; GPU=0": "MemoryError",
    "Failed to allocate memory for requested buffer of size 1024": "MemoryError",
    "CUDA failure 100: no CUDA-capable device is detected": "HarnessError",
    "CUDA error: no kernel image is available for execution on the device": "HarnessError",
    "CUDA failure 700: an illegal memory access was encountered": "aborted",
    "CUDA error: device-side assert triggered": "aborted",
    "Could not find an implementation for NonZero(13) node": "",
}


@pytest.mark.parametrize("text", MEANINGS)
def test_what_an_error_of_cuda_means(monkeypatch, capfd, text):
    def abort():
        raise KeyboardInterrupt("aborted")

    monkeypatch.setattr(os, "abort", abort)
    try:
        cuda_words.settle(RuntimeError(text))
        meant = ""
    except KeyboardInterrupt:
        meant = "aborted"
        assert text in capfd.readouterr().err
    except (MemoryError, HarnessError) as error:
        meant = type(error).__name__
    assert meant == MEANINGS[text]


def test_the_driver_tells_its_version(monkeypatch, tmp_path):
    monkeypatch.setattr(cuda_words, "DRIVER", tmp_path / "version")
    assert cuda_words.driver() == ""
    (tmp_path / "version").write_text("NVRM version: NVIDIA UNIX 580.1\nGCC version: 12\n")
    assert cuda_words.driver() == "NVRM version: NVIDIA UNIX 580.1"


def test_errors_that_a_release_lacks_are_left_out(monkeypatch):
    """ONNX Runtime 1.20 has no NotFound."""
    monkeypatch.delattr(ort_session.state, "NotFound")
    older = importlib.util.module_from_spec(ort_session.__spec__)
    ort_session.__spec__.loader.exec_module(older)
    names = {error.__name__ for error in older.ERRORS}
    assert "NotFound" not in names
    assert {"Fail", "InvalidGraph", "RuntimeError"} <= names
