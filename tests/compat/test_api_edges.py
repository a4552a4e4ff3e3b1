"""The API's edges: one shape for every refusal, rates, and long lists in parts."""

import json
import os
import subprocess
import sys

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from compat.tokens import issue_token
from tests.make import make_cell, make_model, make_operator

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def is_problem(response, status, code=None):
    assert response.status_code == status
    assert response["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert set(problem) == {"type", "title", "status", "code", "detail"}
    assert code in (None, problem["code"])
    return problem["detail"]


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete", "options", "trace"])
@pytest.mark.parametrize("path", ["/api/", "/api/v1/", "/api/v1/nothing/", "/api/v2/operators/",
                                  "/api/v1/sweeps/abc/", "/api/v1/../../etc/passwd"])  # fmt: skip
def test_an_address_that_is_none_is_a_problem_document(client, path, method):
    assert "/api/v1/schema/" in is_problem(getattr(client, method)(path), 404, "not_found")


def test_a_missing_slash_is_pointed_at(client):
    assert "There is /api/v1/operators/." in is_problem(client.get("/api/v1/operators"), 404)


def test_pages_keep_their_own_answers(client):
    assert client.get("/nothing/")["Content-Type"].startswith("text/html")


def test_another_method_or_type_is_a_problem_document(client):
    assert "DELETE" in is_problem(client.delete("/api/v1/operators/"), 405, "method_not_allowed")
    url = "/api/v1/operators/"
    is_problem(client.get(url, headers={"Accept": "text/html"}), 406, "not_acceptable")
    is_problem(client.post("/api/v1/reports/", b"x", content_type="text/plain"), 415)
    is_problem(client.post("/api/v1/sweeps/", b"{]", content_type="application/json"), 400)


@pytest.mark.parametrize("accept", ["text/csv", "text/html", "*/*", "application/json"])
def test_the_matrix_as_csv_is_csv_whatever_is_asked_for(client, accept):
    response = client.get("/api/v1/matrix.csv", headers={"Accept": accept})
    assert response["Content-Type"].startswith("text/csv")
    url = "/api/v1/matrix.csv?report=none"
    is_problem(client.get(url, headers={"Accept": accept}), 404)


@pytest.mark.parametrize(
    "url", ["operators/?search=%00", "operators/ai.onnx/%00/", "matrix.csv?domain=a%00b",
            "targets/%00/", "cells/ai.onnx/%00/x/", "reports/%00/"]
)  # fmt: skip
def test_an_address_with_nul_is_refused_before_a_database_chokes_on_it(client, url):
    is_problem(client.get(f"/api/v1/{url}"), 400, "bad_request")
    assert client.get("/?search=%00").status_code == 400


NUL_PAGES = ["/?q=%00", "/?search=a%00b", "/?report=%00", "/reports/%00/", "/reports/x/?target=%00",
             "/colours/?column=%00", "/operators/%00/Conv/", "/operators/ai.onnx/%00/",
             "/targets/%00/", "/cells/ai.onnx/%00/x/", "/cells/ai.onnx/Conv/%00/",
             "/reports/new/?target=%00", "/nothing/%00"]  # fmt: skip


@pytest.mark.parametrize("url", NUL_PAGES)
def test_a_page_with_nul_in_its_address_says_that_it_cannot_be_read(client, url):
    answer = client.get(url)
    assert answer.status_code == 400
    assert "This request cannot be read" in answer.content.decode()


def test_nul_is_refused_unescaped_too_and_in_whatever_way_is_asked(client):
    assert client.get("/", QUERY_STRING="search=a\0b").status_code == 400
    assert client.post("/targets/%00/sweeps/").status_code == 400


def test_nul_in_forms_and_cookies_does_no_harm(client):
    make_cell()
    file = SimpleUploadedFile("a\0b.onnx", make_model("Relu"))
    answer = client.post("/api/v1/reports/", {"target": "a\0b", "model": file})
    assert "no target" in is_problem(answer, 422, "unknown_target")
    file.seek(0)
    assert client.post("/reports/new/", {"target": "a\0b", "file": file}).status_code == 422
    cookies = "; ".join(rf'{name}="a\000b"' for name in ("sessionid", "csrftoken", "theme"))
    assert client.get("/", HTTP_COOKIE=cookies).status_code == 200
    answer = client.get("/api/v1/operators/", headers={"Authorization": "Bearer a\0b"})
    is_problem(answer, 401)


def test_more_parts_than_are_read_are_a_problem_document(client):
    query = "&".join(f"a{at}=1" for at in range(1001))
    answer = client.get(f"/api/v1/operators/?{query}")
    assert "more parameters or fields" in is_problem(answer, 400, "bad_request")
    fields = {f"a{at}": "1" for at in range(1001)}
    assert "fields" in is_problem(client.post("/api/v1/reports/", fields), 400)
    files = {f"a{at}": SimpleUploadedFile("a", b"a") for at in range(101)}
    assert "more files" in is_problem(client.post("/api/v1/reports/", files), 400)
    long = {"target": "a" * 2_500_001}
    assert "too long" in is_problem(client.post("/api/v1/reports/", long), 400)
    host = client.get("/api/v1/operators/", headers={"Host": "elsewhere.example"})
    assert "host" in is_problem(host, 400)
    assert "cannot be read" in client.get(f"/?{query}").content.decode()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"target": "a\\u0000"}', "NUL"),
        (b'{"target": "\\ud800"}', "surrogate"),
        (b'{"x\\u0000": 1}', "NUL"),
        (b"[" * 100_000, "nested"),
        (b'{"target": NaN}', "NaN"),
        (b'{"target": "\xff"}', "no JSON"),
    ],
)
def test_json_that_nothing_can_store_is_refused(client, body, said):
    answer = client.post("/api/v1/sweeps/", body, content_type="application/json")
    assert said in is_problem(answer, 400)


