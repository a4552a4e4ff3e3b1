from pathlib import Path

import pytest

from probes.model.facts import make_facts
from probes.model.refusals import ModelFileError

FILES = Path(__file__).parents[2] / "data" / "hostile"

# (file, refusal code, words of its sentence: the cause and what to do)
REFUSED = [
    ("H01_truncated", "truncated", ("truncated", "complete file")),
    ("H03_empty_file", "empty", ("empty", "upload an ONNX model")),
    ("H04_external_data_traversal", "external_data", ("another file", "never opened", "Embed")),
    ("H07_duplicate_names", "invalid", ("'a' is produced twice", "single assignment", "rename")),
    ("H24_function_expansion_bomb", "function_bomb", ("function expansion bomb", "Re-export")),
    ("H25_einsum_shape_inference_crash", "invalid", ("Einsum", "Ellipsis", "Re-export")),
    ("H26_dangling_and_type_mismatch", "invalid", ("'ghost'", "missing input", "type mismatch")),
    (
        "H27_initializer_size_mismatch_negative_dim",
        "invalid",
        ("payload of tensor 'k'", "differs from its dimensions", "negative dimension"),
    ),
    ("H29_wire_nesting_bomb", "too_deep", ("nesting limit", "Re-export")),
]

# (file, nodes, operators that must be seen, warnings)
REPORTED = [
    ("H10_deep_nested_if", 49, {"If"}, []),
    ("H13_zero_nodes", 0, set(), ["no_nodes"]),
    ("H15_model_local_functions", 2, {"GridSample", "Relu"}, ["functions_inlined"]),
    ("H17_ir_version_future", 1, {"Relu"}, ["ir_version_future"]),
    ("H19_opset_newest", 2, {"Conv"}, []),
    ("H28_value_info_lies", 2, {"Conv", "Relu"}, ["value_info_lies", "value_info_lies"]),
]


@pytest.mark.parametrize(("name", "code", "words"), REFUSED)
def test_a_hostile_file_is_refused_with_its_cause_and_a_remedy(name, code, words):
    with pytest.raises(ModelFileError) as caught:
        make_facts(FILES / f"{name}.onnx")
    assert caught.value.code == code
    assert [word for word in words if word not in caught.value.sentence] == []
    assert ModelFileError.from_json(caught.value.to_json()).sentence == caught.value.sentence


@pytest.mark.parametrize(("name", "nodes", "operators", "warnings"), REPORTED)
def test_an_odd_file_is_reported_with_what_is_odd(name, nodes, operators, warnings):
    facts = make_facts(FILES / f"{name}.onnx")
    assert len(facts["nodes"]) == nodes
    assert operators <= {node["op"] for node in facts["nodes"]}
    assert [warning["code"] for warning in facts["warnings"]] == warnings


def test_every_hostile_file_has_an_answer():
    named = {row[0] for row in (*REFUSED, *REPORTED)}
    assert {path.stem for path in FILES.glob("*.onnx")} == named


def test_a_lie_about_a_type_is_overruled():
    facts = make_facts(FILES / "H28_value_info_lies.onnx")
    assert facts["outputs"][0]["dtype"] == "float"
    assert facts["outputs"][0]["shape"] == [1, 4, 6, 6]
