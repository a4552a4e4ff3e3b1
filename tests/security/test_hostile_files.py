"""Every hostile file, to the API, the page and the command: an answer of the table, soon."""

import ctypes
import html
import io
import json
import os
import re
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from compat.reports import read_facts
from probes.model.refusals import ModelFileError
from probes.run.limited import call_limited
from tests.make import make_cell, make_operator
from tests.security.models import BUILDERS
from tests.security.models.make import external

pytestmark = pytest.mark.django_db

FILES = {path.stem: path for path in (Path(__file__).parents[1] / "data/hostile").glob("*.onnx")}
SECONDS = 10.0
REPORT = "report"

# name -> refusal code and a few words of the sentence; REPORT and the operators that it must see.
ANSWERS: dict[str, tuple[str, ...]] = {
    "H01_truncated": ("truncated", "truncated", "complete file"),
    "H03_empty_file": ("empty", "empty", "upload an ONNX model"),
    "H04_external_data_traversal": ("external_data", "never opened", "Embed the weights"),
    "H07_duplicate_names": ("invalid", "produced twice", "rename"),
    "H10_deep_nested_if": (REPORT, "If"),
    "H13_zero_nodes": (REPORT,),
    "H15_model_local_functions": (REPORT, "GridSample"),
    "H17_ir_version_future": (REPORT, "Relu"),
    "H19_opset_newest": (REPORT, "Conv"),
    "H24_function_expansion_bomb": ("function_bomb", "function expansion bomb", "Re-export"),
    "H25_einsum_shape_inference_crash": ("invalid", "Einsum", "Re-export"),
    "H26_dangling_and_type_mismatch": ("invalid", "ghost", "type mismatch"),
    "H27_initializer_size_mismatch_negative_dim": ("invalid", "payload", "negative dimension"),
    "H28_value_info_lies": (REPORT, "Conv"),
    "H29_wire_nesting_bomb": ("too_deep", "nesting limit"),
    "external_absolute": ("external_data", "never opened"),
    "external_unc": ("external_data", "never opened"),
    "external_symlink_name": ("external_data", "never opened"),
    "external_in_attribute": ("external_data", "never opened"),
    "external_only_by_location_bit": ("external_data", "never opened"),
    "dims_overflow": ("invalid", "differs from its dimensions"),
    "dims_overflow_to_zero": ("invalid", "differs from its dimensions"),
    "dims_of_the_largest_number": (REPORT, "Relu"),
    "negative_dims_of_an_input": (REPORT, "Relu"),
    "many_dims": ("too_many", "64 dimensions"),
    "initializer_without_data": ("invalid", "need 6 numbers, the file holds 0"),
    "initializer_twice": ("invalid", "declared twice"),
    "input_twice": ("invalid", "declared twice"),
    "two_payloads": ("invalid", "holds its values twice"),
    "sparse_indices_outside": (REPORT, "Add"),
    "constant_of_two_gigabytes": ("invalid", "need 536870912 numbers, the file holds 0"),
    "constant_of_shape_of_terabytes": (REPORT, "ConstantOfShape"),
    "range_without_end": (REPORT, "Range"),
    "expand_of_terabytes": ("invalid", "Integer overflow"),
    "many_strings": (REPORT, "Identity"),
    "many_ints_of_an_attribute": (REPORT, "Relu"),
    "string_attribute_of_megabytes": (REPORT, "Relu"),
    "names_of_no_text": ("bad_name", "not valid UTF-8"),
    "attribute_of_no_text": (REPORT, "Relu"),
    "name_of_many_bytes": ("too_long", "4096 bytes"),
    "opset_missing": ("no_opset", "imports no operator set"),
    "opset_twice": ("opset_conflict", "versions 1, 9, 17"),
    "opset_negative": ("bad_opset", "version -3"),
    "opset_zero": ("bad_opset", "version 0"),
    "opset_999": (REPORT, "Relu"),
    "opset_largest": ("bad_opset", "9223372036854775807"),
    "ir_version_negative": (REPORT, "Relu"),
    "attribute_twice": ("invalid", "attribute 'axis' twice"),
    "attribute_of_the_wrong_type": ("invalid", "kernel_shape"),
    "attribute_type_unknown": (REPORT, "Relu"),
    "graph_in_an_unknown_operator": (REPORT, "Mystery", "GridSample"),
    "graph_in_a_plain_operator": (REPORT, "Relu"),
    "node_without_an_operator": ("invalid", "names no operator"),
    "many_inputs_of_a_node": (REPORT, "Sum"),
    "many_nodes": (REPORT, "Relu"),
    "too_many_nodes": ("too_many", "50000 nodes"),
    "functions_in_a_circle": ("function_recursion", "calls itself"),
    "function_calls_itself_in_a_branch": ("function_recursion", "calls itself"),
    "function_named_as_an_operator": ("function_recursion", "calls itself"),
    "function_twice": ("function_twice", "defined twice"),
    "function_imports_another_opset": (REPORT, "Relu"),
    "names_hidden_by_a_branch": ("invalid", "'t' is produced twice"),
    "if_on_a_number": ("invalid", "type mismatch"),
    "if_without_branches": ("invalid", "then_branch"),
    "loop_for_ever": (REPORT, "Loop", "Add"),
    "scan_of_nothing": ("invalid", "num_scan_inputs"),
    "cycle": ("invalid", "cycle"),
    "node_reads_itself": ("invalid", "cycle"),
    "training_info": (REPORT, "Relu"),
    "quantization_annotation": (REPORT, "Relu"),
    "metadata_of_scripts": (REPORT, "Relu"),
    "unknown_fields": (REPORT, "Relu"),
    "group_wire_type": ("damaged", "wire type 3"),
    "wire_type_seven": ("damaged", "wire type 7"),
    "field_number_zero": ("damaged", "field number 0"),
    "varint_of_ten_bytes": (REPORT, "Relu"),
    "varint_of_eleven_bytes": ("damaged", "more than 10 bytes"),
    "length_past_the_end": ("truncated", "complete file"),
    "length_of_2_63": ("truncated", "complete file"),
    "graph_in_pieces": ("invalid", "GridSample"),
    "fields_in_reverse": (REPORT, "Relu"),
    "dims_unpacked_and_packed": (REPORT, "Add"),
    "overlong_lengths": (REPORT, "Relu"),
    "zip_bomb": ("not_onnx", "zip archive"),
    "gzip_bomb": ("not_onnx", "gzip archive"),
    "onnx_as_text": ("not_onnx", "text file"),
    "onnx_as_textproto": ("not_onnx", "text file"),
    "onnx_as_json": ("not_onnx", "JSON file"),
    "pickle": ("not_onnx", "text file"),
    "tensor_file": ("damaged", "cannot be parsed"),
    "random_bytes": ("damaged", "cannot be parsed"),
    "zeros": ("damaged", "field number 0"),
    "types_nested": ("too_deep", "nesting limit"),
    "element_type_unknown": (REPORT, "Relu"),
    "initializer_shadows_an_input_of_another_type": ("invalid", "elem type differs"),
    "output_that_nothing_makes": ("invalid", "produced by no node"),
    "outputs_listed_twice": (REPORT, "Relu"),
    "graph_without_outputs": (REPORT, "Relu"),
    "reshape_to_huge": ("invalid", "Reshape"),
    "pads_and_strides_of_2_62": ("invalid", "strides"),
    "split_in_2_62": (REPORT, "Split"),
    "gather_out_of_range": (REPORT, "Gather"),
    "transpose_outside": ("invalid", "Invalid attribute perm"),
    "einsum_of_megabytes": ("invalid", "Einsum"),
    "repeated_doubling": ("took_too_much_memory", "more than 500 MB"),
    "power_tower": (REPORT, "Mul"),
    "evil_names": (REPORT, "Relu"),
    "percent_in_a_problem": ("invalid", "missing input"),
    "reference_attribute_outside_a_function": (REPORT, "Softmax"),
    "many_subgraphs_of_a_node": (REPORT, "Mystery", "Relu"),
    "deep_if": ("too_deep", "nesting limit"),
    "many_empty_nodes": ("invalid", "names no operator"),
    "many_empty_initializers": (REPORT, "Relu"),
}
# The files and, of what is built, one of each kind go every way; the others to the API.
EVERY_WAY = {
    *FILES,
    *("external_absolute", "dims_overflow", "opset_twice", "function_twice", "names_of_no_text"),
    *("attribute_twice", "graph_in_an_unknown_operator", "random_bytes", "zip_bomb"),
    *("repeated_doubling", "evil_names", "percent_in_a_problem", "too_many_nodes"),
}


