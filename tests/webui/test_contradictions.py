"""The contradictions as a page: both sides, filters, parts, and nothing of a stranger unescaped."""

import csv
import re
from time import process_time

import pytest

from compat.models import Cell, Operator, Probe
from probes.judge.contradiction import DIRECTIONS, RELATIONS
from tests.disputes import RKNN, fill, make_dispute
from tests.make import make_cell, make_claim, make_column, make_device, make_operator, make_source
from tests.webui.make import HOSTILE
from webui.contradictions import DIRECTION_NOTES, RELATION_WORDS, VERSION_NOTES
from webui.views.contradictions import SHOWN

pytestmark = pytest.mark.django_db


def text_of(page):
    """The words of a page, tags taken away."""
    body = re.search(r"<main.*</main>", page.content.decode(), re.S)[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def listed(page):
    return re.findall(r'<h3><a href="/operators/ai.onnx/(\w+)/"', page.content.decode())


def sheet(client, query=""):
    lines = b"".join(client.get(f"/contradictions.csv{query}")).decode().splitlines(keepends=True)
    return list(csv.DictReader(lines))


def test_both_sides_with_their_versions_and_what_may_explain_it(client):
    source = make_source(title="RKNN list", place="toolkit@59a9:doc/list.pdf")
    probe = make_dispute(restriction="batch=1", unit="NPU", dtypes="int8;fp16", source=source)
    page = client.get("/contradictions/")
    text = text_of(page)
    for part in (
        "Listed as supported, fails", "The list, for 2.3.2", "supported NPU", "batch=1",
        "int8;fp16", "RKNN list", "toolkit@59a9:doc/list.pdf", "The probe, with 2.5.0",
        "fails simulated on a host", "Refused at compilation: E RKNN", "refused compilation",
        "The list is older: support may have been lost in between.",
    ):  # fmt: skip
        assert part in text, part
    assert re.sub("<wbr>", "", page.content.decode()).count(probe.case.name) == 1


def test_every_link_of_a_row_leads_somewhere(client):
    probe = make_dispute()
    page = client.get("/contradictions/").content.decode()
    links = re.findall(r'href="(/(?:probes|cells|targets|operators)/[^"]*)"', page)
    assert f"/probes/{probe.pk}/" in links
    assert f"/probes/{probe.pk}/reproducer.zip" in links
    assert f"/cells/ai.onnx/Relu/{RKNN}/" in links
    for link in links:
        if not link.endswith(".zip"):  # its case is not stored in this test
            assert client.get(link).status_code == 200, link


def test_a_list_without_the_operator_is_not_said_to_refuse_it(client):
    make_dispute(level="none", outcome="passed", restriction="absent_from_list; no kernel")
    make_dispute("Conv", level="none", outcome="passed", restriction="not on HTP")
    assert text_of(client.get("/contradictions/")).count("does not name the operator at all") == 1


def test_what_the_runtime_says_is_shown_once(client):
    make_dispute()
    probe = make_dispute("Conv", outcome="mismatch")
    Probe.objects.filter(pk=probe.pk).update(message="output 0 is wrong")
    text = text_of(client.get("/contradictions/"))
    assert text.count("the input need to be constant") == 1
    assert text.count("output 0 is wrong") == 1


def test_other_documents_are_told_beside_the_one_that_speaks(client):
    make_claim(make_operator("Relu"), "rknn", "none", device_class="rk3588",
               source=make_source("other"), runtime_version="2.0")  # fmt: skip
    make_dispute()
    assert "Other documents of this runtime say: not supported" in text_of(
        client.get("/contradictions/")
    )


@pytest.fixture
def several():
    """One of each of three directions on the RK3588, and one on Snapdragon."""
    make_dispute("Relu")
    make_dispute("Abs", "none", "passed", version="2.3.2")
    make_dispute("Exp", "partial")
    qnn = make_column("qnn-htp", make_device("snapdragon-8-gen-2", "snapdragon_8_gen_2"))
    make_dispute("MatMul", column=qnn)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["MatMul", "Relu", "Abs"]),
        ("?direction=all", ["MatMul", "Relu", "Abs", "Exp"]),
        ("?direction=limits_fails", ["Exp"]),
        (f"?column={RKNN}&q=e", ["Relu"]),
        ("?class=snapdragon_8_gen_2", ["MatMul"]),
        ("?kind=measured", []),
        ("?versions=same", ["Abs"]),
        ("?page=nonsense", ["MatMul", "Relu", "Abs"]),
        ("?page=99", ["MatMul", "Relu", "Abs"]),
        ("?column=&q=", ["MatMul", "Relu", "Abs"]),
    ],
)
def test_the_address_says_what_is_shown_on_the_page_and_in_the_sheet(
    client, several, query, expected
):
    assert listed(client.get(f"/contradictions/{query}")) == expected
    assert [row["operator"] for row in sheet(client, query)] == expected


