"""Where an engine's layers are, from texts; what CUDA's library says when it says no."""

import pytest

from probes.run.cuda import NAMES, Cuda, CudaError, load_library
from probes.run.outcome import Placement
from probes.run.trt_placement import describe, inspected_layers, logged_layers, place
from tests.probes.run.fake_jetson import FakeCudart, read


def test_inspector_output_without_detail_still_names_the_layers():
    layers = inspected_layers(read("names.json"))
    assert dict(layers) == {("Conv_0", "GPU"): 1}
    assert place(layers, "GPU") is Placement.ACCELERATOR
    assert place(layers, "DLA") is Placement.FALLBACK
    assert inspected_layers("{}") == {}


def test_a_log_without_placement_and_older_spellings():
    assert logged_layers(["Engine generation completed"]) == {}
    assert logged_layers(["[DlaLayer] {ForeignNode[(Unnamed Layer* 0) [ElementWise]]},"]) == {
        ("(Unnamed Layer* 0) [ElementWise]", "DLA"): 1
    }
    assert logged_layers(["[GpuLayer] Conv_0"]) == {("Conv_0", "GPU"): 1}
    assert describe(logged_layers(["[GpuLayer] Conv_0"]), ["a warning"]) == "Conv_0:GPU"


def test_an_error_of_cuda_names_the_call():
    library = FakeCudart()
    library.failing["cudaFree"] = 1
    with pytest.raises(CudaError, match=r"cudaFree: an error \(1\)"):
        Cuda(library).free(1)


def test_the_library_is_looked_for_by_every_name(monkeypatch):
    tried = []

    def load(name):
        tried.append(name)
        if name == NAMES[1]:
            return "library"
        raise OSError(name)

    monkeypatch.setattr("ctypes.CDLL", load)
    assert load_library() == "library"
    assert tried == list(NAMES[:2])
    monkeypatch.setattr("probes.run.cuda.NAMES", ("nothing.so",))
    with pytest.raises(ImportError, match=r"not here: nothing\.so"):
        load_library()
