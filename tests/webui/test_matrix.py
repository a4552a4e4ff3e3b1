import gzip
import re

import pytest

from compat.models import Cell
from tests.make import make_cell, make_claim, make_column, make_device, make_operator, make_target
from tests.webui.make import HOSTILE, make_site

pytestmark = pytest.mark.django_db


def cells_of(page):
    """Texts of the table's cells without tags, titles aside."""
    found = re.findall(r"<td>(.*?)(?=<td>|\n)", page.content.decode())
    return [" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in found]


def test_a_cell_says_symbol_word_and_kind_in_text_and_in_its_classes(client):
    operator = make_operator("Conv")
    make_cell(operator, make_column(), "green", "measured")
    make_cell(operator, make_column("rknn", make_device("z")), "yellow", "documented")
    page = client.get("/?view=all")
    assert cells_of(page) == ["✓ works measured", "! listed, limits claimed"]
    assert 'class="g m"' in page.content.decode()
    assert 'class="y d"' in page.content.decode()


def test_an_empty_cell_is_a_dot_that_is_read_as_unknown(client):
    make_cell(make_operator("Conv"), make_column())
    make_operator("Relu")
    assert cells_of(client.get("/?view=all")) == ["✓ works measured", "· unknown"]


def test_a_contradiction_is_marked(client):
    make_cell(make_operator("Conv"), make_column(), contradiction=True)
    assert cells_of(client.get("/?view=all")) == [
        "✓ works measured ≠ contradicted by other evidence"
    ]


def test_the_landing_page_shows_the_top_operators_and_a_way_to_all(client):
    make_cell(make_operator("Conv"), make_column())
    make_operator("Acosh")
    page = client.get("/").content.decode()
    assert "/operators/ai.onnx/Conv/" in page
    assert "Acosh" not in page
    assert "view=all" in page


def test_a_search_looks_through_all_operators(client):
    make_cell(make_operator("Acosh"), make_column())
    assert "/operators/ai.onnx/Acosh/" in client.get("/?q=acos&view=top").content.decode()


def test_the_latency_view_keeps_the_level_for_screen_readers(client):
    make_cell(make_operator("Conv"), make_column(), p50_ms=0.01234)
    page = client.get("/?show=latency")
    assert cells_of(page) == ["✓ 12.3 µs works measured"]


def test_a_cell_leads_to_its_page(client):
    cell = make_cell(make_operator("Conv"), make_column())
    short = f"/c/{cell.operator_id}/{cell.column_id}"
    assert f"href={short} " in client.get("/").content.decode()
    assert client.get(short).url == f"/cells/ai.onnx/Conv/{cell.column.slug}/"


def test_heads_say_device_runtime_version_and_counts(client):
    column = make_column()
    make_cell(make_operator("Conv"), column, target=make_target("9.8.7", column))
    page = client.get("/").content.decode()
    head = re.search(r'<th scope="col" class="col.*?</th>', page, re.S)[0]
    assert "ONNX Runtime CPU" in head
    assert "9.8.7" in head
    assert re.search(r"✓</span> 1<span", head)
    assert column.device.title in page


def test_without_evidence_the_page_says_what_to_do(client):
    page = client.get("/").content.decode()
    assert "manage.py load_catalogue" in page
    assert "<table" not in page


@pytest.mark.parametrize(("query", "sentence"), [
    ("q=zzz", "No operator is called"),
    ("kind=simulated", "No column fits"),
])  # fmt: skip
def test_an_empty_choice_says_how_to_get_out(client, query, sentence):
    make_cell(make_operator("Conv"), make_column())
    page = client.get(f"/?view=all&{query}").content.decode()
    assert sentence in page
    assert 'class="button" href=' in page


def test_filters_are_checked_again_when_the_page_comes_back(client):
    make_cell(make_operator("Conv"), make_column())
    page = client.get("/?level=green&class=x86_cpu").content.decode()
    assert page.count(" checked") == 2
    assert "Clear filters" in page


def test_hostile_texts_are_escaped(client):
    make_site(title=HOSTILE, message=HOSTILE)
    page = client.get(f"/?view=all&q={HOSTILE}").content.decode()
    page += client.get("/?view=all").content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_queries_do_not_grow_with_the_matrix(client, django_assert_max_num_queries):
    make_claim(make_operator("Conv"))
    for number in range(4):
        column = make_column(f"runtime-{number}", make_device(f"device-{number}"))
        for name in ("Conv", "Relu", "Gelu", "Softmax"):
            make_cell(make_operator(name), column)
    with django_assert_max_num_queries(6):
        client.get("/?view=all")


def test_the_full_catalogue_fits_into_150_kilobytes(client):
    columns = [make_column(f"runtime-{n}", make_device(f"device-{n}")) for n in range(30)]
    operators = [make_operator(f"Operator{number:03}") for number in range(300)]
    levels, kinds = ("green", "yellow", "red"), ("measured", "documented", "simulated")
    Cell.objects.bulk_create(
        Cell(
            operator=operator, column=column, level=levels[(i * 7 + j * 3 + i * j) % 3],
            kind=kinds[j % 3], reason_code="core_pass",
            reason_params={"passed": 1, "total": 1}, p50_ms=i * j / 7,
        )
        for i, operator in enumerate(operators) for j, column in enumerate(columns)
    )  # fmt: skip
    page = client.get("/?view=all")
    assert page.content.count(b"<td>") == 9000
    assert len(gzip.compress(page.content, 6)) < 150_000


def test_latency_says_nothing_of_claims(client):
    make_cell(make_operator("Conv"), make_column(), "red", "documented")
    assert cells_of(client.get("/?show=latency")) == ["– not timed, only claimed"]


@pytest.mark.parametrize("query", ["level=purple", "class=toaster", "column=nothing", "kind=x"])
def test_a_filter_that_means_nothing_is_left_aside_and_said(client, query):
    make_cell(make_operator("Conv"), make_column())
    page = client.get(f"/?{query}").content.decode()
    assert f"“{query.partition('=')[2]}”" in page
    assert "/operators/ai.onnx/Conv/" in page


def test_a_claim_of_no_support_is_not_told_as_a_failure(client):
    make_cell(make_operator("Conv"), make_column(), "red", "documented")
    assert cells_of(client.get("/")) == ["✗ unsupported claimed"]


def test_tooltips_call_node_tests_what_they_are(client):
    row = {"reason_code": "core_pass", "reason_params": {"passed": 3, "total": 3}}
    make_cell(make_operator("Acosh"), make_column(), **row)
    assert "3 of 3 node tests pass" in client.get("/?view=all").content.decode()
