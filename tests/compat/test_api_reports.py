"""Reports from facts alone: the same findings as from the file, and nothing believed unchecked."""

import json
import time
from tempfile import NamedTemporaryFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from compat.models import Cell, Report
from compat.tokens import issue_token
from probes.model.facts import make_facts
from probes.model.hidden import hide_names
from tests.make import make_cell, make_model, make_operator
from tests.openapi import operation_of

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

CPU = "test-cpu.onnxruntime-cpu.default"
URL = "/api/v1/reports/"


def facts_of_bytes(model):
    with NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model)
        file.flush()
        return make_facts(file.name)


@pytest.fixture
def facts():
    make_cell(make_operator("Relu"))
    make_cell(make_operator("Tan"), level="red", reason_code="crashed",
              reason_params={"stage": "run", "message": "signal 11"})  # fmt: skip
    return facts_of_bytes(make_model("Relu", "Tan", name="secret"))


@pytest.fixture
def post(client):
    """POST; conftest checks the answer against the snapshot."""

    def post(document, status, **headers):
        data = document if isinstance(document, bytes) else json.dumps(document)
        answer = client.post(URL, data, content_type="application/json", headers=headers)
        assert answer.status_code == status, answer.content[:500]
        return answer

    return post


def test_facts_are_judged_as_the_file_is(post, client, facts, tmp_path, settings, monkeypatch):
    settings.UPLOAD_DIR = tmp_path
    monkeypatch.setattr("probes.run.analyse.facts_of", make_facts)
    told = post({"facts": facts, "targets": [CPU], "file_name": "../a.onnx"}, 202).json()
    model = SimpleUploadedFile("m.onnx", make_model("Relu", "Tan", name="secret"))
    whole = client.post(URL, {"model": model, "target": CPU}).json()
    assert told["targets"] == whole["targets"]
    assert told["targets"][0]["level"] == "red"
    assert told["file_name"] == "a.onnx"
    assert told["token"] != whole["token"]  # a claim about a file is not the file


def test_new_facts_are_accepted_with_an_address_and_known_ones_are_answered(post, client, facts):
    new = post({"facts": facts, "targets": [CPU]}, 202)
    known = post({"targets": [CPU], "facts": facts}, 200)
    assert new["Location"] == known["Location"]
    seen = client.get(new["Location"]).json()
    assert seen == new.json() == known.json()
    assert seen["state"] == "ready"
    Cell.objects.filter(operator__name="Tan").update(level="green")
    assert post({"facts": facts, "targets": [CPU]}, 202).json()["targets"][0]["level"] == "green"


def test_without_a_target_every_shown_column_is_asked(post, facts):
    assert [each["id"] for each in post({"facts": facts}, 202).json()["targets"]] == [CPU]


def test_names_may_be_digests(post, facts):
    hidden = hide_names(facts, b"key")
    assert "secret" not in json.dumps(hidden)
    told = post({"facts": hidden, "targets": [CPU]}, 202).json()
    plain = post({"facts": facts, "targets": [CPU]}, 202).json()
    for one, other in zip(*(each["targets"][0]["findings"] for each in (told, plain)), strict=True):
        assert one | {"node_names": []} == other | {"node_names": []}
        assert one["node_names"] != other["node_names"]


def test_other_facts_of_a_known_hash_are_another_report(post, facts):
    first = post({"facts": facts, "targets": [CPU]}, 202).json()
    facts["nodes"][0]["name"] = "another"
    assert post({"facts": facts, "targets": [CPU]}, 202).json()["token"] != first["token"]


def set_at(path, value):
    """A change of one place of the facts."""

    def change(facts):
        *way, last = path
        for step in way:
            facts = facts[step]
        facts[last] = value

    return change


def add_unknown_member(facts):
    facts["nodes"][0]["weights"] = [1.0]


def drop(name):
    return lambda facts: facts.pop(name)


def deepen(facts):
    facts["signatures"][0]["attrs"] = {"a": [[[[1]]]]}


BAD = {
    "another schema": (set_at(["schema"], 2), "use the opatlas-probes of this server's version"),
    "no schema": (drop("schema"), "lacks schema"),
    "no nodes": (drop("nodes"), "lacks nodes"),
    "a weight": (add_unknown_member, "nodes[0] must be an object of"),
    "a list for an object": (set_at(["model"], []), "model must be an object"),
    "an object for a list": (set_at(["nodes"], {}), "nodes must be a list"),
    "true for a number": (set_at(["model", "bytes"], True), "model.bytes must be a whole number"),
    "a negative size": (set_at(["model", "bytes"], -1), "model.bytes"),
    "a size no database holds": (set_at(["model", "bytes"], 2**70), "model.bytes"),
    "no hash": (set_at(["model", "sha256"], "../../etc"), "model.sha256"),
    "a long name": (set_at(["nodes", 0, "name"], "n" * 5000), "nodes[0].name"),
    "a name that is no text": (set_at(["nodes", 0, "name"], 7), "nodes[0].name"),
    "another id": (set_at(["nodes", 1, "id"], 0), "nodes[1].id must be 1"),
    "a signature outside": (set_at(["nodes", 0, "sig"], 99), "nodes[0].sig"),
    "a signature of another": (set_at(["nodes", 0, "sig"], 1), "of another operator"),
    "a tensor outside": (set_at(["nodes", 0, "inputs"], [999]), "nodes[0].inputs"),
    "a tensor below": (set_at(["nodes", 0, "inputs"], [-2]), "nodes[0].inputs[0]"),
    "a graph input outside": (set_at(["inputs", 0, "tensor"], 500), "inputs has a number"),
    "constants outside": (set_at(["tensors", "constant"], [500]), "tensors.constant"),
    "lists of other lengths": (set_at(["tensors", "shapes"], []), "equally long"),
    "a negative dimension": (set_at(["signatures", 0, "inputs", 0, "shape"], [-3]), "shape[0]"),
    "a shape of many dimensions": (set_at(["tensors", "shapes", 0], [1] * 65), "at most 64"),
    "a weight as a value": (set_at(["signatures", 0, "inputs", 0, "value"], [0.5] * 65), "value"),
    "attributes in attributes": (deepen, "signatures[0].attrs.a"),
    "an attribute no operator has": (
        set_at(["signatures", 0, "attrs"], {"kernel_shape": ["x", 3]}), "attributes that"),
    "warnings that cannot be told": (
        set_at(["warnings"], [{"code": "unknown_types", "params": {"count": "x"}}]), "parameters"),
    "another signature schema": (set_at(["signatures", 0, "schema"], 9), "signatures[0].schema"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_facts_that_are_not_right_are_422_with_a_sentence_that_says_where(post, facts, name):
    change, said = BAD[name]
    change(facts)
    problem = post({"facts": facts, "targets": [CPU]}, 422).json()
    assert problem["code"] == "bad_facts"
    assert said in problem["detail"]
    assert problem["detail"].endswith(".")
    assert len(problem["detail"]) < 1000
    assert not Report.objects.exists()


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"", 400, "facts: This field is required"),
        (b"{", 400, "no JSON"),
        (b"\xff\xfe\x00", 400, "no JSON"),
        (b"[]", 400, "dictionary"),
        (b"null", 400, "No data"),
        (b"{}", 400, "facts: This field is required"),
        (b'{"facts": []}', 400, "facts"),
        (b'{"facts": {}, "targets": "rknn"}', 400, "targets"),
        (b'{"facts": {"schema": NaN}}', 400, "NaN is not in JSON"),
        (b'{"facts": {"schema": 1e999}}', 422, "The facts"),
        (b"[" * 200_000, 400, "nested"),
        (b'{"facts": {"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}}", 400, "nested"),
        (b'{"facts": [' + b"[]," * 1_000_001 + b"[]]}", 413, "lists and objects"),
        (b'{"facts": "' + b"a" * 16_000_001 + b'"}', 413, "more than"),
        (b"9" * 6_000, 400, "no JSON"),
    ],
)
def test_a_body_that_is_no_question_is_refused(post, body, status, said):
    began = time.monotonic()
    assert said in post(body, status).json()["detail"]
    assert time.monotonic() - began < 5


