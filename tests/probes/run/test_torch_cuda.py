"""PyTorch's adapter on the CPU, which takes the same path, with modules as onnx2torch makes them.
It has not run on a GPU."""

import importlib
import os
import sys
from types import ModuleType

import numpy as np
import pytest
import torch
from onnx import TensorProto as T
from onnx import helper

from probes.model.values import Tensor, from_numpy, numpy_dtype
from probes.run.adapter import HarnessError, Refused
from probes.run.outcome import Placement, Stage
from tests.probes.run.make import make_model, tensor

MODULE = "probes.run.adapters.torch_cuda"


class Module(torch.nn.Module):
    """What a graph module is to the adapter: a forward that returns the values of nodes."""

    def __init__(self, forward):
        super().__init__()
        self.answer = forward

    def forward(self, *inputs):
        assert not self.training
        return self.answer(*inputs)


@pytest.fixture
def converts(monkeypatch):
    """`converts.to(forward)` decides what onnx2torch makes of the next model."""
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    fake = ModuleType("onnx2torch")
    fake.to = lambda forward: setattr(fake, "convert", lambda proto: Module(forward))
    fake.to(torch.relu)
    monkeypatch.setitem(sys.modules, "onnx2torch", fake)
    for name in ("torchvision", "torchvision.ops"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    yield fake
    sys.modules.pop(MODULE, None)


def make_adapter(**config):
    return importlib.import_module(MODULE).adapter({"threads": 1, "device": "cpu", **config})


def unary(op, dtype, shape, outputs=1):
    return make_model(op, inputs=[(dtype, shape)], outputs=[(dtype, shape)] * outputs)


def answer(model, inputs, **config):
    stages = []
    session = make_adapter(**config).load(model, inputs, stages.append)
    assert stages == [Stage.CONVERT, Stage.LOAD]
    assert session.placement is Placement.ACCELERATOR
    session.feed(inputs)
    return session.outputs(session.run())


@pytest.mark.parametrize("shape", [[], [0], [2, 3]])
@pytest.mark.parametrize(
    "number",
    [T.FLOAT, T.DOUBLE, T.FLOAT16, T.BFLOAT16, T.BOOL, T.INT64, T.UINT16, T.COMPLEX64,
     T.FLOAT8E4M3FN, T.FLOAT8E5M2],
)  # fmt: skip
def test_tensors_cross_as_bits(converts, number, shape):
    converts.to(lambda x: x)
    value = from_numpy(np.ones(shape, numpy_dtype(number)), number)
    assert answer(unary("Identity", number, shape), [value]) == [value]


def test_another_layout_in_memory_comes_back_in_order(converts):
    converts.to(lambda x: x.T)
    model = unary("Transpose", T.FLOAT, [2, 2])
    assert answer(model, [tensor([[1, 2], [3, 4]])]) == [tensor([[1, 3], [2, 4]])]


def test_several_outputs_of_one_node(converts):
    converts.to(lambda x: (x, -x))
    model = unary("Split", T.FLOAT, [1], outputs=2)
    assert answer(model, [tensor([1])]) == [tensor([1]), tensor([-1])]


def graph_of_two(*outputs):
    """Split gives a and b, then Neg gives c; the graph gives `outputs`."""
    nodes = [helper.make_node("Split", ["x"], ["a", "b"]), helper.make_node("Neg", ["a"], ["c"])]
    infos = {name: helper.make_tensor_value_info(name, T.FLOAT, [1]) for name in "xabc"}
    graph = helper.make_graph(nodes, "g", [infos["x"]], [infos[name] for name in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize(
    ("outputs", "returned"),
    [
        ("cb", lambda a, b, c: [c, (a, b)]),  # nodes in the order of the first output of each
        ("bca", lambda a, b, c: [(a, b), c]),
        ("b", lambda a, b, c: (a, b)),  # the whole node, of which the second part is asked
        ("c", lambda a, b, c: c),
    ],
)
def test_the_outputs_that_the_graph_asks_are_found_among_what_nodes_return(
    converts, outputs, returned
):
    converts.to(lambda x: returned(x, x + 1, x + 2))
    numbers = {"a": tensor([1]), "b": tensor([2]), "c": tensor([3])}
    model = graph_of_two(*outputs).SerializeToString()
    assert answer(model, [tensor([1])]) == [numbers[name] for name in outputs]


def test_an_output_that_the_converter_drops_is_its_refusal(converts):
    converts.to(lambda x: x)
    with pytest.raises(Refused, match="output 1 is asked for") as refused:
        answer(unary("LayerNormalization", T.FLOAT, [1], outputs=2), [tensor([1])])
    assert refused.value.stage is Stage.CONVERT


def test_a_sequence_comes_back_as_one(converts):
    converts.to(lambda x: ([x, -x], x))
    model = unary("Split", T.FLOAT, [1], outputs=2)
    assert answer(model, [tensor([1])]) == [[tensor([1]), tensor([-1])], tensor([1])]


@pytest.mark.parametrize("error", [NotImplementedError, KeyError, AttributeError])
def test_what_cannot_be_converted_is_refused(converts, error):
    def convert(proto):
        raise error("Converter is not implemented (operation_type='Foo')")

    converts.convert = convert
    with pytest.raises(Refused, match=f"^{error.__name__}: .*not implemented") as refused:
        answer(unary("Foo", T.FLOAT, [1]), [tensor([1])])
    assert refused.value.stage is Stage.CONVERT


def test_a_file_that_is_no_model_is_refused(converts):
    with pytest.raises(Refused):
        answer(b"no model", [])


@pytest.mark.parametrize("value", [[], None, from_numpy(np.array(["a"], object))])
def test_what_has_no_tensor_is_our_fault(converts, value):
    with pytest.raises(HarnessError):
        answer(unary("Identity", T.STRING, [1]), [value])


def test_an_output_that_is_no_tensor_is_our_fault(converts):
    converts.to(lambda x: 3)
    with pytest.raises(HarnessError, match="int"):
        answer(unary("Identity", T.FLOAT, [1]), [tensor([1])])


def test_an_operator_that_fails_while_running_is_an_error_of_the_run(converts):
    converts.to(lambda x: torch.add(x, torch.ones(3)))
    session = make_adapter().load(unary("Add", T.FLOAT, [2]), (), lambda _: None)
    session.feed([tensor([1, 2])])
    with pytest.raises(RuntimeError, match="must match the size"):
        session.run()


def test_without_a_gpu_the_runtime_is_unavailable(converts, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ImportError, match="no CUDA device"):
        make_adapter(device="cuda")


def test_what_is_recorded_on_a_gpu(converts, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (8, 6))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA A10")
    adapter = make_adapter(device="cuda")
    facts, told = adapter.facts(), adapter.capabilities()
    assert (facts["gpu"], facts["compute_capability"]) == ("NVIDIA A10", "8.6")
    assert (told.evidence, told.intended_unit, told.latency_meaningful) == ("measured", "gpu", True)
    assert adapter.version == torch.__version__


@pytest.fixture
def rounding():
    """The two libraries that may round, left as they were."""
    libraries = (torch.backends.cuda.matmul, torch.backends.cudnn)
    before = [library.allow_tf32 for library in libraries]
    yield libraries
    for library, allowed in zip(libraries, before, strict=True):
        library.allow_tf32 = allowed


@pytest.mark.parametrize(("precision", "tf32"), [("fp32", False), ("tf32", True)])
def test_tf32_is_off_unless_it_is_asked(converts, rounding, precision, tf32):
    for library in rounding:
        library.allow_tf32 = not tf32
    adapter = make_adapter(precision=precision)
    facts = adapter.facts()
    assert (facts["torch_tf32_matmul"], facts["torch_tf32_cudnn"]) == (tf32, tf32)
    assert adapter.capabilities().arithmetic == ("float16" if tf32 else "")


def gpu_session(forward):
    """A session on a GPU that is not there: fed on the CPU."""
    module = importlib.import_module(MODULE)
    session = module.TorchSession(Module(forward).eval(), "cuda", [(0, 0)])
    session.inputs = [torch.ones(1)]
    return session


def test_a_run_ends_when_the_gpu_is_done(converts, monkeypatch):
    done = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: done.append(True))
    session = gpu_session(torch.neg)
    assert session.outputs(session.run()) == [tensor([-1])]
    assert done == [True]


def fails_with(text):
    def forward(x):
        raise RuntimeError(text)

    return forward


def test_a_lost_context_ends_the_process_and_full_memory_is_named(converts, monkeypatch):
    aborted = []
    monkeypatch.setattr(os, "abort", lambda: aborted.append(True))
    with pytest.raises(RuntimeError):
        gpu_session(fails_with("CUDA error: an illegal memory access was encountered")).run()
    assert aborted == [True]
    with pytest.raises(MemoryError):
        gpu_session(fails_with("CUDA out of memory. Tried to allocate 2 GiB")).run()


def test_without_torchvision_two_operators_cannot_be_asked_and_the_others_can(
    converts, monkeypatch
):
    monkeypatch.setitem(sys.modules, "torchvision", None)
    converts.to(lambda x: sys.modules["torchvision"].ops.nms(x, x, 0.5))
    session = make_adapter().load(unary("NonMaxSuppression", T.FLOAT, [1]), (), lambda _: None)
    session.feed([tensor([1])])
    with pytest.raises(HarnessError, match="no torchvision"):
        session.run()
    converts.to(torch.relu)
    assert answer(unary("Relu", T.FLOAT, [1]), [tensor([-1])]) == [Tensor(1, (1,), bytes(4))]