class Answer(NamedTuple):
    """`sentence` is "" for a report; `operators` are those of its findings."""

    sentence: str
    code: str = ""
    operators: frozenset[str] = frozenset()


def bytes_of(name):
    return FILES[name].read_bytes() if name in FILES else BUILDERS[name]()


def ask_api(client, data, tmp_path):
    file = SimpleUploadedFile("m.onnx", data)
    response = client.post("/api/v1/reports/", {"model": file})
    document = json.loads(response.content)
    if response.status_code == 422:
        assert response["Content-Type"] == "application/problem+json"
        return Answer(document["detail"], document["code"])
    assert response.status_code in (200, 201, 202)
    found = {finding["operator"][1] for finding in document["targets"][0]["findings"]}
    return Answer("", operators=frozenset(found))


def ask_page(client, data, tmp_path):
    response = client.post("/reports/new/", {"file": SimpleUploadedFile("m.onnx", data)})
    if response.status_code == 422:
        alert = re.search(r'role="alert"[^>]*>(.*?)</div>', response.content.decode(), re.DOTALL)
        return Answer(html.unescape(re.sub("<[^>]*>", "", alert[1])).strip())
    assert response.status_code == 302
    page = client.get(response["Location"])
    assert page.status_code == 200
    shown = re.findall(r"/operators/[^/\"]+/([^/\"]+)/", page.content.decode())
    return Answer("", operators=frozenset(shown))


