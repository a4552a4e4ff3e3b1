"""The variants: names and ids stay, graphs are sound, pairs are covered, answers are voted on."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest

from probes.cases.canonical import canonical_bytes
from probes.cases.case import case_id
from probes.cases.catalogue import read_pack
from probes.cases.variants.contents import contents
from probes.cases.variants.generate import all_variants
from probes.cases.variants.pairwise import Coverage, cover, coverage
from probes.cases.variants.vote import Answers, decide
from probes.model.values import Tensor, from_numpy

FOLDER = Path(__file__).parents[3] / "fixtures" / "cases"
PACK = FOLDER / "variants.pack.xz"
# What the public reports speak of most: the pack must keep asking it.
TELLING = (
    "Resize", "Conv", "ConvTranspose", "MaxPool", "AveragePool", "Softmax", "ReduceMean", "Gather",
    "ScatterND", "Slice", "Pad", "TopK", "LayerNormalization", "LSTM", "Einsum", "GridSample",
    "Cast", "Clip", "MatMul", "Gemm", "Add",
)  # fmt: skip


@pytest.fixture(scope="module")
def listed():
    with PACK.with_name("variants.csv").open(encoding="utf-8", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def packed():
    return {case.name: case for case in read_pack(PACK)}


def untyped(model):
    """The graph without its outputs' types: those come from the answers."""
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    for info in bare.graph.output:
        info.ClearField("type")
    return canonical_bytes(bare)


def test_the_list_beside_the_pack_names_what_is_in_it(listed, packed):
    assert {name: row["id"] for name, row in listed.items()} == {
        name: case.id for name, case in packed.items()
    }


def test_the_tables_still_give_the_cases_of_their_names(packed):
    """A changed row gets the next version: a name stands for one content for ever."""
    made = {variant.name: variant for variant in all_variants()}
    assert [name for name in packed if name not in made] == []
    changed = [
        name
        for name, case in packed.items()
        if made[name].inputs != case.inputs
        or untyped(made[name].model) != untyped(onnx.load_from_string(case.model))
    ]
    assert changed == []


def test_every_graph_passes_the_full_check_and_has_its_id(packed):
    wrong = []
    for case in packed.values():
        model = onnx.load_from_string(case.model)
        onnx.checker.check_model(model, full_check=True)
        declared = [info.type.tensor_type.elem_type for info in model.graph.output]
        given = [value.dtype if isinstance(value, Tensor) else 0 for value in case.expected]
        alike = all(a == b for a, b in zip(declared, given, strict=True) if a and b)
        if case.id != case_id(model, case.inputs) or not alike:
            wrong.append(case.name)
    assert wrong == []


def test_many_operators_have_variants_of_few_bytes(packed):
    operators = Counter(case.op_type for case in packed.values())
    assert len(operators) >= 195
    assert {op: operators[op] for op in TELLING if operators[op] < 20} == {}
    assert 2500 <= len(packed) <= 4500
    assert PACK.stat().st_size < 6_000_000
    assert not any(case.core or case.timed for case in packed.values())
    assert {case.origin for case in packed.values()} == {"variant"}


def test_words_say_who_answered(packed):
    words = Counter(case.oracles_agree for case in packed.values())
    assert set(words) == {"both", "one", "disputed"}
    assert words["disputed"] < 80
    older = [case for name, case in packed.items() if name.startswith("variant/Softmax-11/")]
    assert {case.oracle.partition(" (")[2] for case in older} <= {"onnx.reference differs)", ""}
    assert all("from opset 13" in case.citation for case in older)


def test_pairs_are_covered_in_few_choices():
    dims = {"a": (1, 2, 3), "b": ("x", "y"), "c": (None, 0)}

    def allowed(values):
        return not (values["a"] == 3 and values["b"] == "y")

    chosen = cover(dims, allowed, budget=20, seed="s")
    assert chosen[0] == {"a": 1, "b": "x", "c": None}
    assert all(map(allowed, chosen))
    assert coverage(dims, allowed, chosen, "s") == Coverage(15, 15)
    assert 6 <= len(chosen) < 10
    assert cover(dims, allowed, budget=20, seed="s") == chosen
    assert len(cover(dims, allowed, budget=3, seed="s")) == 3
    assert len(cover(dims, allowed, budget=20, seed="s", full=True)) == 10
    assert coverage(dims, allowed, chosen[:1], "s") == Coverage(3, 15)


def test_nothing_allowed_gives_nothing():
    assert cover({"a": (1, 2)}, lambda _: False, budget=3, seed="s") == []
    assert cover({"a": ()}, lambda _: True, budget=3, seed="s") == []


@pytest.mark.parametrize(
    ("kind", "dtype", "holds"),
    [
        ("wide", "int64", lambda x: (np.abs(x) > 2**31).any() and (np.abs(x) < 2**46).all()),
        ("edge", "float", lambda x: np.isnan(x).any() and np.isinf(x).any()),
        ("ties", "float", lambda x: ((x * 2) % 1 == 0).all() and np.signbit(x[x == 0]).any()),
        ("wide", "float", lambda x: (np.abs(x) > 65504).any()),
        ("beyond", "double", lambda x: (np.abs(x) > 3.5e38).any()),
        ("nonzero", "int8", lambda x: (x != 0).all() and (x < 0).any()),
        ("within:4", "int64", lambda x: x.min() >= -4 and x.max() < 4 and (x < 0).any()),
    ],
)
def test_values_are_what_their_kind_says(kind, dtype, holds):
    assert holds(contents(kind, dtype, "seed", (400,)))
    assert (
        contents(kind, dtype, "seed", (400,)).tobytes()
        == contents(kind, dtype, "seed", (400,)).tobytes()
    )


def values(number):
    return (from_numpy(np.float32(number)),)


@pytest.mark.parametrize(
    ("answers", "expected", "told_by", "word"),
    [
        ((1, 1, None), 1, ("evaluator", "runtime"), "both"),
        ((1, 1, 1), 1, ("ours", "evaluator", "runtime"), "both"),
        ((1, 1, 2), 1, ("evaluator", "runtime"), "both"),
        ((1, 2, None), 1, ("evaluator",), "disputed"),
        ((1, 2, 2), 2, ("ours", "runtime"), "one"),
        ((1, 2, 1), 1, ("ours", "evaluator"), "one"),
        ((1, 2, 3), 1, ("evaluator",), "disputed"),
        ((None, 2, None), 2, ("runtime",), "one"),
        ((1, None, None), 1, ("evaluator",), "one"),
        ((1, None, 3), 1, ("evaluator",), "disputed"),
        ((None, 2, 3), 2, ("runtime",), "one"),
    ],
)
def test_two_of_three_are_believed(answers, expected, told_by, word):
    given = Answers(*(None if each is None else values(each) for each in answers))
    found = decide(given, lambda first, second: first == second)
    assert found == (values(expected), told_by, word)


def test_no_oracle_no_case():
    assert decide(Answers(None, None, values(1)), lambda *_: True) is None