def test_the_softer_kinds_are_counted_and_one_link_away(client, several):
    page = client.get("/contradictions/").content.decode()
    (link,) = re.findall(r'<a href="(\?[^"]*)">Listed with limits, fails</a> 1', page)
    assert listed(client.get(f"/contradictions/{link}")) == ["Exp"]
    (link,) = re.findall(r'<a href="(\?[^"]*)">All of them</a>', page)
    assert len(listed(client.get(f"/contradictions/{link}"))) == 4


@pytest.mark.parametrize("name", ["column", "class", "kind", "versions", "direction"])
def test_a_name_that_nothing_has_is_told(client, several, name):
    page = client.get(f"/contradictions/?{name}={HOSTILE}")
    assert "Nothing here has the name that a filter asks for" in text_of(page)
    assert listed(page) == []
    assert b"<script>alert" not in page.content


def test_chosen_filters_stay_chosen_and_can_be_cleared(client, several):
    page = client.get("/contradictions/").content.decode()
    assert re.findall(r'value="(\w+)" checked', page) == ["listed_fails", "unlisted_works"]
    assert "Clear filters" not in page
    page = client.get("/contradictions/?kind=simulated&direction=outside").content.decode()
    assert re.findall(r'value="(\w+)" checked', page) == ["outside", "simulated"]
    assert "Clear filters" in page


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_nothing_of_a_stranger_reaches_the_page_unescaped(client, language):
    client.cookies["django_language"] = language
    source = make_source(title=HOSTILE, version=HOSTILE, date=HOSTILE, place=HOSTILE)
    device = make_device("rk3588", "rk3588", title=HOSTILE)
    probe = make_dispute(
        HOSTILE[:20], column=make_column("rknn", device), source=source, restriction=HOSTILE,
        unit=HOSTILE, dtypes=HOSTILE, runtime_version=HOSTILE, version=HOSTILE, outcome="mismatch",
        case={"name": HOSTILE, "dtypes": [HOSTILE]},
    )  # fmt: skip
    Operator.objects.update(name="Relu", domain="ai.onnx")
    Probe.objects.filter(pk=probe.pk).update(message=HOSTILE)
    Cell.objects.update(reason_params={"count": 1, "total": 1, "which": [HOSTILE]})
    page = client.get("/contradictions/?direction=all").content.decode()
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert") >= 9


def test_the_sheet_is_in_one_language_with_whole_addresses(client):
    probe = make_dispute()
    client.cookies["django_language"] = "zh-hans"
    (row,) = sheet(client)
    assert row["reason"].startswith("refused at compilation: E RKNN")
    assert row["evidence"] == f"http://testserver/probes/{probe.pk}/"
    assert row["reproducer"] == f"http://testserver/probes/{probe.pk}/reproducer.zip"
    assert client.get(row["evidence"]).status_code == 200


def test_a_marked_cell_and_every_page_lead_here(client):
    make_dispute()
    page = client.get(f"/cells/ai.onnx/Relu/{RKNN}/").content.decode()
    (link,) = re.findall(r'href="(/contradictions/\?[^"]*)"', page)
    assert listed(client.get(link.replace("&amp;", "&"))) == ["Relu"]
    matrix = client.get("/").content.decode()
    assert 'href="/contradictions/">contradicted by other evidence' in matrix
    assert 'href="/contradictions/" >Contradictions</a>' in matrix


def test_a_cell_that_no_list_speaks_of_does_not_lead_here(client):
    make_cell(make_operator(), make_column(), "red", contradiction=True)
    page = client.get("/cells/ai.onnx/Relu/test-cpu.onnxruntime-cpu.default/").content.decode()
    assert "contradict each other" in page
    assert "/contradictions/?" not in page


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: None, "Nothing has been probed yet"),
        (lambda: make_cell(), "Lists and probes agree"),
    ],
)
def test_no_contradiction_is_said_in_words(client, make, told):
    make()
    assert told in text_of(client.get("/contradictions/"))


def test_every_direction_and_relation_has_its_words():
    assert set(DIRECTION_NOTES) < set(DIRECTIONS)
    assert set(RELATION_WORDS) == set(RELATIONS)
    assert set(VERSION_NOTES) == {(yes, code) for yes in (True, False) for code in RELATIONS}


def test_thousands_are_shown_in_parts_quickly(client, django_assert_num_queries):
    fill()
    started = process_time()
    with django_assert_num_queries(8):
        page = client.get("/contradictions/")
    assert process_time() - started < 4.0  # 0.7 on a quiet core; a shared one gets room
    assert len(listed(page)) == SHOWN
    assert len(page.content) < 250_000
    assert "1 to 50 of 3300" in text_of(page)
    (link,) = re.findall(r'rel="next" href="(\?[^"]*)"', page.content.decode())
    second = client.get("/contradictions/" + link.replace("&amp;", "&"))
    assert "51 to 100 of 3300" in text_of(second)
