import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from compat.reports import ReportError
from tests.make import make_cell, make_column, make_operator, make_target
from tests.webui.make import make_finding, make_report, make_site

pytestmark = pytest.mark.django_db


def upload(client, content=b"not a model", **fields):
    return client.post("/reports/new/", {"file": SimpleUploadedFile("m.onnx", content), **fields})


def test_targets_are_offered_by_class_of_device_and_may_be_chosen_by_link(client):
    make_cell(make_operator(), make_column())
    page = client.get(f"/reports/new/?target={make_column().slug}").content.decode()
    assert "<legend>x86 CPU</legend>" in page
    assert f'value="{make_column().slug}" checked' in page


@pytest.mark.parametrize("fields", [{}, {"file": ""}])
def test_a_form_without_a_file_is_422_with_a_sentence(client, fields):
    page = client.post("/reports/new/", fields)
    assert page.status_code == 422
    assert "Choose an ONNX file first." in page.content.decode()


def test_a_file_that_is_no_model_is_422_with_a_sentence_and_keeps_the_choice(client):
    make_cell(make_operator(), make_column())
    page = upload(client, target=make_column().slug, keep="1")
    html = page.content.decode()
    assert page.status_code == 422
    assert 'role="alert"' in html
    assert "ONNX" in html
    assert " checked" in html


def test_an_unknown_target_is_422_with_a_sentence(client):
    page = upload(client, target="nothing")
    assert page.status_code == 422


def test_a_body_over_the_limit_is_refused_before_it_is_read(settings):
    settings.UPLOAD_LIMIT_BYTES = 10
    page = Client(enforce_csrf_checks=True).post(
        "/reports/new/", {"file": SimpleUploadedFile("m.onnx", b"x" * 200_000)}
    )
    assert page.status_code == 422
    assert "too large" in page.content.decode()


def test_a_refusal_is_said_in_the_language_of_the_page(client, monkeypatch):
    def refuse(**_):
        raise ReportError("empty", "The file is empty: upload an ONNX model.")

    monkeypatch.setattr("webui.views.reports.submit_model", refuse)
    client.cookies["django_language"] = "zh-hans"
    assert "文件是空的" in upload(client).content.decode()


def test_an_accepted_model_leads_to_its_report(client, monkeypatch):
    report, asked = make_report(), {}
    monkeypatch.setattr("webui.views.reports.submit_model", lambda **a: asked.update(a) or report)
    page = upload(client, b"x", target=["a", "b"], keep="1")
    assert page.url == f"/reports/{report.token}/"
    assert (asked["file_name"], asked["target_names"], asked["keep"]) == (
        "m.onnx",
        ["a", "b"],
        True,
    )


def test_a_finding_tells_reason_kind_rung_place_and_advice(client):
    probe = make_site()
    report = make_report([make_finding(evidence_ref=probe.pk)], target=probe.target.slug)
    page = client.get(f"/reports/{report.token}/").content.decode()
    for words in (
        "This very node fails: refused at loading: no kernel.",
        "Measured on the device",
        "evidence about this very node, confidence very high",
        "then_branch/",
        "conv1",
        "float[1,?,8,8]",
        "Replace the node by operators that work",
    ):
        assert words in page
    assert f'href="/probes/{probe.pk}/"' in page


def test_a_claim_leads_to_its_cell_not_to_a_probe(client):
    make_site()
    finding = make_finding("yellow", "documented", "documented", evidence_ref=7)
    report = make_report([finding], target="rk3588.rknn.default@")
    page = client.get(f"/reports/{report.token}/").content.decode()
    assert "/cells/ai.onnx/Conv/rk3588.rknn.default/" in page
    assert "/probes/7/" not in page


def test_unknown_stands_apart_at_the_end_and_free_nodes_beside(client):
    free = make_finding("green", "none", "none", reason={"code": "constant", "params": {}})
    report = make_report([make_finding("unknown", "none", "none"), make_finding("red"), free])
    page = client.get(f"/reports/{report.token}/").content.decode()
    assert page.index('id="level-red"') < page.index('id="level-unknown"') < page.index('id="free"')
    assert 'id="level-green"' not in page


def test_a_finding_of_the_whole_model_has_no_operator(client):
    finding = make_finding(operator=["", ""], nodes=[], signature=None)
    page = client.get(f"/reports/{make_report([finding]).token}/").content.decode()
    assert "The whole model" in page


def test_another_target_is_opened_by_its_link(client):
    report = make_report()
    other = make_target("2.0").slug
    report.results.append(report.results[0] | {"id": other, "findings": []})
    report.save()
    page = client.get(f"/reports/{report.token}/?target={other}").content.decode()
    assert page.count('aria-current="true"') == 1
    assert 'id="level-red"' not in page


@pytest.mark.parametrize(("state", "sentence"), [
    ("queued", "The model is being read"), ("failed", "The graph is odd"),
])  # fmt: skip
def test_a_report_that_is_not_ready_says_why(client, state, sentence):
    report = make_report(state=state, error="The graph is odd")
    assert sentence in client.get(f"/reports/{report.token}/").content.decode()


