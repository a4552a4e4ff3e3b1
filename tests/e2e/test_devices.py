"""A device is registered in a browser without JavaScript, by the keyboard alone."""

import re

import pytest

from compat.models import Device
from compat.tokens import find_token

pytestmark = pytest.mark.chromium


@pytest.fixture
def open_site(site, settings):
    settings.OPEN_DEVICES = "1"


def press_until(page, key, selector):
    """The key again and again, until what is named has the focus."""
    for _ in range(60):
        page.keyboard.press(key)
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
    raise AssertionError(f"{key} never reaches {selector}")


def send(page):
    with page.expect_navigation():
        page.keyboard.press("Enter")


def test_a_device_is_registered_by_keyboard_without_javascript(open_site, plain_page):
    page = plain_page
    page.goto("/targets/")
    page.get_by_role("link", name="Registered devices and their agents").click()
    press_until(page, "Tab", "#id_slug")
    send(page)
    assert page.locator(".errorlist").count() == 2
    assert page.evaluate("document.activeElement.id") == "id_slug"
    page.keyboard.type("board-1")
    press_until(page, "Tab", "#id_device_class")
    page.keyboard.type("rk3588")
    press_until(page, "Tab", "[value=onnxruntime-cpu]")
    page.keyboard.press("Space")
    press_until(page, "Tab", "button.main")
    send(page)
    secret = page.locator(".secret code").inner_text()
    assert re.fullmatch(r"opa_[\w-]{43}", secret)
    assert secret not in page.url
    assert find_token(secret).device.runtimes == ["onnxruntime-cpu"]
    assert page.locator(".secret").bounding_box()["y"] < 720
    page.reload()
    assert page.locator(".secret").count() == 0
    assert "registered already" in page.content()
    assert Device.objects.filter(origin="registered").count() == 1


def test_the_switch_of_languages_leads_from_a_token_to_the_list(open_site, plain_page):
    page = plain_page
    page.goto("/devices/")
    page.fill("#id_slug", "board-1")
    page.fill("#id_device_class", "rk3588")
    page.locator("form.card button.main").click()
    page.locator("details summary").click()
    page.locator("details summary").click()
    page.get_by_role("button", name="Issue another token").click()
    assert page.url.endswith("/devices/board-1/tokens/")
    page.get_by_role("button", name="简体中文").click()
    assert page.url.endswith("/devices/")
    assert page.locator("h1").inner_text() == "设备"
