import hashlib
import json
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from probes.model.facts import make_facts, without_names
from probes.model.refusals import ModelFileError
from probes.model.signature import node_signatures, signature_key
from tests.probes.model.make_models import FLOAT, make_model, relu, save

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
MODELS = Path(__file__).parents[2] / "data" / "models"


def test_the_facts_document_of_a_small_model(tmp_path):
    weight = numpy_helper.from_array(np.full((3, 100), 0.123, np.float32), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], name="mm"), relu("h", "y", name="act")]
    model = make_model(nodes, initializers=[weight], producer_name="maker", ir_version=8)
    path = save(model, tmp_path / "m.onnx")
    facts = make_facts(path)
    assert facts["model"] == {
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "bytes": path.stat().st_size,
        "ir_version": 8,
        "opsets": {"ai.onnx": 17},
        "producer": "maker",
        "functions": 0,
        "inferred": True,
    }
    assert facts["nodes"][0] == {
        "id": 0,
        "name": "mm",
        "op": "MatMul",
        "domain": "ai.onnx",
        "sig": 0,
        "inputs": [0, 1],
        "outputs": [2],
        "path": "",
        "folds": False,
    }
    assert facts["tensors"] == {
        "names": ["x", "w", "h", "y"],
        "dtypes": ["float"] * 4,
        "shapes": [[2, 3], [3, 100], [2, 100], [2, 100]],
        "constant": [1],
    }
    assert facts["inputs"] == [{"name": "x", "dtype": "float", "shape": [2, 3], "tensor": 0}]
    assert facts["outputs"] == [{"name": "y", "dtype": "float", "shape": [2, 100], "tensor": 3}]
    assert facts["initializers"] == {"count": 1, "bytes": 1200, "weight_bytes": 1200}
    assert facts["warnings"] == []


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.stem)
def test_a_file_and_its_model_have_the_same_signatures(path):
    facts = make_facts(path)
    from_file = [signature_key(facts["signatures"][node["sig"]]) for node in facts["nodes"]]
    from_model = [signature_key(one.signature) for one in node_signatures(onnx.load(path))]
    assert from_file == from_model


COUNTS = {
    "light_resnet50": {"Conv": 53, "Relu": 49, "ConstantOfShape": 239},
    "light_squeezenet": {"Conv": 26, "Concat": 8, "Dropout": 1},
}


@pytest.mark.parametrize(("name", "counts"), COUNTS.items())
def test_a_whole_network_is_known_node_by_node(name, counts):
    facts = make_facts(LIGHT / f"{name}.onnx")
    found = Counter(node["op"] for node in facts["nodes"])
    assert {op: found[op] for op in counts} == counts
    assert sum(dtype == "unknown" for dtype in facts["tensors"]["dtypes"]) <= 1
    convolutions = [one for one in facts["signatures"] if one["op"] == "Conv"]
    assert all(one["inputs"][1]["const"] for one in convolutions)
    assert all(None not in one["outputs"][0]["shape"] for one in convolutions)


def test_the_facts_hold_no_weights_and_can_do_without_names(tmp_path):
    weight = numpy_helper.from_array(np.array([0.4242, 0.1717], np.float32), "secretweight")
    node = helper.make_node("Mul", ["x", "secretweight"], ["y"], name="secretnode")
    path = save(make_model([node], [("x", FLOAT, [3, 2])], initializers=[weight]), tmp_path / "m")
    facts = make_facts(path)
    assert "0.4242" not in json.dumps(facts)
    bare = json.dumps(without_names(facts))
    assert "secret" not in bare
    assert without_names(facts)["signatures"] == facts["signatures"]


def test_custom_operators_keep_their_declared_types(tmp_path):
    nodes = [helper.make_node("Odd", ["x"], ["h"], domain="acme"), relu("h", "y")]
    model = make_model(nodes, domains=["acme"])
    model.graph.value_info.append(helper.make_tensor_value_info("h", FLOAT, [7]))
    facts = make_facts(save(model, tmp_path / "m.onnx"))
    assert facts["outputs"][0]["shape"] == [7]
    assert facts["nodes"][0]["domain"] == "acme"


def test_a_domain_that_is_not_imported_is_named(tmp_path):
    nodes = [helper.make_node("Odd", ["x"], ["y"], domain="acme")]
    facts = make_facts(save(make_model(nodes), tmp_path / "m.onnx"))
    assert {"code": "domain_not_imported", "params": {"domain": "acme"}} in facts["warnings"]
    assert {"code": "unknown_types", "params": {"count": 1}} in facts["warnings"]