def test_json_that_is_too_long_is_413(client):
    body = b'"' + b"a" * 2_500_001 + b'"'
    answer = client.post("/api/v1/sweeps/", body, content_type="application/json")
    is_problem(answer, 413, "too_large")


LONG = {"CONTENT_LENGTH": str(300_000_000), "content_type": "multipart/form-data; boundary=x"}


@pytest.fixture
def no_parser(monkeypatch):
    def fail(*_):
        raise AssertionError("the body is parsed")

    monkeypatch.setattr("django.http.request.HttpRequest.parse_file_upload", fail)


@pytest.mark.parametrize("path", ["/theme/", "/i18n/setlang/", "/targets/x/sweeps/",
                                  "/sweeps/1/stop/", "/reports/x/", "/"])  # fmt: skip
def test_a_long_body_is_refused_before_its_form_is_looked_into(no_parser, path):
    strict = Client(enforce_csrf_checks=True)
    answer = strict.generic("POST", path, b"--x", **LONG)
    assert answer.status_code == 413
    assert "More was sent than is read here" in answer.content.decode()


@pytest.mark.parametrize("path", ["sweeps/", "devices/", "agent/hello/"])
def test_a_long_body_for_the_api_is_a_problem_document(client, no_parser, path):
    answer = client.generic("POST", f"/api/v1/{path}", b"--x", **LONG)
    assert "2500000 bytes" in is_problem(answer, 413, "too_large")


def test_views_that_take_files_have_limits_of_their_own(client):
    make_cell()
    file = SimpleUploadedFile("a.onnx", b"no model" * 400_000)
    assert client.post("/reports/new/", {"file": file}).status_code == 422
    file.seek(0)
    answer = client.post("/api/v1/reports/", {"model": file})
    is_problem(answer, 422)


def test_our_own_mistakes_are_problems_too(client, monkeypatch):
    def fail(**_):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr("compat.api.operators.load_operators", fail)
    client.raise_request_exception = False
    assert "secret" not in is_problem(client.get("/api/v1/operators/"), 500, "internal")


@pytest.fixture
def rated(settings):
    settings.API_RATES = {"read": "3/min"}
    cache.clear()
    yield
    cache.clear()


def test_who_asks_too_often_is_told_when_to_come_back(client, rated):
    left = [client.get("/api/v1/operators/")["RateLimit-Remaining"] for _ in range(3)]
    assert left == ["2", "1", "0"]
    late = client.get("/api/v1/targets/")
    is_problem(late, 429, "throttled")
    assert 0 < int(late["Retry-After"]) <= 60
    assert late["RateLimit-Limit"] == "3"
    assert 0 < int(late["RateLimit-Reset"]) <= 60


def test_each_token_and_each_address_has_its_own_rate(client, rated):
    for _ in range(4):
        last = client.get("/api/v1/operators/")
    assert last.status_code == 429
    _, secret = issue_token(name="ci", scopes=["read"])
    headers = {"Authorization": f"Bearer {secret}"}
    assert client.get("/api/v1/operators/", headers=headers).status_code == 200
    assert client.get("/api/v1/operators/", REMOTE_ADDR="10.0.0.9").status_code == 200
    forged = {"X-Forwarded-For": "10.0.0.8"}  # no proxy stands before the embedded site
    assert client.get("/api/v1/operators/", headers=forged).status_code == 429
    answer = client.post("/api/v1/reports/", b"{}", content_type="application/json")
    assert answer.status_code == 400  # another scope, without a rate here


def test_the_embedded_site_has_no_rate(client, settings):
    assert settings.API_RATES == {}
    assert "RateLimit-Limit" not in client.get("/api/v1/operators/")


def load_settings(**environment):
    return subprocess.run(
        [sys.executable, "-c", "from compat.settings import API_RATES; print(API_RATES)"],
        env=os.environ | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_rates_come_from_the_environment_and_fail_loudly():
    assert "{'read': '5/hour'}" in load_settings(OPATLAS_RATES="read=5/hour").stdout
    wrong = load_settings(OPATLAS_RATES="read=many")
    assert wrong.returncode == 1
    assert "write read=many like read=1200/min" in wrong.stderr


def names(response):
    return [row["name"] for row in response.json()]


def test_a_long_list_comes_in_parts(client):
    for name in "ABCDE":
        make_cell(make_operator(name))
    url = "/api/v1/operators/?search="
    assert names(client.get(url)) == list("ABCDE")
    seen, address = [], f"{url}&limit=2"
    while address:
        part = client.get(address)
        assert part["X-Total-Count"] == "5"
        seen.append(names(part))
        link = part.get("Link", "")
        address = link.removeprefix("<http://testserver").removesuffix('>; rel="next"')
    assert seen == [["A", "B"], ["C", "D"], ["E"]]
    assert names(client.get(f"{url}&offset=99")) == []


@pytest.mark.parametrize("path", ["operators", "targets", "devices"])
@pytest.mark.parametrize("query", ["limit=0", "limit=x", "limit=9999", "offset=-1", "offset=1e9"])
def test_a_part_that_is_none_is_refused(client, path, query):
    assert query.partition("=")[0] in is_problem(client.get(f"/api/v1/{path}/?{query}"), 400)


def test_a_problem_is_json_for_every_accept_header(client):
    response = client.get("/api/v1/nothing/", headers={"Accept": "text/html"})
    assert json.loads(response.content)["status"] == 404
