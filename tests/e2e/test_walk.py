"""Walks through the site in headless Chromium, as people with a mouse, keys or a phone would."""

import re

import onnx
import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import COLUMN

pytestmark = pytest.mark.chromium


def test_from_the_matrix_to_a_cell_its_evidence_and_the_reproducer(page):
    page.goto("/")
    page.get_by_role("link", name=re.compile("fails measured")).click()
    assert page.url.endswith(f"/cells/ai.onnx/Relu/{COLUMN}/")
    page.get_by_text("wrong values without an error").first.wait_for()
    page.get_by_role("link", name="mainstream/Relu/tiny-v1").click()
    assert "output 0 is wrong" in page.inner_text("main")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download the model (.onnx)").click()
    assert waiting.value.suggested_filename.endswith(".onnx")
    model = onnx.load(waiting.value.path())
    assert [node.op_type for node in model.graph.node] == ["Relu"]


def test_from_an_upload_to_the_report_a_finding_and_its_evidence(page, relu_file):
    page.goto("/")
    page.get_by_role("link", name="Check a model").first.click()
    page.set_input_files("#file", relu_file)
    page.get_by_role("checkbox", name="Test Cpu").check()
    assert "tiny.onnx" in page.locator("[data-chosen]").inner_text()
    page.get_by_role("button", name="Check the model").click()
    page.wait_for_url("**/reports/*/")
    finding = page.locator("article.finding").first
    assert "Relu" in finding.inner_text()
    assert "activation" in finding.inner_text()
    finding.get_by_role("link", name="The operator on this target").click()
    page.get_by_role("link", name="The probe that decides").click()
    assert "output 0 is wrong" in page.inner_text("main")


def test_a_file_can_be_dropped(page, relu_model):
    page.goto("/reports/new/")
    page.evaluate(
        """bytes => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], "dropped.onnx"));
            const zone = document.querySelector(".drop");
            zone.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true}));
        }""",
        list(relu_model),
    )
    assert "dropped.onnx" in page.locator("[data-chosen]").inner_text()
    page.get_by_role("button", name="Check the model").click()
    page.wait_for_url("**/reports/*/")
    assert page.get_by_role("heading", name="dropped.onnx").is_visible()


def test_a_file_that_is_no_model_gets_a_sentence(page, tmp_path):
    path = tmp_path / "not.onnx"
    path.write_bytes(b"<html>")
    page.goto("/reports/new/")
    page.set_input_files("#file", path)
    page.get_by_role("button", name="Check the model").click()
    assert "not an ONNX model" in page.get_by_role("alert").inner_text()


def test_filters_work_while_typing_and_stay_in_the_address(page):
    page.goto("/")
    rows = page.locator(".matrix tbody tr")
    expect(rows).to_have_count(4)
    page.get_by_role("searchbox").fill("relu")
    page.wait_for_url("**q=relu**")
    expect(rows).to_have_count(1)
    expect(page.locator("#scopes [aria-current]")).to_have_text("All operators")
    expect(page.get_by_role("status")).to_have_text("1 shown")
    page.get_by_role("searchbox").fill("")
    expect(rows).to_have_count(4)
    page.locator("summary", has_text="Level").click()
    page.get_by_role("checkbox", name="does not work").check()
    page.wait_for_url("**level=red**")
    expect(rows).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("checkbox", name="does not work")).to_be_hidden()
    page.go_back()
    expect(rows).to_have_count(4)


def test_the_keyboard_alone_reaches_the_content_and_a_cell(page):
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.matrix td a')"):
            break
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    page.wait_for_url("**/cells/**")


def test_the_heads_stay_in_sight_while_the_matrix_scrolls(narrow_page):
    narrow_page.goto("/?view=all")
    left = "document.querySelector('.matrix tbody th').getBoundingClientRect().left"
    before = narrow_page.evaluate(left)
    narrow_page.evaluate("document.querySelector('.frame').scrollLeft = 80")
    assert narrow_page.evaluate("document.querySelector('.frame').scrollLeft") > 0
    assert narrow_page.evaluate(left) == before


def test_no_page_scrolls_sideways_on_a_phone(narrow_page, relu_file):
    narrow_page.goto("/reports/new/")
    narrow_page.set_input_files("#file", relu_file)
    narrow_page.get_by_role("button", name="Check the model").click()
    narrow_page.wait_for_url("**/reports/*/")
    probe = narrow_page.request.get(f"/cells/ai.onnx/Relu/{COLUMN}/").text()
    paths = [
        narrow_page.url, "/", "/?view=all", "/colours/", "/targets/", "/about/", "/nowhere/",
        f"/targets/{COLUMN}/", "/operators/ai.onnx/Relu/", f"/cells/ai.onnx/Relu/{COLUMN}/",
        re.search(r"/probes/\d+/", probe)[0],
    ]  # fmt: skip
    for path in paths:
        narrow_page.goto(path) if path != "/nowhere/" else None
        wide = narrow_page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, path


def test_everything_works_without_javascript(plain_page, relu_file):
    plain_page.goto("/")
    plain_page.get_by_role("searchbox").fill("relu")
    plain_page.get_by_role("button", name="Apply").click()
    assert plain_page.locator(".matrix tbody tr").count() == 1
    plain_page.get_by_role("link", name="Latency").click()
    assert plain_page.locator("[aria-current=true]", has_text="Latency").count() == 1
    plain_page.get_by_role("button", name="简体中文").click()
    assert plain_page.get_by_role("heading", name="哪些算子").is_visible()
    plain_page.get_by_role("button", name="深色").click()
    assert plain_page.locator("html[data-theme=dark]").count() == 1
    plain_page.goto("/reports/new/")
    plain_page.set_input_files("#file", relu_file)
    plain_page.get_by_role("button", name="检查模型").click()
    assert "tiny.onnx" in plain_page.inner_text("h1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_told_from_its_ground(browser, site, scheme):
    """Contrast of every text with what is behind it, WCAG AA: 4.5, or 3 for large text."""
    context = browser.new_context(base_url=site, color_scheme=scheme)
    page = context.new_page()
    cell = f"/cells/ai.onnx/Relu/{COLUMN}/"
    for path in ("/", "/about/", cell, "/reports/new/", "/colours/", "/contradictions/"):
        page.goto(path)
        assert page.evaluate(FAINT_TEXTS) == [], path
    context.close()


FAINT_TEXTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const part = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const colour = rgba(getComputedStyle(node).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const faint = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim());
    if (!own || !node.checkVisibility() || node.closest(".sr, .k, noscript")) continue;
    const style = getComputedStyle(node);
    const [a, b] = [light(rgba(style.color)), light(ground(node))].sort((x, y) => y - x);
    const needed = parseFloat(style.fontSize) >= 24 ? 3 : 4.5;
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < needed) faint.push(`${node.textContent.trim().slice(0, 30)} ${contrast}`);
  }
  return faint;
}"""