def test_a_run_time_shape_still_tells_the_rank(tmp_path):
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["h"]),
        helper.make_node("Transpose", ["h"], ["y"], perm=[0, 2, 1]),
    ]
    inputs = [("x", FLOAT, [2, 3]), ("shape", TensorProto.INT64, [3])]
    facts = make_facts(save(make_model(nodes, inputs), tmp_path / "m.onnx"))
    assert facts["outputs"][0]["shape"] == [None, None, None]


WRONG_TYPES = [
    ([helper.make_node("Add", ["x", "i"], ["y"])], "must agree"),
    ([helper.make_node("Where", ["x", "x", "x"], ["y"])], "must agree"),
    ([helper.make_node("Concat", ["x", "i"], ["y"], axis=0)], "must agree"),
    ([helper.make_node("MatMul", ["x", "x"], ["y"])], "shape inference refuses"),
]


@pytest.mark.parametrize(("nodes", "words"), WRONG_TYPES)
def test_types_and_shapes_that_cannot_meet_are_refused(tmp_path, nodes, words):
    inputs = [("x", FLOAT, [2, 3]), ("i", TensorProto.INT64, [2, 3])]
    with pytest.raises(ModelFileError, match=words):
        make_facts(save(make_model(nodes, inputs), tmp_path / "m.onnx"))


def test_initializers_that_are_also_inputs_are_constants(tmp_path):
    weight = numpy_helper.from_array(np.ones((2, 3), np.float32), "w")
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    inputs = [("x", FLOAT, [2, 3]), ("w", FLOAT, [2, 3])]
    facts = make_facts(save(make_model(nodes, inputs, initializers=[weight]), tmp_path / "m"))
    assert [one["name"] for one in facts["inputs"]] == ["x"]
    assert facts["signatures"][0]["inputs"][1]["const"] is True


def test_an_operator_that_onnx_itself_cannot_expand_is_no_fault_of_the_model(tmp_path):
    node = helper.make_node("MeanVarianceNormalization", ["x"], ["y"])
    model = make_model([node], [("x", FLOAT, [1, 3, 4, 4])])
    facts = make_facts(save(model, tmp_path / "m.onnx"))
    assert facts["nodes"][0]["op"] == "MeanVarianceNormalization"


def test_an_error_inside_a_branch_is_the_models(tmp_path):
    empty = [helper.make_empty_tensor_value_info("b")]
    branches = {
        key: helper.make_graph([helper.make_node("MatMul", ["x", "x"], ["b"])], key, [], empty)
        for key in ("then_branch", "else_branch")
    }
    node = helper.make_node("If", ["c"], ["y"], **branches)
    inputs = [("c", TensorProto.BOOL, []), ("x", FLOAT, [2, 3])]
    with pytest.raises(ModelFileError, match="MatMul"):
        make_facts(save(make_model([node], inputs), tmp_path / "m.onnx"))


def test_more_different_uses_of_operators_than_are_judged_are_refused(tmp_path):
    def refusal(nodes):
        model = make_model(nodes, outputs=("y0",), domains=["own"])
        with pytest.raises(ModelFileError) as caught:
            make_facts(save(model, tmp_path / "m.onnx"))
        return caught.value

    leaky = [helper.make_node("LeakyRelu", ["x"], [f"y{at}"], alpha=at + 0.5) for at in range(2001)]
    assert refusal(leaky).code == "too_many"
    assert "more than 2000 different uses of operators" in refusal(leaky).sentence
    own = [helper.make_node(f"Op{at}", ["x"], [f"y{at}"], domain="own") for at in range(1001)]
    assert "more than 1000 different operators" in refusal(own).sentence


@pytest.mark.parametrize("domain", ["", "ai.onnx", "ai.onnx.ml", "own"])
@pytest.mark.parametrize("version", [2**63 - 1, 2**31, -(2**63)])
def test_an_operator_set_that_cannot_exist_is_refused_by_name(tmp_path, domain, version):
    model = make_model([relu("x", "y")])
    entry = next((one for one in model.opset_import if one.domain == domain), None)
    if entry is None:
        model.opset_import.add(domain=domain, version=version)
    else:
        entry.version = version
    with pytest.raises(ModelFileError) as caught:
        make_facts(save(model, tmp_path / "m.onnx"))
    assert caught.value.code == "bad_opset"
    assert str(version) in caught.value.sentence
