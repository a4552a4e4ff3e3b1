"""`python -m probes harvest`: the pack, the list beside it, and what is told of hostile files."""

import csv
from pathlib import Path

import pytest

from probes.cases.catalogue import read_pack
from probes.cli.main import main
from probes.model.facts import make_facts
from probes.run.harvest import harvest
from tests.make import make_model

DATA = Path("tests/data")
HOSTILE = sorted((DATA / "hostile").glob("*.onnx"))
VALID = {"H10", "H13", "H15", "H17", "H19", "H28"}


@pytest.fixture
def model(tmp_path):
    def write(*ops, name="secret_net.onnx"):
        path = tmp_path / name
        path.write_bytes(make_model(*ops, name="secret"))
        return path

    return write


@pytest.fixture
def run(tmp_path, capsys):
    def call(*arguments):
        out = tmp_path / "found.pack.xz"
        code = main(["harvest", *map(str, arguments), "--out", str(out)])
        return code, capsys.readouterr().out, out

    return call


def counts(out):
    with out.with_name("found.csv").open(newline="") as file:
        return [(row["case"].split("/")[1], int(row["count"])) for row in csv.DictReader(file)]


def test_nodes_are_counted_in_each_model_and_become_one_case(run, model):
    code, told, out = run(model("Relu", "Exp", "Relu"), model("Relu", name="other.onnx"))
    assert code == 0
    cases = {case.op_type: case for case in read_pack(out)}
    assert sorted(counts(out)) == [("Exp", 1), ("Relu", 1), ("Relu", 2)]
    assert "2 cases of 4 nodes in 2 models" in told
    assert {case.oracles_agree for case in cases.values()} == {"both"}
    assert cases["Relu"].name.startswith("harvest/Relu/")
    assert cases["Relu"].expected[0].dims == (2, 3)


def test_names_are_listed_only_on_request(run, model):
    path = model("Relu")
    _, told, out = run(path)
    assert "secret" not in told + out.with_name("found.csv").read_text()
    run(path, "--names")
    assert path.as_posix() in out.with_name("found.csv").read_text()


def test_the_most_frequent_come_first_and_others_may_come_uncounted(run, model):
    also = model("Tanh", name="also.onnx")
    _, _, out = run(model("Exp", "Relu", "Relu"), "--limit", 1, "--also", also)
    assert [case.op_type for case in read_pack(out)] == ["Relu", "Tanh"]
    assert counts(out) == [("Relu", 2)]


def test_a_node_that_no_oracle_runs_is_left_out_and_told(run, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(make_model("Relu", "NoSuchOperator"))
    _, told, out = run(path)
    assert [case.op_type for case in read_pack(out)] == ["Relu"]
    assert "left out" in told


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path.stem)
def test_a_hostile_file_ends_in_a_sentence_or_in_its_nodes(path):
    found = harvest({"m": path})
    if path.stem[:3] in VALID:
        keys = make_facts(path)["signatures"]
        assert not found.refused
        assert len(found.cuts) <= len(keys)
    else:
        assert found.refused["m"].endswith(".")
        assert not found.cuts


@pytest.mark.parametrize(
    ("arguments", "word"),
    [(["no.onnx", "--out", "a.pack.xz"], "no file"), (["no.onnx", "--out", "a.zip"], ".pack.xz")],
)
def test_a_wrong_call_is_a_sentence(arguments, word, capsys):
    assert main(["harvest", *arguments]) == 1
    assert word in capsys.readouterr().err


def test_nothing_is_written_where_nothing_was_cut(run, tmp_path):
    path = tmp_path / "empty.onnx"
    path.write_bytes(b"")
    code, told, out = run(path)
    assert code == 1
    assert "not read. The file is empty" in told
    assert not out.exists()
