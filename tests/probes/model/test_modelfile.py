import io
import pickle
import resource
import time
import zipfile
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from probes.model.modelfile import read_structure, rebuild_stripped
from probes.model.refusals import LIMITS, ModelFileError
from tests.probes.model.make_models import FLOAT, make_model, relu, save


def zipped(name):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, b"x")
    return buffer.getvalue()


FOREIGN = [
    (b"\x89PNG\r\n\x1a\n" + bytes(50), "PNG"),
    (b"\x1c\0\0\0TFL3" + bytes(50), "TensorFlow Lite"),
    (b"\x40\0\0\0\0\0\0\0" + b'{"w":{"dtype":"F32"}}' + bytes(99), "safetensors"),
    (zipped("archive/data.pkl"), "PyTorch"),
    (zipped("model.onnx"), "zip archive"),
    (pickle.dumps({"a": 1}), "pickle"),
    (b"import torch\nprint('hello')\n", "a text file"),
    (b"<!DOCTYPE html><html>Sign in</html>", "HTML"),
    (b'<?xml version="1.0"?><net></net>', "OpenVINO"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "Git LFS"),
    (b"\x1f\x8b\x08" + bytes(20), "gzip"),
    (b"GGUF" + bytes(20), "GGUF"),
]


@pytest.mark.parametrize(("data", "word"), FOREIGN)
def test_a_file_of_another_kind_is_named(tmp_path, data, word):
    with pytest.raises(ModelFileError) as caught:
        read_structure(save(data, tmp_path / "model.onnx"))
    assert caught.value.code == "not_onnx"
    assert word in caught.value.sentence


def refused(tmp_path, model, **limits):
    with pytest.raises(ModelFileError) as caught:
        read_structure(save(model, tmp_path / "m.onnx"), limits=replace(LIMITS, **limits))
    return caught.value


def test_a_missing_file_and_a_folder_are_unreadable(tmp_path):
    for path in (tmp_path / "none.onnx", tmp_path):
        with pytest.raises(ModelFileError) as caught:
            read_structure(path)
        assert caught.value.code == "unreadable"


def test_bytes_without_a_graph_are_no_model(tmp_path):
    assert refused(tmp_path, onnx.ModelProto(ir_version=8)).code == "not_a_model"


BROKEN = [
    ([relu("a", "b"), relu("b", "a"), relu("b", "y")], "cycle"),
    ([relu("a", "y"), relu("x", "a")], "unsorted"),
    ([relu("nowhere", "y")], "missing_input"),
    ([relu("x", "y"), relu("x", "y")], "duplicate_output"),
    ([relu("x", "z")], "missing_output"),
    ([helper.make_node("Einsum", ["x", "x"], ["y"], equation="..,...->..")], "bad_equation"),
]


@pytest.mark.parametrize(("nodes", "problem"), BROKEN)
def test_a_graph_that_no_runtime_can_run_is_refused(tmp_path, nodes, problem):
    error = refused(tmp_path, make_model(nodes))
    assert error.code == "invalid"
    assert error.params["codes"] == [problem]


def test_a_subgraph_may_read_outer_names_only_if_they_exist_by_then(tmp_path):
    def branches(name):
        empty = [helper.make_empty_tensor_value_info("b")]
        return {
            key: helper.make_graph([relu(name, "b")], key, [], empty)
            for key in ("then_branch", "else_branch")
        }

    inputs = [("c", TensorProto.BOOL, []), ("x", FLOAT, [2])]
    good = make_model([helper.make_node("If", ["c"], ["y"], **branches("x"))], inputs)
    read_structure(save(good, tmp_path / "good.onnx"))
    bad = make_model([helper.make_node("If", ["c"], ["y"], **branches("ghost"))], inputs)
    assert "'ghost'" in refused(tmp_path, bad).sentence


