"""The API: each answer is as its checked-in schema says, each refusal a problem document."""

import csv
import json
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer

from compat.api.urls import urlpatterns
from compat.models import Probe, Sweep
from probes.model.facts import make_facts
from tests.make import (
    make_case,
    make_cell,
    make_claim,
    make_column,
    make_device,
    make_fake_target,
    make_model,
    make_operator,
    make_probe,
    make_target,
)
from tests.openapi import SNAPSHOT, load_schema, operation_of

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

CPU = "test-cpu.onnxruntime-cpu.default"


@pytest.fixture
def ask(client):
    """GET or POST; conftest checks each answer against the snapshot, this one which it was."""

    def ask(url, operation, status=200, data=None, **options):
        send = client.get if data is None else client.post
        response = send(f"/api/v1/{url}", **({"data": data} if data is not None else {}), **options)
        assert response.status_code == status, response.content[:500]
        assert operation_of(response) == operation
        return response.json()

    return ask


@pytest.fixture
def relu():
    """Relu, probed on a CPU and claimed for a board; a hostile name beside it."""
    operator = make_operator("Relu")
    target = make_target()
    probe = make_probe(
        make_case(operator, "mainstream/Relu/v1"), target, p50_ms=0.25, max_abs=0.0, seconds=1.0
    )
    make_probe(make_case(operator, core=False), target, "rejected", message="no kernel")
    make_cell(operator, target.column, target=target, probe=probe, p50_ms=0.25)
    board = make_column("rknn", make_device("rk3588", "rk3588"))
    make_claim(operator, "rknn", "partial", device_class="rk3588", restriction="axis = 1")
    params = {"source": "test-list 2.3.2", "restriction": "axis = 1"}
    make_cell(operator, board, "yellow", "documented", reason_code="claim_partial_says",
              reason_params=params, claim_level="partial")  # fmt: skip
    make_operator("<script>alert(1)</script>", domain="=cmd")
    return operator


def test_the_schema_is_the_one_that_is_checked_in(client):
    generated = OpenApiYamlRenderer().render(
        SchemaGenerator().get_schema(request=None, public=True), renderer_context={}
    )
    assert generated.decode() == SNAPSHOT.read_text(encoding="utf-8"), (
        "the API changed: run `manage.py spectacular --file tests/snapshots/openapi.yaml`"
    )
    assert client.get("/api/v1/schema/").status_code == 200


def test_every_address_of_the_api_is_in_the_schema():
    written = {path.removeprefix("/api/v1/") for path in load_schema()["paths"]}
    addresses = {
        str(each.pattern).replace("<str:", "{").replace("<int:", "{").replace(">", "}")
        for each in urlpatterns
    }
    assert written == addresses - {"schema/"}


def test_operators(ask, relu):
    assert [row["name"] for row in ask("operators/", "list_operators")] == [
        "<script>alert(1)</script>" if row["domain"] == "=cmd" else "Relu"
        for row in ask("operators/", "list_operators")
    ]
    found = ask("operators/?search=REL&domain=ai.onnx", "list_operators")
    assert [row["name"] for row in found] == ["Relu"]


def test_an_operator_has_cells_claims_and_cases(ask, relu):
    page = ask("operators/ai.onnx/Relu/", "get_operator")
    verdicts = {cell["column"]["slug"]: cell["verdict"] for cell in page["cells"]}
    assert verdicts[CPU]["level"] == "green"
    assert verdicts["rk3588.rknn.default"]["reason"] == (
        "test-list 2.3.2, supported with limits: axis = 1"
    )
    assert [claim["restriction"] for claim in page["claims"]] == ["axis = 1"]
    assert {case["marks"][0]["outcome"] for case in page["cases"]} == {"passed", "rejected"}


def test_targets(ask, relu):
    targets = ask("targets/", "list_targets")
    assert {row["slug"]: row["claimed_only"] for row in targets} == {
        CPU: False,
        "rk3588.rknn.default": True,
    }
    assert targets[0]["counts"]["unknown"] == 1
    page = ask(f"targets/{CPU}/", "get_target")
    assert page["versions"][0]["runtime_version"] == "1.32.0"
    assert ask(f"targets/{CPU}@1.32.0/", "get_target") == page


