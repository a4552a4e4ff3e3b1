"""Long names and wide tables: no page scrolls sideways on a phone, no table hides its end."""

import pytest

from compat.devices import register_device
from tests.e2e.conftest import COLUMN
from tests.make import (
    make_case,
    make_cell,
    make_claim,
    make_column,
    make_device,
    make_operator,
    make_probe,
    make_source,
    make_target,
)
from tests.webui.make import make_finding, make_report

pytestmark = pytest.mark.chromium

LONG = "node/test_" + "resize_downsample_sizes_linear_pytorch_half_pixel" * 3
LIMITS = "kernel_h,kernel_w,dilations_h,dilations_w," * 8 + "pads_top in [0, 15]; dla_sw=native"
RK3588 = "rk3588.rknn.default"


@pytest.fixture
def long_paths(site, settings):
    """The address of every kind of page, each with names that have no room on a phone."""
    operator, target = make_operator("Resize"), make_target()
    case = make_case(operator, LONG, core=False, citation=LONG, dtypes=["float", "int64"] * 4)
    probe = make_probe(
        case, target, "mismatch", message=LONG, p50_ms=0.5,
        log={"text": LONG, "latency": {"samples_ms": [0.4, 0.5], "warmup": 5}},
    )  # fmt: skip
    make_cell(
        operator, target.column, "red", reason_code="wrong_values", target=target, probe=probe,
        reason_params={"count": 1, "total": 1, "which": [LONG]}, core_total=1, contradiction=True,
        claim_level="full",
    )  # fmt: skip
    make_claim(
        operator, "onnxruntime-cpu", restriction=LIMITS, unit=LONG, dtypes="fp16;" * 40,
        source=make_source("long", title=LONG, place=LONG), runtime_version=LONG,
    )  # fmt: skip
    npu = make_column("rknn", make_device("rk3588", "rk3588"))
    make_claim(operator, "rknn", "partial", device_class="rk3588", restriction=LIMITS)
    make_cell(
        operator, npu, "yellow", "documented", reason_code="claim_partial_says",
        reason_params={"source": LONG, "restriction": LIMITS},
    )  # fmt: skip
    detail = {"code": "claim_partial_says", "params": {"source": LONG, "restriction": LIMITS}}
    finding = make_finding("yellow", "documented", "documented", detail=detail)
    report = make_report([finding], name=f"{LONG}.onnx", target=RK3588, node=LONG)
    settings.OPEN_DEVICES = "1"
    device, _ = register_device(slug="d" * 80, title="D" * 120, device_class="c" * 40)
    make_target("1.0", make_column("onnxruntime-cpu", device))
    return [
        "/", "/?view=all", "/?show=latency", f"/?level={LONG}", "/targets/", "/about/",
        "/reports/new/", f"/reports/{report.token}/", "/operators/ai.onnx/Resize/",
        "/contradictions/", f"/contradictions/?q={LONG}",
        "/colours/", f"/colours/?column={RK3588}", f"/targets/{COLUMN}/", f"/targets/{RK3588}/",
        f"/cells/ai.onnx/Resize/{COLUMN}/", f"/cells/ai.onnx/Resize/{RK3588}/",
        f"/probes/{probe.pk}/", f"/sweeps/{probe.sweep_id}/", "/devices/",
    ]  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_no_page_with_long_names_scrolls_sideways_on_a_phone(
    narrow_page, long_paths, site, language
):
    chosen = {"name": "django_language", "value": language, "url": site}
    narrow_page.context.add_cookies([chosen])
    for path in long_paths:
        narrow_page.goto(path)
        wide = narrow_page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, path


def test_no_table_is_cut_on_a_desk(page, long_paths):
    """All of a table is in sight at 1440; the matrix alone may go on to the right."""
    for path in long_paths:
        page.goto(path)
        cut = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)"
        assert page.evaluate(f"{cut}.length") == 0, path


def test_what_goes_on_to_the_right_fades_until_it_is_scrolled_into_sight(narrow_page, long_paths):
    fade = (
        "parseFloat(getComputedStyle(document.querySelector('.frame')).getPropertyValue('--fade'))"
    )
    narrow_page.goto("/?view=all")
    assert narrow_page.evaluate(fade) > 0
    narrow_page.evaluate("document.querySelector('.frame').scrollLeft = 1e6")
    narrow_page.wait_for_function(f"{fade} === 0")


def test_on_a_phone_the_legend_stands_above_the_matrix_and_the_whole_menu_is_in_sight(
    narrow_page, site
):
    narrow_page.goto("/")
    legend = narrow_page.locator("#legend").bounding_box()
    assert legend["y"] < narrow_page.locator(".frame").bounding_box()["y"]
    for link in narrow_page.locator(".nav a").all():
        box = link.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