def ask_command(client, data, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    out, err = io.StringIO(), io.StringIO()
    arguments = ("--target", "onnxruntime-cpu", "--format", "json", "--fail-on", "unknown")
    with pytest.raises(SystemExit) as ended:
        call_command("check_model", str(path), *arguments, stdout=out, stderr=err)
    document = json.loads(out.getvalue())
    if ended.value.code == 2:
        assert document["error"]["detail"] in err.getvalue()
        return Answer(document["error"]["detail"], document["error"]["code"])
    found = {finding["operator"][1] for finding in document["targets"][0]["findings"]}
    return Answer("", operators=frozenset(found))


WAYS = {"api": ask_api, "page": ask_page, "command": ask_command}
ASKED = [
    pytest.param(name, way, id=f"{name}-{way}")
    for name in ANSWERS
    for way in (WAYS if name in EVERY_WAY else ("api",))
]


@pytest.fixture(autouse=True)
def knowledge(tmp_path, settings):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    make_cell(make_operator("Relu"))
    return settings.UPLOAD_DIR


@pytest.mark.parametrize(("name", "way"), ASKED)
def test_a_hostile_file_gets_its_answer_soon_and_leaves_nothing(name, way, client, tmp_path):
    code, *words = ANSWERS[name]
    data = bytes_of(name)
    started = time.monotonic()
    answer = WAYS[way](client, data, tmp_path)
    assert time.monotonic() - started < SECONDS
    uploads = tmp_path / "uploads"
    assert not uploads.exists() or list(uploads.iterdir()) == []
    if code == REPORT:
        assert answer.sentence == ""
        assert way == "page" or set(words) <= answer.operators
        return
    assert [word for word in words if word not in answer.sentence] == []
    assert answer.code in (code, "")  # the page has words only
    assert len(answer.sentence) < 1000
    assert answer.sentence.isprintable()


def test_every_hostile_file_and_builder_has_an_answer():
    assert FILES.keys() | BUILDERS.keys() == ANSWERS.keys()


def test_reading_opens_nothing_but_the_upload_and_starts_nothing(tmp_path):
    paths = []
    for name in [name for name in ANSWERS if "many" not in name and name != "repeated_doubling"]:
        path = tmp_path / f"{len(paths)}.onnx"
        path.write_bytes(bytes_of(name))
        paths.append(str(path))
    asked = {"paths": paths}
    where = "tests.security.watch:infer_watched"
    seen = call_limited(where, asked, seconds=60, memory_bytes=1_000_000_000)
    assert seen == {"opened": [], "events": []}


IN_OPEN = 0x20


@pytest.fixture
def opened(tmp_path):
    """A file beside the upload, and whether anybody, C++ too, has opened it since the last call."""
    decoy = tmp_path / "weights.bin"
    decoy.write_bytes(b"\0" * 16)
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    assert watch >= 0
    assert libc.inotify_add_watch(watch, os.fsencode(decoy), IN_OPEN) >= 0

    def was_opened():
        try:
            return bool(os.read(watch, 4096))
        except BlockingIOError:
            return False

    yield decoy, was_opened
    os.close(watch)


@pytest.mark.parametrize("spell", [str, lambda decoy: decoy.name, lambda decoy: f"./{decoy.name}"])
def test_weights_in_another_file_are_never_opened_not_even_beside_the_model(spell, opened):
    decoy, was_opened = opened
    path = decoy.with_name("model.onnx")
    path.write_bytes(external(spell(decoy)))
    with pytest.raises(ModelFileError, match="never opened"):
        read_facts(path)
    assert not was_opened()
    decoy.read_bytes()
    assert was_opened()  # so the watch does see


def test_names_are_text_wherever_they_are_shown(client, tmp_path):
    """Tags, line ends, terminal colours and directions of a model's names stay harmless."""
    data = bytes_of("evil_names")
    document = client.post("/api/v1/reports/", {"model": SimpleUploadedFile("m.onnx", data)}).json()
    page = client.get(f"/reports/{document['token']}/").content.decode()
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    out = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("check_model", str(path), "--target", "onnxruntime-cpu", stdout=out)
    assert "<img src=x" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "forged log line" in page
    lines = out.getvalue().splitlines()
    assert not [line for line in lines if line.startswith(("INFO", "="))]
    for text in (page, out.getvalue(), json.dumps(document, ensure_ascii=False)):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", text)