def test_the_matrix_as_json(ask, relu):
    matrix = ask("matrix/", "get_matrix")
    assert {column["slug"] for column in matrix["columns"]} == {CPU, "rk3588.rknn.default"}
    rows = {row["name"]: row["cells"] for row in matrix["rows"]}
    assert rows["<script>alert(1)</script>"] == [None, None]
    assert {cell["level"] for cell in rows["Relu"]} == {"green", "yellow"}
    few = ask("matrix/?kind=documented&level=yellow&search=relu&top20=1", "get_matrix")
    assert [column["slug"] for column in few["columns"]] == ["rk3588.rknn.default"]


def test_the_matrix_as_csv(client, relu):
    response = client.get("/api/v1/matrix.csv", {"column": CPU})
    rows = list(csv.reader(StringIO(response.content.decode())))
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert rows == [
        ["domain", "operator", CPU],
        ["'=cmd", "<script>alert(1)</script>", "unknown none"],
        ["ai.onnx", "Relu", "green measured"],
    ]


@pytest.mark.parametrize("url", ["/api/v1/matrix/", "/api/v1/matrix.csv"])
def test_a_matrix_that_did_not_change_is_not_sent_again(client, relu, url):
    tag = client.get(url)["ETag"]
    again = client.get(url, headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    make_cell(make_operator("Conv"), make_column())
    assert client.get(url, headers={"If-None-Match": tag}).status_code == 200


def test_a_cell_with_its_evidence(ask, relu):
    cell = ask(f"cells/ai.onnx/Relu/{CPU}/", "get_cell")
    assert cell["verdict"]["reason"] == "1 of 1 core cases pass"
    assert [group["code"] for group in cell["groups"]] == ["core", "rest"]
    assert cell["groups"][0]["probes"][0]["p50_ms"] == 0.25
    assert ask("cells/ai.onnx/Relu/rk3588.rknn.default/", "get_cell")["claims"]


@pytest.mark.parametrize(
    ("url", "operation"),
    [
        ("operators/ai.onnx/NoSuch/", "get_operator"),
        ("operators/ai.onnx/%3Cscript%3E/", "get_operator"),
        ("targets/no.such.column/", "get_target"),
        (f"cells/com.evil/Relu/{CPU}/", "get_cell"),
        ("cells/ai.onnx/Relu/..%5C..%5Cetc/", "get_cell"),
        ("reports/no-such-token/", "get_report"),
        ("sweeps/999999/", "get_sweep"),
        ("matrix/?report=no-such-token", "get_matrix"),
    ],
)
def test_what_does_not_exist_is_a_problem_document(ask, client, relu, url, operation):
    problem = ask(url, operation, 404)
    assert problem["status"] == 404
    assert problem["detail"]
    assert client.get(f"/api/v1/{url}")["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_the_knowledge_is_read_only(client, relu, method):
    for url in ("operators/", "matrix/", f"targets/{CPU}/", f"cells/ai.onnx/Relu/{CPU}/"):
        response = getattr(client, method)(f"/api/v1/{url}")
        assert response.status_code == 405
        assert response.json()["code"] == "method_not_allowed"
        assert "GET" in response["Allow"]


@pytest.fixture
def quick(tmp_path, settings, monkeypatch):
    settings.UPLOAD_DIR = tmp_path
    monkeypatch.setattr("probes.run.analyse.facts_of", make_facts)


def upload(data, name="net.onnx"):
    return SimpleUploadedFile(name, data)


def test_a_report_of_a_file_can_be_read_again_by_its_token(ask, relu, quick):
    model = make_model("Relu", "Tanh")
    data = {"model": upload(model, "../net.onnx"), "target": [CPU, "rknn"]}
    report = ask("reports/", "create_report", 202, data)
    assert report["file_name"] == "net.onnx"
    assert [target["id"] for target in report["targets"]] == [CPU, "rk3588.rknn.default"]
    (limits,) = [f for f in report["targets"][1]["findings"] if f["level"] == "yellow"]
    assert limits["node_names"] == ["n0"]
    assert "axis = 1" in limits["detail_text"]
    assert report["page"].endswith(f"/reports/{report['token']}/")
    assert ask(f"reports/{report['token']}/", "get_report") == report
    assert ask("reports/", "create_report", 200, data | {"model": upload(model)}) == report
    rows = ask(f"matrix/?report={report['token']}", "get_matrix")["rows"]
    assert [row["name"] for row in rows] == ["Relu"]


def test_a_report_is_for_who_has_its_token(client, relu, quick):
    assert client.get("/api/v1/reports/").status_code == 405
    made = client.post("/api/v1/reports/", {"model": upload(make_model("Relu"))})
    read = client.get(f"/api/v1/reports/{made.json()['token']}/")
    assert "no-store" in read["Cache-Control"]
    assert len(made.json()["token"]) >= 22  # 128 bits


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"", "empty"), (b"PK\x03\x04" + b"\0" * 99, "not_onnx"), (b"\x08\x09" * 9, None)],
)
def test_a_file_that_is_no_model_is_422_with_a_sentence(ask, relu, quick, data, code):
    problem = ask("reports/", "create_report", 422, {"model": upload(data)})
    assert problem["title"] == "The file cannot be judged"
    assert problem["detail"].endswith(".")
    assert code in (None, problem["code"])


