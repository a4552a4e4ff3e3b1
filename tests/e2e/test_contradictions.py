"""The contradictions in a browser: filters with and without JavaScript, both sides in sight."""

import pytest
from playwright.sync_api import expect

from tests.disputes import make_dispute
from tests.e2e.test_walk import FAINT_TEXTS
from tests.make import make_column, make_device

pytestmark = pytest.mark.chromium


@pytest.fixture
def disputes(site):
    make_dispute("Relu")
    make_dispute("Abs", "none", "passed", version="2.3.2")
    make_dispute("Exp", "partial")
    qnn = make_column("qnn-htp", make_device("snapdragon-8-gen-2", "snapdragon_8_gen_2"))
    make_dispute("MatMul", column=qnn)


def shown(page):
    return [title.inner_text() for title in page.locator(".versus h3 a").all()]


def test_a_ticked_filter_changes_the_list_and_the_address(page, disputes):
    page.goto("/")
    page.get_by_role("link", name="Contradictions").click()
    assert shown(page) == ["MatMul", "Relu", "Abs"]
    page.locator("summary", has_text="Device").click()
    page.locator("[name=class][value=snapdragon_8_gen_2]").check()
    expect(page.locator(".versus")).to_have_count(1)
    assert shown(page) == ["MatMul"]
    assert "class=snapdragon_8_gen_2" in page.url
    page.get_by_role("link", name="Clear filters").click()
    assert len(shown(page)) == 3


def test_a_typed_name_is_searched_and_the_sheet_has_the_same_rows(page, disputes):
    page.goto("/contradictions/?direction=all")
    page.get_by_role("searchbox").fill("exp")
    expect(page.locator(".versus")).to_have_count(1)
    address = page.get_by_role("link", name="Download as CSV").get_attribute("href")
    text = page.request.get(address).text()
    assert text.count("\n") == 2
    assert "ai.onnx,Exp," in text


def test_without_javascript_every_filter_works(plain_page, disputes):
    plain_page.goto("/contradictions/")
    plain_page.get_by_text("Softer disagreements").click()
    plain_page.get_by_role("link", name="Listed with limits, fails").click()
    assert shown(plain_page) == ["Exp"]
    plain_page.locator("summary", has_text="Evidence").click()
    plain_page.get_by_label("measured on the device").check()
    plain_page.get_by_role("button", name="Apply").click()
    assert shown(plain_page) == []
    assert plain_page.get_by_role("heading", name="No contradiction fits").is_visible()


@pytest.mark.parametrize(("width", "beside"), [(1440, True), (390, False)])
def test_the_sides_stand_beside_each_other_where_there_is_room(page, disputes, width, beside):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/contradictions/")
    one, other = (side.bounding_box() for side in page.locator(".versus .side").all()[:2])
    assert (one["y"] == other["y"]) is beside
    assert (one["x"] < other["x"]) is beside


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_of_a_row_is_told_from_its_ground(page, disputes, scheme):
    page.emulate_media(color_scheme=scheme)
    page.goto("/contradictions/?direction=all")
    assert len(shown(page)) == 4
    assert page.evaluate(FAINT_TEXTS) == []
