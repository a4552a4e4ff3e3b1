"""The shipped node tests are all there, and say what they prove."""

from collections import Counter
from pathlib import Path

import onnx
import pytest

from probes.cases.case import case_id
from probes.cases.catalogue import node_cases, read_pack

PACK = Path(__file__).parents[3] / "fixtures" / "cases" / "node-onnx-1.23.2.pack.xz"


@pytest.fixture(scope="module")
def cases():
    return list(read_pack(PACK))


@pytest.fixture(scope="module")
def named(cases):
    return {case.name: case for case in cases}


def test_counts_of_the_release(cases):
    assert len(cases) == 1884
    assert len({case.name for case in cases}) == 1884
    assert len({(case.domain, case.op_type) for case in cases}) == 197
    assert Counter(case.origin for case in cases) == {"node": 1404, "node-expanded": 480}
    assert PACK.stat().st_size < 4e6


def test_every_id_is_the_id_of_its_content(cases):
    assert [case.name for case in cases if case.id != case_id(case.model, case.inputs)] == []


def test_the_installed_onnx_still_makes_the_packed_models(named):
    """Models do not depend on numpy or BLAS, so only the inputs' golden bytes may differ."""
    if onnx.__version__ != "1.23.2":
        pytest.fail("build and ship a pack for this onnx: python -m probes.cli.build_cases")
    made = {case.name: case for case in node_cases()}
    assert made.keys() == named.keys()
    assert [name for name, case in made.items() if case.model != named[name].model] == []


def test_a_test_proves_the_operator_of_its_only_node(named):
    case = named["node/test_conv_with_strides_padding"]
    assert (case.domain, case.op_type, case.core) == ("ai.onnx", "Conv", False)
    assert case.signature["op"] == "Conv"
    assert case.operators == (("ai.onnx", "Conv"),)


def test_an_expanded_test_proves_the_same_operator_but_is_told_apart(named):
    plain, body = named["node/test_softmax_axis_0"], named["node/test_softmax_axis_0_expanded"]
    assert (body.domain, body.op_type) == (plain.domain, plain.op_type) == ("ai.onnx", "Softmax")
    assert body.since_version == plain.since_version
    assert body.origin == "node-expanded"
    assert body.signature == {}
    assert ("ai.onnx", "Softmax") not in body.operators


def test_only_random_outputs_are_compared_by_shape(cases):
    by_shape = {case.name for case in cases if case.compare == "shape"}
    assert "node/test_training_dropout" in by_shape
    assert "node/test_training_dropout_zero_ratio" not in by_shape
    assert {case.op_type for case in cases if case.compare == "shape"} == {"Bernoulli", "Dropout"}


def test_every_case_carries_the_word_of_the_oracles(cases):
    words = Counter(case.oracles_agree for case in cases)
    assert set(words) == {"both", "one", "disputed"}
    assert words["both"] > 1700


def test_where_onnx_runtime_answers_otherwise_a_node_test_is_disputed(named):
    """One word against another; a test that it merely refuses is confirmed by one oracle."""
    scales = named["node/test_resize_downsample_scales_cubic_align_corners"]
    assert scales.oracles_agree == "disputed"
    assert named["node/test_optional_has_element_empty_optional_input"].oracles_agree == "one"


def test_operators_outside_the_main_domain_keep_theirs(named):
    case = named["node/test_ai_onnx_ml_label_encoder_string_int"]
    assert (case.domain, case.op_type) == ("ai.onnx.ml", "LabelEncoder")