@pytest.mark.parametrize(
    ("limits", "word"),
    [
        ({"nodes": 2}, "2 nodes"),
        ({"fields": 10}, "protobuf fields"),
        ({"depth": 3}, "nests deeper"),
        ({"name_bytes": 2}, "name"),
        ({"kept_bytes": 20}, "bytes beside the weights"),
        ({"tensors": 1}, "tensors"),
        ({"file_bytes": 10}, "bytes"),
    ],
)
def test_each_limit_has_its_sentence(tmp_path, limits, word):
    nodes = [relu("x", "a"), relu("a", "b"), relu("b", "y")]
    assert word in refused(tmp_path, make_model(nodes), **limits).sentence


def test_a_model_without_operator_sets_is_refused(tmp_path):
    assert refused(tmp_path, make_model([relu()], opset=None)).code == "no_opset"


def test_names_that_are_no_text_are_refused(tmp_path):
    data = make_model([relu(name="oddname")]).SerializeToString()
    assert refused(tmp_path, data.replace(b"oddname", b"odd\xff\xfe\xfd\xfc")).code == "bad_name"


TYPED = [
    ("float", np.ones((3, 50), np.float32)),
    ("int32", np.full((3, 50), -7, np.int32)),
    ("float16", np.ones((3, 50), np.float16)),
    ("uint64", np.full((3, 50), 2**60, np.uint64)),
    ("double", np.ones((3, 50))),
    ("bool", np.ones((3, 50), bool)),
    ("complex64", np.ones((3, 50), np.complex64)),
    ("int64", np.full((3, 50), -(2**40), np.int64)),
]


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize(("dtype", "array"), TYPED)
def test_a_sound_payload_passes_and_a_short_one_does_not(tmp_path, dtype, array, raw):
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    values = array.tobytes() if raw else array.ravel().tolist()
    tensor = helper.make_tensor("w", kind, array.shape, values, raw=raw)
    model = make_model([relu()], initializers=[tensor])
    read_structure(save(model, tmp_path / "m.onnx"))
    model.graph.initializer[0].dims[0] = 4
    assert refused(tmp_path, model).params["codes"] == ["payload_size"]


def test_packed_four_bit_weights_are_counted(tmp_path):
    for raw, values in ((False, [1, 2, 3]), (True, b"\x21\x03")):
        tensor = helper.make_tensor("w", TensorProto.INT4, [3], values, raw=raw)
        read_structure(save(make_model([relu()], initializers=[tensor]), tmp_path / "m.onnx"))


def test_weights_stay_out_and_shapes_stay_in(tmp_path):
    weight = numpy_helper.from_array(np.full((64, 64), 0.123, np.float32), "w")
    target = numpy_helper.from_array(np.array([3, 2]), "shape")
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
        helper.make_node("Constant", [], ["c"], value=weight),
    ]
    model = make_model(nodes, initializers=[weight, target])
    structure = read_structure(save(model, tmp_path / "m.onnx"))
    stripped = rebuild_stripped(structure)
    assert len(stripped) < 400
    assert weight.raw_data[:8] not in stripped
    assert target.raw_data in stripped
    assert (structure.initializers, structure.initializer_bytes) == (2, 64 * 64 * 4 + 16)
    assert structure.weight_bytes == 2 * 64 * 64 * 4 + 16


def test_no_path_in_the_file_is_ever_opened(tmp_path, monkeypatch):
    secret = tmp_path / "secret.bin"
    secret.write_bytes(bytes(64))
    tensor = TensorProto(name="w", data_type=FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=str(secret))
    model = make_model(
        [helper.make_node("Constant", [], ["y"], value=tensor)],
    )
    assert refused(tmp_path, model).code == "external_data"


def test_a_large_model_is_read_without_its_weights(tmp_path):
    path = tmp_path / "large.onnx"
    weights = [
        TensorProto(name=f"w{at}", data_type=FLOAT, dims=[4, 1 << 20], raw_data=bytes(1 << 24))
        for at in range(6)
    ]
    names = ["x", *(f"a{at}" for at in range(5)), "y"]
    nodes = [helper.make_node("Add", [names[at], f"w{at}"], [names[at + 1]]) for at in range(6)]
    save(make_model(nodes, [("x", FLOAT, [4, 1 << 20])], initializers=weights), path)
    del weights
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    structure = read_structure(path, sha256="0" * 64)
    assert time.monotonic() - started < 1
    assert structure.weight_bytes == 6 << 24
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes
