import re
from datetime import UTC, datetime

import pytest
from django.utils import translation

from compat.models import Cell, Sweep
from tests.make import (
    make_case,
    make_cell,
    make_column,
    make_device,
    make_operator,
    make_probe,
    make_sweep,
    make_target,
)
from tests.webui.make import HOSTILE, make_finding, make_report, make_site

pytestmark = pytest.mark.django_db

COLUMN = "test-cpu.onnxruntime-cpu.default"
EMPTY_PAGES = [
    "/", "/colours/", "/targets/", "/devices/", "/reports/new/", "/about/", "/colours.csv",
    "/contradictions/", "/contradictions.csv",
]  # fmt: skip


def all_pages(probe, report):
    return [
        *EMPTY_PAGES,
        "/?view=all&show=latency",
        "/operators/ai.onnx/Conv/",
        f"/targets/{COLUMN}/",
        f"/cells/ai.onnx/Conv/{COLUMN}/",
        "/cells/ai.onnx/Conv/rk3588.rknn.default/",
        f"/probes/{probe.pk}/",
        f"/sweeps/{probe.sweep_id}/",
        f"/reports/{report.token}/",
    ]


def load_all(client, **fields):
    """Every page of a site whose every text is hostile."""
    probe = make_site(title=HOSTILE, message=HOSTILE)
    finding = make_finding(reason={"code": HOSTILE, "params": {}}, evidence_ref=probe.pk)
    report = make_report([finding], name=HOSTILE, node=HOSTILE, target=probe.target.slug)
    return {path: client.get(path, **fields) for path in all_pages(probe, report)}


@pytest.mark.parametrize("path", EMPTY_PAGES)
def test_a_page_without_data_renders(client, path):
    assert client.get(path).status_code == 200


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_page_with_data_renders_and_escapes(client, language):
    client.cookies["django_language"] = language
    for path, page in load_all(client).items():
        content = b"".join(page) if page.streaming else page.content
        assert page.status_code == 200, path
        if "html" in page["Content-Type"]:
            assert b"<script>alert" not in content, path


def test_no_page_needs_what_its_policy_forbids(client):
    """No inline script, style or handler, nothing from another host."""
    for path, page in load_all(client).items():
        if page.streaming:
            continue
        html = page.content.decode()
        assert "default-src 'self'" in page["Content-Security-Policy"]
        assert not re.search(r"<(script|style)(?![^>]* src=)[^>]*>", html), path
        assert not re.search(r"<[a-z][^<>]*\s(style|on[a-z]+)=", html), path
        assert not re.search(r"(src|href|action)=[\"']?(https?:)?//", html), path


def test_every_page_has_a_heading_a_title_a_language_and_a_skip_link(client):
    for path, page in load_all(client).items():
        if page.streaming:
            continue
        html = page.content.decode()
        assert len(re.findall("<h1", html)) == 1, path
        assert re.search(r'<html lang="en"', html), path
        assert re.search(r"<title>[^<]*\S · OpAtlas</title>", html), path
        assert 'href="#main"' in html, path
        assert 'id="main"' in html, path
        heads = re.findall(r"<th(?![^>]*scope=)[ >]", html)
        assert not heads, path


def test_the_language_follows_the_browser_and_the_switch(client):
    page = client.get("/about/", headers={"Accept-Language": "zh-CN"})
    assert 'lang="zh-Hans"' in page.content.decode()
    client.post("/i18n/setlang/", {"language": "zh-hans", "next": "/about/"})
    assert "证据" in client.get("/about/").content.decode()


@pytest.mark.parametrize("path", [
    "/operators/ai.onnx/Nothing/", "/targets/nothing/", "/probes/1/", "/reports/nothing/",
    "/cells/ai.onnx/Conv/nothing/", "/c/1/1", "/sweeps/1/", "/nowhere/", "/probes/1/model.onnx",
])  # fmt: skip
def test_what_does_not_exist_is_404_with_a_way_on(client, path):
    page = client.get(path)
    assert page.status_code == 404
    assert "To the matrix" in page.content.decode()


def test_the_theme_is_kept_and_goes_back_to_this_site_only(client):
    page = client.post("/theme/", {"theme": "dark", "next": "https://example.org/"})
    assert page.url == "/"
    assert client.post("/theme/", {"theme": "dark", "next": "/about/"}).url == "/about/"
    assert 'data-theme="dark"' in client.get("/about/").content.decode()
    assert client.get("/theme/").status_code == 405


@pytest.mark.parametrize(
    "next_page", ["foo", "?q=1", "", "//example.org/", "/\\example.org", "http:///x",
                  "webui:matrix", "\0", "//[", "javascript:alert(1)"]
)  # fmt: skip
def test_the_theme_goes_back_to_a_path_and_to_nothing_else(client, next_page):
    page = client.post("/theme/", {"theme": "dark", "next": next_page})
    assert (page.status_code, page.url) == (302, "/")


def test_a_cell_tells_its_reason_its_evidence_and_its_claims(client):
    probe = make_site(message="no kernel for it")
    page = client.get(f"/cells/ai.onnx/Conv/{COLUMN}/").content.decode()
    assert "refused at loading: no kernel for it" in page
    assert f"/probes/{probe.pk}/" in page
    assert "contradict each other" in page
    claimed = client.get("/cells/ai.onnx/Conv/rk3588.rknn.default/").content.decode()
    assert "supported with limits" in claimed
    assert "Operators of a test compiler" in claimed


def test_failures_come_first_and_many_passes_are_folded(client):
    operator, target = make_operator("Conv"), make_target()
    make_cell(operator, target.column, target=target)
    for number in range(14):
        make_probe(make_case(operator, f"node/a{number}", core=False), target)
    make_probe(make_case(operator, "node/z", core=False), target, "crashed")
    page = client.get(f"/cells/ai.onnx/Conv/{COLUMN}/").content.decode()
    assert page.index("node/<wbr>z") < page.index("14 probes that passed") < page.index("a13")


def test_evidence_says_outcome_stage_fault_errors_latency_and_environment(client):
    probe = make_site(message="no kernel")
    page = client.get(f"/probes/{probe.pk}/").content.decode()
    for words in ("refused", "loading", "the runtime&#x27;s", "0.6 ms", "Test CPU", "no kernel"):
        assert words in page
    assert f"/probes/{probe.pk}/model.onnx" in page


def test_a_target_page_lists_its_device_and_what_fails(client):
    make_site(message="no kernel")
    page = client.get(f"/targets/{COLUMN}/").content.decode()
    assert "Memory (GB)" in page
    assert "refused at loading: no kernel" in page
    assert "Start a sweep" not in page


def test_the_three_colour_list_names_the_worst_column_and_why(client):
    make_site(message="no kernel")
    page = client.get("/colours/").content.decode()
    assert "refused at loading: no kernel" in page
    assert "and 1 more" not in page
    only = client.get("/colours/?column=rk3588.rknn.default").content.decode()
    assert "supported with limits: no kernel" in only


def test_the_three_colour_file_holds_the_sentences(client):
    make_site(message="=1+1")
    text = b"".join(client.get("/colours.csv")).decode()
    assert text.splitlines()[1].startswith("ai.onnx,Conv,red,avoid,measured,")
    assert "refused at loading: =1+1" in text


def test_a_sweep_shows_its_progress_and_polls_while_it_runs(client):
    probe = make_site()
    Sweep.objects.filter(pk=probe.sweep_id).update(state="running", total=4)
    page = client.get(f"/sweeps/{probe.sweep_id}/").content.decode()
    assert "1 of 4 probes" in page
    assert 'hx-trigger="every 2s"' in page
    assert '<noscript><meta http-equiv="refresh"' in page


def test_a_sweep_that_does_not_move_says_who_is_waited_for(client):
    sweep = make_sweep(make_target(), state="running", total=1)
    until = datetime(2026, 11, 29, 16, 59, 10, tzinfo=UTC)
    make_probe(sweep=sweep, state="claimed", outcome="", latest=False, lease_until=until)
    page = client.get(f"/sweeps/{sweep.pk}/").content.decode()
    assert "1 with a worker, offered again at 16:59:10 UTC if it stays silent" in page
    assert " left" not in page


def test_a_sweep_is_stopped_and_resumed_by_buttons(client):
    sweep = make_sweep(make_target(), state="running", total=4)
    make_probe(sweep=sweep, state="queued", outcome="")
    assert client.get(f"/sweeps/{sweep.pk}/stop/").status_code == 405
    client.post(f"/sweeps/{sweep.pk}/stop/")
    assert Sweep.objects.get().state == "stopped"
    assert "/resume/" in client.get(f"/sweeps/{sweep.pk}/").content.decode()
    client.post(f"/sweeps/{sweep.pk}/resume/")
    assert Sweep.objects.get().state == "queued"


def test_a_sweep_starts_on_this_machines_own_targets_only(client, monkeypatch):
    make_case(make_operator("Conv"))
    target = make_target()
    assert client.post(f"/targets/{COLUMN}/sweeps/").status_code == 404
    monkeypatch.setattr("compat.fleet.local_targets", lambda: [target])
    assert "Start a sweep" in client.get(f"/targets/{COLUMN}/").content.decode()
    page = client.post(f"/targets/{COLUMN}/sweeps/")
    assert page.url == f"/sweeps/{Sweep.objects.get().pk}/"


def test_visitors_of_a_closed_site_cannot_make_its_machine_work(client, monkeypatch, settings):
    settings.OPEN_SWEEPS = False
    sweep = make_sweep(make_target(), state="running", total=4)
    make_probe(sweep=sweep, state="queued", outcome="")
    monkeypatch.setattr("compat.fleet.local_targets", lambda: [sweep.target])
    assert "Start a sweep" not in client.get(f"/targets/{COLUMN}/").content.decode()
    assert "/stop/" not in client.get(f"/sweeps/{sweep.pk}/").content.decode()
    for path in (f"/targets/{COLUMN}/sweeps/", f"/sweeps/{sweep.pk}/stop/"):
        answer = client.post(path)
        assert answer.status_code == 403
        assert "does not let its visitors" in answer.content.decode()
    assert Sweep.objects.get().state == "running"


def test_forms_are_refused_without_their_token(client):
    from django.test import Client

    strict = Client(enforce_csrf_checks=True)
    for path in ("/reports/new/", "/theme/", f"/targets/{make_column().slug}/sweeps/"):
        page = strict.post(path, {})
        assert page.status_code == 403, path
        assert "could not be accepted" in page.content.decode(), path


def test_queries_of_a_cell_do_not_grow_with_its_probes(client, django_assert_max_num_queries):
    operator, target = make_operator("Conv"), make_target()
    make_cell(operator, target.column, target=target)
    for _ in range(6):
        make_probe(make_case(operator), target)
    with django_assert_max_num_queries(7), translation.override("en"):
        client.get(f"/cells/ai.onnx/Conv/{COLUMN}/")


def test_every_link_of_the_frame_leads_somewhere(client):
    """The schema of the API among them: there is no page at /api/v1/ itself."""
    frame = client.get("/about/").content.decode()
    links = set(re.findall(r'<a [^>]*?href="(/[^"]*)"', frame))
    assert any("schema" in link for link in links)
    for link in links:
        assert client.get(link).status_code == 200, link


def test_node_tests_that_stand_in_for_a_core_are_called_node_tests(client):
    operator, target = make_operator("Acosh"), make_target()
    make_cell(
        operator, target.column, "red", target=target, core_total=2, core_passed=0,
        reason_code="core_none", reason_params={"total": 2, "outcomes": ["rejected"]},
    )  # fmt: skip
    make_probe(make_case(operator, "node/a", core=False), target, "rejected")
    for path in (f"/cells/ai.onnx/Acosh/{COLUMN}/", "/operators/ai.onnx/Acosh/"):
        page = client.get(path).content.decode()
        assert "none of 2 node tests passes" in page, path
        assert "core cases" not in page.partition("<footer")[0].lower(), path
    client.cookies["django_language"] = "zh-hans"
    page = client.get(f"/cells/ai.onnx/Acosh/{COLUMN}/").content.decode()
    assert "2 个节点测试" in page


def test_a_cell_says_between_which_times_its_latency_lies(client):
    operator, target = make_operator("Conv"), make_target()
    make_cell(operator, target.column, target=target, p50_ms=2.0)
    for number, time in enumerate((1.0, 2.0, 4.0)):
        make_probe(make_case(operator, f"mainstream/a{number}"), target, p50_ms=time)
    page = client.get(f"/cells/ai.onnx/Conv/{COLUMN}/").content.decode()
    assert "median over 3 timed cases, which take from 1 ms to 4 ms" in page
    assert "1 ms – 4 ms" in client.get("/operators/ai.onnx/Conv/").content.decode()


def test_a_cell_and_its_operator_tell_a_claim_in_full(client):
    limits = "kernel_h,kernel_w in [1, 31]; " * 6 + "the end"
    make_site(message=limits)
    Cell.objects.filter(kind="documented").update(
        reason_params={"source": "a list", "restriction": limits[:100] + "…"}
    )
    for path in ("/cells/ai.onnx/Conv/rk3588.rknn.default/", "/operators/ai.onnx/Conv/"):
        assert f"supported with limits: {limits}" in client.get(path).content.decode(), path


def test_the_picture_of_samples_has_words(client):
    page = client.get(f"/probes/{make_site().pk}/").content.decode()
    assert "2 samples, from 0.5 ms to 0.7 ms" in page
    assert "<figcaption" in page


def test_our_own_texts_in_titles_are_translated(client):
    device = make_device(title="CPU (recorded sweep 2026-11-29)", source="recorded sweep")
    make_cell(make_operator(), make_column(device=device))
    client.cookies["django_language"] = "zh-hans"
    for path in ("/", "/targets/", f"/targets/{COLUMN}/", "/operators/ai.onnx/Conv/"):
        assert "recorded sweep" not in client.get(path).content.decode(), path


def test_a_device_may_name_its_facts_as_it_likes(client):
    probe = make_site()
    named = {"items": 1, "keys": "k", "values": "v"}
    for row, field in ((probe.environment, "facts"), (probe.target.column, "config"),
                       (probe.target.column.device, "facts")):  # fmt: skip
        setattr(row, field, named)
        row.save()
    for path in (f"/targets/{COLUMN}/", f"/probes/{probe.pk}/"):
        assert "<dd>k</dd>" in client.get(path).content.decode(), path
