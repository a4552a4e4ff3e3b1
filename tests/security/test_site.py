"""What a reviewer of the site's security looks for, page by page."""

import json
import logging
import re

import pytest
from django.conf import settings as site
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import get_resolver

from compat.logs import PlainLines
from compat.models import Report
from compat.reports import delete_report
from compat.uploads import kept_path
from tests.make import make_cell, make_model, make_operator

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

PAGES = (
    *("/", "/colours/", "/contradictions/", "/targets/", "/devices/", "/about/", "/reports/new/"),
    "/no-such-page/",
)


@pytest.fixture
def report(tmp_path, settings, client):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    make_cell(make_operator("Relu"))
    file = SimpleUploadedFile("m.onnx", make_model("Relu"))
    token = client.post("/api/v1/reports/", {"model": file, "keep": "1"}).json()["token"]
    return Report.objects.get(token=token)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_runs_nothing_but_its_own_files_and_cannot_be_framed(path, client):
    page = client.get(path)
    policy = page["Content-Security-Policy"]
    assert "unsafe" not in policy
    for rule in ("default-src 'self'", "object-src 'none'", "base-uri 'none'",
                 "form-action 'self'", "frame-ancestors 'none'"):  # fmt: skip
        assert rule in policy
    assert page["X-Content-Type-Options"] == "nosniff"
    assert page["X-Frame-Options"] == "DENY"
    assert page["Referrer-Policy"] == "same-origin"
    html = page.content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>|\son\w+=|javascript:|\sstyle=", html)


def test_every_page_that_changes_something_wants_the_forms_token(report):
    strict = Client(enforce_csrf_checks=True)
    for path in ("/theme/", f"/reports/{report.token}/delete/", "/reports/new/"):
        assert strict.post(path, {"theme": "dark"}).status_code == 403
    assert Report.objects.exists()


@pytest.mark.parametrize(
    ("has_cookie", "headers"),
    [
        (False, {}),
        (True, {"Origin": "https://evil.example"}),
        (True, {"Origin": "null"}),
    ],
)
def test_what_another_site_sends_is_refused_before_its_file_is_read(has_cookie, headers):
    strict = Client(enforce_csrf_checks=True)
    token = strict.get("/reports/new/").context["csrf_token"]
    if not has_cookie:
        strict.cookies.clear()
    file = SimpleUploadedFile("m.onnx", b"x" * 100_000)
    data = {"csrfmiddlewaretoken": str(token), "file": file}
    answer = strict.post("/reports/new/", data, headers=headers)
    assert answer.status_code == 403
    assert not answer.wsgi_request._read_started


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)",
     "https:evil.example", "\t//evil.example", "http:///evil.example"],
)  # fmt: skip
def test_no_form_sends_one_to_another_site(elsewhere, client):
    answer = client.post("/theme/", {"theme": "dark", "next": elsewhere})
    assert answer["Location"] == "/"


def test_cookies_are_not_for_scripts_and_stay_on_the_site(client):
    cookie = client.post("/theme/", {"theme": "dark"}).cookies["theme"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert site.SESSION_COOKIE_HTTPONLY
    assert site.SESSION_COOKIE_SAMESITE == site.CSRF_COOKIE_SAMESITE == "Lax"


@pytest.mark.parametrize("path", ["/static/", "/static/webui/", "/static/../settings.py",
                                  "/static/%2e%2e/%2e%2e/compat/settings.py", "/var/",
                                  "/uploads/", "/.git/config"])  # fmt: skip
def test_no_folder_is_listed_and_none_beside_the_static_files_is_served(path, client):
    assert client.get(path).status_code == 404


def test_there_is_no_administration_to_guess_a_password_for(client):
    assert "django.contrib.admin" not in site.INSTALLED_APPS
    names = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    assert not [name for name in names if "login" in name or "admin" in name]
    assert client.get("/admin/").status_code == 404


def test_a_report_has_a_link_that_nobody_guesses_and_nothing_keeps(report, client):
    assert len(set(report.token)) > 8
    assert len(report.token) >= 22  # 128 bits and more
    page = client.get(f"/reports/{report.token}/")
    assert "no-store" in page["Cache-Control"]
    assert page["X-Robots-Tag"] == "noindex"
    assert client.get(f"/reports/{report.token[:-1]}/").status_code == 404
    assert report.token not in client.get("/").content.decode()


def test_uploads_are_counted_on_the_page_and_the_api_together(client, settings):
    settings.API_RATES = {"reports": "3/min"}
    cache.clear()
    answers = [client.post(path, {}).status_code for path in ("/reports/new/", "/api/v1/reports/")]
    answers += [client.post("/reports/new/", {}).status_code for _ in range(2)]
    refused = client.post("/reports/new/", {})
    assert answers == [422, 400, 422, 429]
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 60
    assert "try again in" in refused.content.decode()
    assert client.get("/reports/new/").status_code == 200
    cache.clear()


def test_a_deleted_report_is_gone_with_its_file(report, client):
    kept = kept_path(report.token)
    assert kept.exists()
    assert client.get(f"/reports/{report.token}/delete/").status_code == 405
    assert client.post(f"/reports/{report.token}/delete/")["Location"] == "/reports/new/"
    assert not kept.exists()
    assert not Report.objects.exists()
    assert client.get(f"/reports/{report.token}/").status_code == 404
    assert client.get(f"/api/v1/reports/{report.token}/").status_code == 404
    assert client.post(f"/reports/{report.token}/delete/").status_code == 404


def test_a_token_names_a_report_and_never_a_path(report):
    for token in ("../../etc/passwd", "", "%2e%2e", report.token.upper() + "x", "a\0"):
        assert not delete_report(token)
    assert Report.objects.exists()


@pytest.mark.parametrize("secret", ["", "opa_", "opa_\0", "x" * 10_000, "opa_\u00e9", "' OR 1=1"])
def test_a_wrong_token_is_401_and_says_nothing_of_right_ones(secret, client):
    answer = client.post(
        "/api/v1/agent/claims/",
        json.dumps({}),
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}".encode().decode("latin-1")},
    )
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Not Found: /a\nINFO forged", "Not Found: /a\ufffdINFO forged"),
        ("\x1b[31mred\u202e", "\ufffd[31mred\ufffd"),
        ("/reports/abcdefghijklmnop1234567890abcdef/", "/reports/abcdef.../"),
        ("GET /?report=abcdefghijklmnop1234567890ab", "GET /?report=abcdef..."),
        ("/reports/new/", "/reports/new/"),
    ],
)
def test_a_log_line_is_one_line_and_opens_no_report(text, written):
    record = logging.LogRecord("x", logging.INFO, "f", 1, "%s", (text,), None)
    assert PlainLines().filter(record)
    assert record.getMessage() == written


@pytest.mark.parametrize(
    "path",
    [
        *("/targets/%00/", "/reports/%00/", "/cells/a/b/%00/", "/operators/ai.onnx/%00/"),
        *("/?q=%00", "/?report=%00", "/?column=%00&view=%ff", "/colours/?column=%00"),
        *("/contradictions/?q=%00", "/contradictions.csv?column=%00&kind=%ff"),
        *("/api/v1/reports/%00/", "/api/v1/matrix/?column=%00", "/api/v1/operators/?q=%00"),
        *(f"/{page}/{'9' * 20}/" for page in ("probes", "sweeps")),
        f"/c/{'9' * 20}/1",
    ],
)
def test_an_address_of_nonsense_is_no_failure(path, client):
    assert client.get(path).status_code < 500
