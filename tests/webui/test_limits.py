"""What pages say of limits, in both languages."""

import pytest

from compat.models import Limit
from probes.cases.limits import all_limits
from probes.judge.limits import WORDS, spoken
from probes.run.outcome import OUTCOMES, Outcome, Placement
from tests.make import make_cell, make_claim, make_column, make_device, make_operator, make_target
from tests.make_limits import answer, find_limits, make_limits
from webui.limits import FAILS, PARAMETERS, RUNS

BOARD = "rk3588.rknn.default"
PAGES = ("/operators/ai.onnx/Conv/", f"/cells/ai.onnx/Conv/{BOARD}/")


@pytest.fixture
def conv(db):
    column = make_column("rknn", make_device("rk3588", "rk3588", origin="catalogue"))
    target = make_target("2.5.0", column)
    make_cell(make_operator("Conv"), column, "yellow", "simulated", target=target)
    return make_limits(target)


def read(client, path, language="en"):
    client.cookies["django_language"] = language
    return " ".join(client.get(path).content.decode().split())


def test_every_parameter_and_every_failure_has_words():
    parameters = {row.parameter for row in all_limits()}
    assert parameters == set(PARAMETERS) == set(WORDS)
    assert set(FAILS) == {outcome.value for outcome, row in OUTCOMES.items() if row.support == "no"}
    assert set(RUNS) == {"cpu", "partly"}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_says_how_far_it_works_and_why_not_further(client, conv, path):
    page = read(client, path)
    assert "<strong>Up to 7 works, 8 is refused</strong>: E build: kernel too large<" in page
    assert "<strong>Up to 9 works, 10 runs on the CPU instead</strong>: Conv:CPU" in page
    assert "There is more than one limit: beyond it 128 work again." in page
    assert 'No limit found</th><td class="wide fine" colspan="2">stride 1–128</td>' in page
    assert "rule_conv" not in page


@pytest.mark.parametrize("path", PAGES)
def test_it_says_the_same_in_chinese(client, conv, path):
    page = read(client, path, "zh-hans")
    assert "<strong>最大到 7 可用，8 被拒绝</strong>: E build: kernel too large<" in page
    assert "未发现界限</th>" in page
    assert "步幅 1–128" in page
    assert "可用的最大值与最小值" in page


def test_what_a_document_says_of_the_parameter_stands_beside_it(client, conv):
    make_claim(conv.operator, "rknn", "partial", device_class="rk3588",
               restriction="kernel size: [1, 31]. Something else")  # fmt: skip
    page = read(client, PAGES[0])
    row = page[page.index("Kernel</th>") : page.index("Pad</th>")]
    assert "kernel size: [1, 31]." in row
    assert "Something else" not in row


def test_a_documented_parameter_without_a_limit_has_a_row_of_its_own(client, conv):
    make_claim(conv.operator, "rknn", "partial", device_class="rk3588",
               restriction="stride in [1, 7]")  # fmt: skip
    page = read(client, PAGES[0])
    assert page.index("Pad</th>") < page.index("Stride</th>")  # what has a limit comes first
    assert "No limit found up to 128" in page[page.index("Stride</th>") :]


def test_what_works_on_the_cpu_only_says_so(client, conv):
    def on_the_cpu(case):
        return answer(case, placement=Placement.FALLBACK)

    Limit.objects.update(
        parameters=find_limits(parameters=("kernel",), ask=on_the_cpu)["parameters"]
    )
    assert "kernel 1–128 (runs on the CPU instead)" in read(client, PAGES[0])


def test_a_usual_value_that_does_not_work_is_told(client, conv):
    def wrong(case):
        return answer(case, outcome=Outcome.MISMATCH, message="output 0 is off")

    Limit.objects.update(parameters=find_limits(parameters=("kernel",), ask=wrong)["parameters"])
    page = read(client, PAGES[0])
    assert "3, where the search begins, gives wrong values</strong>: output 0 is off" in page


def test_words_of_a_stranger_are_escaped(client, conv):
    hostile = "<script>alert(1)</script>"
    parameters = conv.parameters
    parameters[0]["largest"]["failed"]["message"] = hostile
    Limit.objects.update(parameters=parameters, unanswered={hostile: hostile})
    for path in PAGES:
        assert hostile not in read(client, path)


def test_a_page_without_limits_has_no_section(client, conv):
    Limit.objects.all().delete()
    for path in PAGES:
        assert "How large and how small it may be" not in read(client, path)


@pytest.mark.parametrize(
    ("text", "parameter", "said"),
    [
        ("kernel size: [1, 31]; stride: [1, 8]", "stride", "stride: [1, 8]"),
        ("Rank <= 4. No groups", "rank", "Rank <= 4."),
        ("only 4-D", "rank", "only 4-D"),
        ("alpha is ignored", "kernel", ""),
        ("unpadded", "pad", ""),
        ("anything", "no such parameter", ""),
    ],
)
def test_the_part_of_a_restriction_that_speaks_of_a_parameter(text, parameter, said):
    assert spoken(text, parameter) == said
