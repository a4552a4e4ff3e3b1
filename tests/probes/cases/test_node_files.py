"""The tests of an older onnx: only what differs ships, and every test of it has a case."""

import csv
from collections import Counter

import onnx
import pytest

from probes.cases.case import case_id
from probes.cases.catalogue import read_pack, write_pack
from probes.cases.node_files import names_beside, older_cases, older_name, plain_name
from probes.cli.build_cases import main
from probes.model.values import NUMBER_OF, Tensor, to_proto
from tests.probes.cases.test_node_tests import PACK

OLDER = PACK.with_name("node-onnx-1.15.0.pack.xz")
LAST_OPSET = 20  # of onnx 1.15
# Expected outputs that onnx corrected later, and an image that few decode: evidence of nothing.
UNCONFIRMED = {
    "test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True",
    "test_image_decoder_decode_jpeg2k_rgb",
}


@pytest.fixture(scope="module")
def newest():
    return {case.name: case for case in read_pack(PACK)}


@pytest.fixture(scope="module")
def older():
    return list(read_pack(OLDER))


@pytest.fixture(scope="module")
def listed():
    with names_beside(OLDER).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_only_what_the_newest_pack_lacks_is_packed(older, newest):
    assert len(older) == len({case.id for case in older}) == 477
    assert Counter(case.origin for case in older) == {"node": 392, "node-expanded": 85}
    assert not {case.id for case in older} & {case.id for case in newest.values()}
    assert [case.name for case in older if case.id != case_id(case.model, case.inputs)] == []
    assert OLDER.stat().st_size < 2e6


def test_every_test_of_the_release_is_listed_with_the_case_of_its_content(older, newest, listed):
    ids = {case.name: case.id for case in (*newest.values(), *older)}
    assert len(listed) == len({row["test"] for row in listed}) == 1252
    assert sum("_expanded" not in row["test"] for row in listed) == 995
    assert [row for row in listed if ids[row["case"]] != row["id"]] == []
    named = {row["test"]: row["case"] for row in listed}
    assert named["test_abs"] == "node/test_abs"
    assert (
        named["test_conv_with_strides_padding"] == "node/test_conv_with_strides_padding@onnx-1.15"
    )
    assert named["test_resize_tf_crop_and_resize"] == (
        "node/test_resize_tf_crop_and_resize_extrapolation_value"
    ), "in 1.15 two tests had this name, and the second one's files overwrote the first's"


def test_an_older_test_keeps_its_plain_name_and_says_where_it_is_from(older, listed):
    assert {plain_name(case.name) for case in older} <= {row["test"] for row in listed}
    for case in older:
        assert case.name == older_name(plain_name(case.name), "1.15.0")
        assert case.oracle == "onnx-node-test 1.15.0"
        assert case.citation.endswith(f", {plain_name(case.name)}")
        assert not case.core


def test_an_older_test_proves_a_version_that_its_onnx_knew(older):
    assert max(case.opset for case in older) <= LAST_OPSET
    assert max(case.since_version for case in older) <= LAST_OPSET
    conv = next(case for case in older if plain_name(case.name) == "test_basic_conv_with_padding")
    assert (conv.op_type, conv.since_version, conv.signature["since"]) == ("Conv", 11, 11)


def test_every_older_case_carries_the_word_of_the_oracles(older):
    words = Counter(case.oracles_agree for case in older)
    assert words["both"] > 0.95 * len(older)
    assert {plain_name(case.name) for case in older if case.oracles_agree == "none"} == UNCONFIRMED


def file_of(value, declared):
    """The bytes of a value as older onnx wrote them."""
    if declared.HasField("optional_type") and value is not None:
        kind = ("sequence_value", 3) if isinstance(value, list) else ("tensor_value", 1)
        proto = onnx.OptionalProto(elem_type=kind[1], **{kind[0]: to_proto(value)})
    else:
        proto = to_proto(value)
    if isinstance(value, Tensor) and value.dtype == NUMBER_OF["bfloat16"]:
        proto.data_type = NUMBER_OF["uint16"]  # numpy's stand-in
    return proto.SerializeToString()


def put_test(folder, case):
    """A case as the files in which older wheels hold a test."""
    data = folder / plain_name(case.name) / "test_data_set_0"
    data.mkdir(parents=True)
    (data.parent / "model.onnx").write_bytes(case.model)
    graph = onnx.load_from_string(case.model).graph
    for stem, values, declared in (
        ("input", case.inputs, graph.input),
        ("output", case.expected, graph.output),
    ):
        for number, (value, info) in enumerate(zip(values, declared, strict=True)):
            (data / f"{stem}_{number}.pb").write_bytes(file_of(value, info.type))


@pytest.mark.parametrize(
    "test",
    [
        "test_relu",
        "test_relu_expanded_ver18",
        "test_castlike_BFLOAT16_to_FLOAT",
        "test_identity_sequence",
        "test_identity_opt",
        "test_optional_has_element_empty_optional_input",
        "test_string_concat",
    ],
)
def test_files_become_the_case_that_they_hold(test, newest, tmp_path):
    case = newest[f"node/{test}"]
    put_test(tmp_path, case)
    if "_expanded" in test:
        put_test(tmp_path, newest["node/test_relu"])
    found = {each.name: each for each in older_cases(tmp_path, "1.15.0")}
    made = found[f"node/{test}@onnx-1.15"]
    assert (made.id, made.expected, made.origin) == (case.id, case.expected, case.origin)
    assert (made.op_type, made.since_version) == (case.op_type, case.since_version)


def test_the_command_packs_what_differs_and_lists_everything(newest, tmp_path, capsys):
    tests = ("test_relu", "test_max_two_inputs", "test_max_float32")  # the last two are one
    for name in tests:
        put_test(tmp_path / "tests", newest[f"node/{name}"])
    write_pack(tmp_path / "newest.pack.xz", [newest["node/test_relu"]])
    out = tmp_path / "older.pack.xz"
    asked = {"--tests": tmp_path / "tests", "--newest": tmp_path / "newest.pack.xz"}
    options = [str(part) for pair in asked.items() for part in pair]
    assert main(["older-node-pack", str(out), "--release", "1.15.0", *options]) == 0
    assert "1 cases" in capsys.readouterr().out
    (case,) = read_pack(out)
    assert (case.name, case.oracles_agree) == ("node/test_max_float32@onnx-1.15", "both")
    with (tmp_path / "older.csv").open(newline="") as file:
        named = {row["test"]: row["case"] for row in csv.DictReader(file)}
    assert named == {
        "test_relu": "node/test_relu",
        "test_max_float32": case.name,
        "test_max_two_inputs": case.name,
    }
