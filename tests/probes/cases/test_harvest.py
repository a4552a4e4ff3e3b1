"""Nodes of real models as cases: the same node to a judge, and nothing of the model's own in it."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from probes.cases.build_patterns import build_patterns
from probes.cases.cuts import cuts_of
from probes.cases.draws import Feed, draw
from probes.cases.harvest import case_of
from probes.cases.motifs import motifs
from probes.model.facts import make_facts
from probes.model.signature import signature_key
from probes.model.values import to_numpy
from tests.probes.model.make_models import FLOAT, make_model, save

DATA = Path(__file__).parents[2] / "data"
REAL = sorted((DATA / "models" / "real").glob("*.onnx"))
SECRET = np.float32(1234.5678)  # in every weight of the private model


def private_model(tmp_path, **more):
    """A convolution, a table look-up and a reshape whose weights, biases and names are private."""
    weights = [
        numpy_helper.from_array(np.full((4, 3, 3, 3), SECRET), "secret_w"),
        numpy_helper.from_array(np.full(4, SECRET), "secret_b"),
        numpy_helper.from_array(np.array([1, 4, 36], np.int64), "shape"),
        numpy_helper.from_array(np.full((5, 100), SECRET), "table"),
    ]
    nodes = [
        helper.make_node("Conv", ["x", "secret_w", "secret_b"], ["c"], name="secret_conv",
                         pads=[1, 1, 1, 1], doc_string="secret note"),
        helper.make_node("Reshape", ["c", "shape"], ["secret_out"]),
        helper.make_node("Gather", ["table", "ids"], ["rows"], axis=1),
    ]  # fmt: skip
    inputs = (("x", FLOAT, [1, 3, 6, 6]), ("ids", TensorProto.INT64, [2, 7]))
    model = make_model(nodes, inputs, ("secret_out", "rows"), weights, **more)
    return save(model, tmp_path / "secret_model.onnx")


def cases_of(path, **options):
    return {cut["signature"]["op"]: case_of(cut) for cut in cuts_of(path, **options)["cuts"]}


def held(case):
    return {
        one.name: numpy_helper.to_array(one)
        for one in onnx.load_from_string(case.model).graph.initializer
    }


def test_no_weight_no_bias_and_no_name_of_the_model_is_kept(tmp_path):
    cases = cases_of(private_model(tmp_path))
    assert sorted(cases) == ["Conv", "Gather", "Reshape"]
    for case in cases.values():
        assert b"secret" not in case.model
        assert SECRET.tobytes() not in case.model
    assert held(cases["Conv"])["x1"].shape == (4, 3, 3, 3)
    assert len(np.unique(held(cases["Conv"])["x2"])) > 1


def test_what_shapes_a_node_is_kept(tmp_path):
    cases = cases_of(private_model(tmp_path))
    assert held(cases["Reshape"])["x1"].tolist() == [1, 4, 36]
    attributes = onnx.load_from_string(cases["Conv"].model).graph.node[0].attribute
    assert list(attributes[0].ints) == [1, 1, 1, 1]


def test_indices_are_in_range(tmp_path):
    (ids,) = cases_of(private_model(tmp_path))["Gather"].inputs
    assert 0 <= to_numpy(ids).min() <= to_numpy(ids).max() < 100


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_each_case_is_the_very_node_of_the_report(path):
    keys = {signature_key(each) for each in make_facts(path)["signatures"]}
    cases = [case_of(cut) for cut in cuts_of(str(path))["cuts"]]
    assert len(cases) > 10
    nodes = [case for case in cases if case.signature]
    assert {signature_key(case.signature) for case in nodes} <= keys
    assert {case.domain for case in cases if case not in nodes} <= {"pattern"}
    assert not any(case.core for case in cases)


def test_the_same_model_gives_the_same_ids(tmp_path):
    path = private_model(tmp_path)
    first, second = cases_of(path), cases_of(path)
    assert {op: case.id for op, case in first.items()} == {
        op: case.id for op, case in second.items()
    }


def test_an_open_dimension_stays_open_and_is_fed_some_size(tmp_path):
    model = make_model(
        [helper.make_node("Add", ["x", "y"], ["z"])],
        (("x", FLOAT, ["n", 3, "h"]), ("y", FLOAT, ["n", 1, "h"])),
        ("z",),
    )
    case = cases_of(save(model, tmp_path / "m.onnx"), size=8)["Add"]
    assert [value.dims for value in case.inputs] == [(1, 3, 8), (1, 1, 8)]
    assert [one["shape"] for one in case.signature["inputs"]] == [[None, 3, None], [None, 1, None]]


def scattered(op, data, indices, axis=0):
    attrs = {"axis": axis}
    feed = Feed(op, 1, "int64", indices, False, attrs, (data, indices, None), (None,))
    return draw(feed, "seed")


def test_no_place_is_written_twice():
    drawn = scattered("ScatterND", (4, 5, 2), (6, 2))
    assert len({tuple(row) for row in drawn.tolist()}) == 6
    assert (drawn >= 0).all() and (drawn < [4, 5]).all()  # noqa: PT018
    along = scattered("ScatterElements", (3, 9), (3, 4), axis=1)
    assert all(len(set(row)) == 4 and max(row) < 9 for row in along.tolist())


def test_a_sequence_is_fed_tensors_that_can_join_it():
    path = DATA / "repro" / "C55_sequence_ops.onnx"
    cases = cases_of(path)
    assert [len(value) for value in cases["SequenceAt"].inputs] == [3]
    sequence, tensor = cases["SequenceInsert"].inputs
    assert {value.dims for value in sequence} == {tensor.dims}


def left(tmp_path, nodes, inputs=(("x", FLOAT, [2, 3]),), outputs=("y",), **more):
    model = make_model(nodes, inputs, outputs, **more)
    return cuts_of(save(model, tmp_path / "m.onnx"))["left"]


def test_what_was_learnt_in_attributes_is_left_out(tmp_path):
    node = helper.make_node(
        "Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=[1.5] * 3, scale=[2.5] * 3
    )
    assert left(tmp_path, [node], domains=("ai.onnx.ml",)) == {"its attributes hold weights": 1}


def test_large_nodes_and_unknown_types_are_left_out(tmp_path):
    huge = left(tmp_path, [helper.make_node("Relu", ["x"], ["y"])], (("x", FLOAT, [2000, 1000]),))
    assert huge == {"its tensors have more than 4,000,000 bytes": 1}
    text = (("x", TensorProto.STRING, [2]),)
    assert left(tmp_path, [helper.make_node("Identity", ["x"], ["y"])], text) == {
        "values of type string are not drawn": 1
    }


def test_a_dimension_of_the_largest_number_draws_nothing(tmp_path):
    inputs = (("x", FLOAT, [2**62, 2**62]),)
    assert sum(left(tmp_path, [helper.make_node("Relu", ["x"], ["y"])], inputs).values()) == 1


def silu(tmp_path, *, reused=False):
    """Conv and SiLU with the factors of Mul the other way round than the pattern's table has."""
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"]),
        helper.make_node("Sigmoid", ["c"], ["gate"]),
        helper.make_node("Mul", ["gate", "c"], ["y"]),
        helper.make_node("Relu", ["gate" if reused else "x"], ["z"]),
    ]
    weights = [numpy_helper.from_array(np.full((4, 3, 1, 1), SECRET), "w")]
    weights += [numpy_helper.from_array(np.full(4, SECRET), "b")]
    model = make_model(nodes, (("x", FLOAT, [1, 3, 5, 5]),), ("y", "z"), weights)
    return {
        case.op_type: case
        for case in map(case_of, cuts_of(save(model, tmp_path / "m.onnx"))["cuts"])
        if case.domain == "pattern"
    }


def test_a_known_pattern_is_a_case_of_its_own_row(tmp_path):
    case = silu(tmp_path)["Conv-SiLU"]
    assert case.name.startswith("harvest/Conv-SiLU/")
    assert [op for _, op in case.operators] == ["Conv", "Mul", "Sigmoid"]
    assert (case.signature, case.core) == ({}, False)
    assert SECRET.tobytes() not in case.model
    onnx.checker.check_model(onnx.load_from_string(case.model), full_check=True)


def test_what_others_use_from_inside_is_no_pattern(tmp_path):
    assert silu(tmp_path, reused=True) == {}


def test_every_pattern_is_found_in_its_own_graph(tmp_path):
    single = {motif.name for motif in motifs()}
    assert len(single) > 12
    for row in build_patterns():
        if row.op_type in single:
            path = tmp_path / "pattern.onnx"
            path.write_bytes(row.model)
            names = {cut["signature"]["op"] for cut in cuts_of(path)["cuts"]}
            assert row.op_type in names, row.name
