"""The figures of an operator's cases, and the command that prints them."""

from pathlib import Path

import pytest

from probes.cases.figures import Line, figures_of, text_of
from probes.cases.variants.pairwise import Coverage
from probes.cli.cases import all_figures, main

FOLDER = Path(__file__).parents[3] / "fixtures" / "cases"


def line(name, *, since=13, origin="variant", word="both", dtype="float", shape=(2, 3), **attrs):
    inputs = [{"dtype": dtype, "shape": list(shape), "const": False}]
    return Line(name, "ai.onnx", "Softmax", since, origin, word, {"inputs": inputs, "attrs": attrs})


def test_figures_count_and_name_what_is_left_out():
    lines = [
        line("a", axis=-1),
        line("b", since=11, dtype="double", shape=(2, 3, "n"), axis=1, word="one"),
        line("c", origin="node-expanded", dtype="float16"),
    ]
    found = figures_of(lines, Coverage(7, 9))
    assert found.origins == {"node-expanded": 1, "variant": 2}
    assert found.since == [11, 13]
    assert found.dtypes == ["double", "float"]
    assert found.ranks == [2, 3]
    assert found.attributes == {"axis": ["-1", "1"]}
    assert found.dynamic
    assert found.oracles == {"both": 1, "one": 1}
    assert found.left_out == (
        "versions: 1",
        "types: bfloat16, float16",
        "pairs of values never together: 2",
    )
    assert "pairs of the variants' values: 7 of 9" in text_of(found)


def test_an_operator_without_a_schema_leaves_out_nothing_that_is_known():
    found = figures_of([line("a")._replace(domain="pattern", op="ConvReluPattern")])
    assert found.left_out == ()


def test_the_command_prints_one_operator(capsys):
    assert main(["--stats", "--operator", "GridSample", "--folder", str(FOLDER)]) == 0
    printed = capsys.readouterr().out
    assert "ai.onnx.GridSample" in printed
    assert 'padding_mode: "border", "reflection", "zeros"' in printed
    assert "left out:" in printed
    assert main(["--operator", "NoSuchOperator", "--folder", str(FOLDER)]) == 1


@pytest.mark.parametrize("operator", ["Resize", "MaxPool", "Softmax"])
def test_variants_have_most_pairs_of_values(operator):
    (figures,) = (f for f in all_figures(FOLDER, operator) if f.domain == "ai.onnx")
    assert figures.origins["variant"] >= 40
    assert 0.4 < figures.pairs.covered / figures.pairs.possible <= 1
