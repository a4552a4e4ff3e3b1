"""The three-colour list: what it compares unasked, and what it says to a name that is none."""

import re

import pytest

from tests.make import make_cell, make_column, make_device, make_operator, make_target
from tests.webui.make import make_site

pytestmark = pytest.mark.django_db


@pytest.fixture
def twins():
    """This machine, a recording of it, another recording, and a column of claims."""
    operator = make_operator("Conv")
    local = make_column(device=make_device(origin="local"))
    make_cell(operator, local, target=make_target(column=local))
    for slug in ("test-cpu-recorded", "other-recorded"):
        title = f"{slug} (recorded sweep 2026-11-29)"
        column = make_column(device=make_device(slug, origin="recorded", title=title))
        make_cell(operator, column, "red", target=make_target(column=column))
    claimed = make_column("rknn", make_device("rk3588", "rk3588"))
    make_cell(operator, claimed, "red", "documented")


def compared(page):
    chosen = re.search(r'<ul class="chosen">(.*?)</ul>', page.content.decode(), re.S)[1]
    return re.findall(r"/targets/([^/]+)\.onnxruntime-cpu\.default/", chosen)


def test_unasked_it_compares_what_was_measured_and_no_twin(client, twins):
    assert compared(client.get("/colours/")) == ["test-cpu", "other-recorded"]


def test_claims_are_compared_where_nothing_was_measured(client):
    make_cell(make_operator(), make_column("rknn", make_device("a")), "red", "documented")
    page = client.get("/colours/").content.decode()
    assert "unsupported" in page
    assert "fails" not in page


def test_cards_count_what_was_measured_and_what_is_claimed_apart(client, twins):
    slugs = "column=test-cpu.onnxruntime-cpu.default&column=rk3588.rknn.default"
    page = client.get(f"/colours/?{slugs}").content.decode()
    card = re.search(r'<a class="card level" href="#red">.*?</a>', page, re.S)[0]
    assert 'class="chip r d"' in card
    assert 'class="chip r m"' not in card


def test_green_rests_on_its_farthest_evidence(client):
    operator = make_operator()
    make_cell(operator, make_column())
    make_cell(operator, make_column("rknn", make_device("a")), "green", "documented")
    names = "column=test-cpu.onnxruntime-cpu.default&column=a.rknn.default"
    text = b"".join(client.get(f"/colours.csv?{names}")).decode()
    assert ",green,safe,documented,a.rknn.default," in text


@pytest.mark.parametrize("path", ["/colours/", "/colours.csv"])
def test_a_name_that_is_no_target_is_an_error_not_another_list(client, twins, path):
    page = client.get(f"{path}?column=nothing&column=test-cpu.onnxruntime-cpu.default")
    assert page.status_code == 404
    assert "no target of this name: nothing" in page.content.decode()
    assert "Conv" not in page.content.decode()


def test_the_file_is_in_one_language(client):
    make_site(message="no kernel")
    client.cookies["django_language"] = "zh-hans"
    text = b"".join(client.get("/colours.csv")).decode()
    assert "refused at loading: no kernel" in text
    assert text.isascii()