def test_an_unknown_target_of_a_report_is_422(ask, relu, quick):
    data = {"model": upload(make_model("Relu")), "target": "tensorrt"}
    problem = ask("reports/", "create_report", 422, data)
    assert problem["code"] == "unknown_target"
    assert '"tensorrt"' in problem["detail"]


def test_a_request_without_a_file_is_400(ask, relu):
    problem = ask("reports/", "create_report", 400, {"target": CPU})
    assert "field model" in problem["detail"]


def test_a_body_above_the_limit_is_refused_before_it_is_read(client, relu, quick, settings):
    settings.UPLOAD_LIMIT_BYTES = -100_000 + 10
    response = client.post("/api/v1/reports/", {"model": upload(make_model("Relu"))})
    assert (response.status_code, response.json()["code"]) == (422, "too_large")


def start(ask, status=201, **body):
    data = json.dumps(body)
    return ask("sweeps/", "start_sweep", status, data, content_type="application/json")


def test_a_sweep_is_started_and_watched(ask):
    target = make_fake_target()
    make_case(make_operator("Relu"))
    make_case(make_operator("Conv"))
    sweep = start(ask, target=target.column.slug, operators=["Relu"])
    assert (sweep["state"], sweep["total"], sweep["done"]) == ("queued", 1, 0)
    Probe.objects.update(state="done", outcome="passed")
    seen = ask(f"sweeps/{sweep['id']}/", "get_sweep")
    assert (seen["done"], seen["outcomes"]) == (1, {"passed": 1})


def test_a_sweep_of_what_nobody_probes_or_nobody_knows_is_422(ask, relu):
    assert start(ask, 422, target="rknn")["code"] == "unknown_target"
    target = make_fake_target()
    problem = start(ask, 422, target=target.slug, operators=["Rellu"])
    assert "Did you mean Relu" in problem["detail"]
    assert start(ask, 400)["detail"] == "target: This field is required."
    assert not Sweep.objects.filter(total__gt=0).exists()


def test_a_sweep_is_closed_to_strangers_on_a_public_server(ask, settings):
    settings.OPEN_SWEEPS = False
    problem = start(ask, 401, target="anything")
    assert 'scope "admin"' in problem["detail"]


def test_a_page_of_another_site_cannot_start_a_sweep(client):
    for content_type in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ):
        response = client.post(
            "/api/v1/sweeps/", data=b'{"target": "x"}', content_type=content_type
        )
        assert response.status_code == 415