def test_hostile_names_in_facts_are_stored_as_text(post, client, facts):
    facts["nodes"][1]["name"] = "\x1b[31m\u202e\x00<script>"
    facts["model"]["producer"] = "a\x00b\ud800"
    told = post({"facts": facts, "targets": [CPU], "file_name": "\x01/etc/passwd"}, 202).json()
    (name,) = told["targets"][0]["findings"][0]["node_names"]
    assert name == "\ufffd[31m\ufffd\ufffd<script>"
    page = client.get(f"/reports/{told['token']}/")
    assert page.status_code == 200
    assert b"<script>" not in page.content.replace(b"<script src", b"")


def test_an_unknown_target_of_facts_is_422(post, facts):
    problem = post({"facts": facts, "targets": ["tensorrt\x01"]}, 422).json()
    assert problem["code"] == "unknown_target"


def test_the_largest_facts_are_judged_in_time(client, facts):
    """About as many as fit in the limit of bytes, with as many signatures as are read."""
    (node, *_), (signature, *_) = facts["nodes"], facts["signatures"]
    facts["nodes"] = [node | {"id": at, "sig": at % 2_000} for at in range(20_000)]
    facts["signatures"] = [signature | {"since": at} for at in range(2_000)]
    body = json.dumps({"facts": facts, "targets": [CPU]})
    began = time.process_time()
    assert client.post(URL, body, content_type="application/json").status_code == 202
    assert time.process_time() - began < 10


def test_more_signatures_or_operators_than_a_file_may_have_are_refused(post, facts):
    (node, *_), (signature, *_) = facts["nodes"], facts["signatures"]
    many = facts | {"signatures": [signature] * 2_001}
    answer = post({"facts": many, "targets": [CPU]}, 422).json()
    assert answer["code"] == "too_many"
    assert "more than 2000 different uses of operators" in answer["detail"]
    nodes = [node | {"id": at, "op": f"Op{at}", "sig": None} for at in range(1_001)]
    answer = post({"facts": facts | {"nodes": nodes}, "targets": [CPU]}, 422).json()
    assert "more than 1000 different operators" in answer["detail"]


def test_a_report_is_deleted_with_its_kept_file_by_whoever_has_its_token(
    client, settings, tmp_path, monkeypatch
):
    settings.UPLOAD_DIR = tmp_path
    monkeypatch.setattr("probes.run.analyse.facts_of", make_facts)
    make_cell(make_operator("Relu"))
    model = SimpleUploadedFile("m.onnx", make_model("Relu"))
    token = client.post(URL, {"model": model, "keep": "1"}).json()["token"]
    kept = tmp_path / f"{token}.onnx"
    assert kept.exists()
    answer = client.delete(f"{URL}{token}/")
    assert (answer.status_code, answer.content) == (204, b"")
    assert operation_of(answer) == "delete_report"
    assert not kept.exists()
    assert not Report.objects.exists()
    again = client.delete(f"{URL}{token}/")
    assert (again.status_code, again.json()["code"]) == (404, "not_found")


def test_deleting_wants_the_scope_that_submitting_wants(post, client, facts, settings):
    token = post({"facts": facts}, 202).json()["token"]
    settings.OPEN_SCOPES = frozenset({"read"})
    _, reader = issue_token(name="reader", scopes=["read"])
    _, sender = issue_token(name="sender", scopes=["reports"])
    refused = [
        client.delete(f"{URL}{token}/"),
        client.delete(f"{URL}{token}/", headers=as_(reader)),
    ]
    assert [each.status_code for each in refused] == [401, 403]
    assert Report.objects.exists()
    assert client.delete(f"{URL}{token}/", headers=as_(sender)).status_code == 204
    assert not Report.objects.exists()


@pytest.mark.parametrize("token", ["nothing", "..", "%2e%2e%2fetc", "new", "x" * 500, "%0a"])
def test_an_address_that_is_no_reports_deletes_nothing(post, client, facts, token):
    post({"facts": facts}, 202)
    assert client.delete(f"{URL}{token}/").status_code == 404
    assert Report.objects.exists()


def as_(secret):
    return {"Authorization": f"Bearer {secret}"}