def test_a_report_is_neither_cached_nor_indexed(client):
    page = client.get(f"/reports/{make_report().token}/")
    assert page["Cache-Control"] == "private, no-store"
    assert 'content="noindex"' in page.content.decode()


@pytest.mark.parametrize("operator", [["", "Custom"], ["a/b", "c/d"], ["\n", "<i>"], ["", ""]])
def test_names_that_no_address_can_hold_do_no_harm(client, operator):
    report = make_report([make_finding(operator=operator)])
    page = client.get(f"/reports/{report.token}/")
    assert page.status_code == 200
    assert "<i>" not in page.content.decode()


def test_claims_of_a_report_are_never_drawn_or_told_as_measurements(client):
    make_site()
    claims = [make_finding(level, "documented", "documented") for level in ("red", "yellow")]
    report = make_report(claims, target="rk3588.rknn.default")
    report.results[0]["totals"] |= {"red": 1, "yellow": 1, "nodes": 2}
    report.save()
    page = client.get(f"/reports/{report.token}/").content.decode()
    assert not re.search(r'class="chip [gyr] m', page)
    assert "Listed as unsupported; nothing was run" in page
    for word in ("fails", "Does not work", "Works with limits"):
        assert word not in page, word


def test_what_ran_and_what_is_claimed_stand_apart_in_one_report(client):
    make_site()
    report = make_report([make_finding(), make_finding("red", "documented", "documented")])
    report.results[0]["totals"] |= {"red": 2, "nodes": 2}
    report.save()
    page = client.get(f"/reports/{report.token}/").content.decode()
    assert page.index('id="level-red"') < page.index('id="level-red-claimed"')
    assert 'class="chip r m"' in page


def test_a_cut_restriction_is_told_in_full(client):
    limits = "pads_top,pads_left,pads_bottom,pads_right in [0, 15]; multi_core=yes"
    make_site(message=limits)
    detail = {"code": "claim_partial_says", "params": {"source": "a list"}}
    detail["params"]["restriction"] = limits[:20] + "…"
    finding = make_finding("yellow", "documented", "documented", detail=detail)
    report = make_report([finding], target="rk3588.rknn.default")
    page = client.get(f"/reports/{report.token}/").content.decode()
    assert limits in re.sub(r"</?abbr[^>]*>", "", page)
    assert 'href="/about/#glossary"' in page


def test_a_form_shows_what_is_compared_with_a_limit(client):
    report = make_report()
    report.facts["signatures"][0] = {
        "domain": "ai.onnx", "op": "Conv", "since": 11,
        "inputs": [{"dtype": "float", "shape": [1, 3, 8, 8], "const": False}],
        "attrs": {"auto_pad": "NOTSET", "group": 1, "pads": [0, 0, 0, 0], "strides": [9, 9]},
    }  # fmt: skip
    report.save()
    page = client.get(f"/reports/{report.token}/").content.decode()
    assert "float[1,3,8,8] · strides=[9, 9]" in page


def test_a_refusal_names_in_the_pages_language_what_the_file_is(client):
    client.cookies["django_language"] = "zh-hans"
    page = upload(client, b"hello, this is a letter\n").content.decode()
    assert "文本文件" in page
    assert "a text file" not in page


def test_keeping_a_file_says_for_what_and_for_how_long(client):
    page = client.get("/reports/new/").content.decode()
    assert "Keep the file for 30 days" in page
    assert "remedy" in page


@pytest.mark.parametrize("name", ["items", "keys", "values"])
def test_a_domain_may_have_any_name(client, name):
    report = make_report()
    report.facts["model"]["opsets"] = {"ai.onnx": 17, name: 3}
    report.save()
    page = client.get(f"/reports/{report.token}/").content.decode()
    assert "ai.onnx 17" in page
    assert f"{name} 3" in page


def test_a_report_is_deleted_with_its_kept_file_by_whoever_has_its_link(client, settings, tmp_path):
    settings.UPLOAD_DIR = tmp_path
    report = make_report()
    kept = tmp_path / f"{report.token}.onnx"
    kept.write_bytes(b"x")
    path = f"/reports/{report.token}/delete/"
    assert f'action="{path}"' in client.get(f"/reports/{report.token}/").content.decode()
    assert client.get(path).status_code == 405
    assert Client(enforce_csrf_checks=True).post(path).status_code == 403
    page = client.post(path, follow=True)
    assert "The report is deleted" in page.content.decode()
    assert not kept.exists()
    assert client.get(f"/reports/{report.token}/").status_code == 404
    assert client.post(path).status_code == 404


def test_a_kept_file_says_until_when_and_for_what(client):
    report = make_report(kept_until=timezone.now() + timedelta(days=3))
    page = client.get(f"/reports/{report.token}/").content.decode()
    assert f"kept until {report.kept_until:%Y-%m-%d}, since a remedy" in page
