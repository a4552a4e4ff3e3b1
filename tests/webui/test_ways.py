"""What a cell's page says of other ways to compute the same, in both languages."""

import pytest
from django.utils import translation

from compat.history import load_cell
from compat.models import Cell
from probes.cases.alternatives import known_ways
from probes.judge.tally import RESERVATIONS
from probes.judge.way_words import HELD, WAYS
from tests.make import make_case, make_probe
from tests.make_ways import COLUMN, make_gelu
from tests.webui.make import make_finding, make_report
from webui.ways import ways_of

pytestmark = pytest.mark.django_db

PATH = f"/cells/ai.onnx/Gelu/{COLUMN}/"


def read(client, path=PATH, language="en"):
    client.cookies["django_language"] = language
    return client.get(path).content.decode()


def test_every_way_and_every_reservation_has_words():
    named = {way for cases in known_ways().values() for ways in cases.values() for way in ways}
    assert named == set(WAYS)
    told_by_form = {code for code in RESERVATIONS if code.startswith("only_")}
    assert set(HELD) | told_by_form | {"placement_unreported"} == set(RESERVATIONS)


def test_a_red_cell_leads_to_the_probe_of_the_way_that_works(client):
    probes = make_gelu(erf="passed", tanh_near="close")
    page = read(client)
    assert "<strong>The Erf form</strong>: works, in place of" in page
    assert "Its operators: Div, Erf, Add, Mul." in page
    assert f'href="/probes/{probes["erf"].pk}/">The probe that proves it</a>' in page
    assert page.index("What works here instead") < page.index("Evidence that decides")
    assert "small errors, inside the tolerance band" in page


def test_it_says_the_same_in_chinese(client):
    make_gelu(erf="passed")
    page = read(client, language="zh-hans")
    assert "<strong>Erf 形式</strong>：可用，代替" in page
    assert "所用算子：Div, Erf, Add, Mul。" in page


@pytest.mark.parametrize(
    ("ways", "said"),
    [
        ({"erf": "crashed"}, "None of the ways that were tried is better here."),
        ({}, "Other ways to compute the same are known; none has been tried here."),
    ],
)
def test_where_no_way_is_better_the_page_says_why(client, ways, said):
    make_gelu(**ways)
    page = read(client)
    assert said in page
    assert "Recommended" not in page


def test_a_green_cell_shows_ways_at_the_end_and_recommends_none(client):
    make_gelu("passed", erf="passed")
    page = read(client)
    assert page.index("Evidence that decides") < page.index("Other ways to compute the same")
    assert "Recommended" not in page


def test_a_limit_of_the_rest_leaves_the_forms_of_models_as_they_are(client):
    probes = make_gelu("passed", erf="passed")
    tanh = make_case(probes[""].operator, "mainstream/Gelu/tanh-128x3072-v1")
    make_probe(tanh, probes[""].target)
    Cell.objects.update(level="yellow", reason_code="rest_failed")
    assert "nothing has to replace them" in read(client)


def test_forms_that_fail_without_a_known_way_are_told_so(client):
    probes = make_gelu("passed", erf="passed")
    for name, outcome in (("tanh-128x3072-v1", "passed"), ("197x3072-v1", "rejected")):
        case = make_case(probes[""].operator, f"mainstream/Gelu/{name}")
        make_probe(case, probes[""].target, outcome)
    Cell.objects.update(level="yellow", reason_code="core_some")
    assert "No other way is known for the forms that fail here." in read(client)


def test_another_form_is_recommended_by_its_word(client):
    probes = make_gelu()
    make_probe(probes[""].case, probes[""].target, form="constant")
    assert "<strong>Constant inputs</strong>: works with limits, in place of" in read(client)


def test_a_claim_of_a_red_cell_is_no_probe_of_a_way(client):
    probes = make_gelu()
    Cell.objects.update(target=None, kind="documented", reason_code="claim_none")
    probes[""].delete()
    assert "none has been tried here" in read(client)


def test_a_version_of_which_every_case_passes_is_named(client):
    probes = make_gelu()
    for number in range(2):
        case = make_case(probes[""].operator, f"node/test_{number}", core=False, since_version=19)
        make_probe(case, probes[""].target)
    assert "Version 19 of the operator: all 2 tried cases pass." in read(client)


def test_the_operators_page_has_a_table_of_ways(client):
    probes = make_gelu(erf="passed")
    page = read(client, "/operators/ai.onnx/Gelu/")
    assert "They decide no level of this operator." in page
    assert "The Erf form" in page
    assert f'href="/probes/{probes["erf"].pk}/"' in page


def test_nothing_is_told_where_nothing_was_judged():
    make_gelu()
    found = load_cell("ai.onnx", "Gelu", COLUMN).alternatives
    assert ways_of(found, "unknown") is None
    assert ways_of(None, "red") is None
    with translation.override("en"):
        assert ways_of(found, "red").computed[0].lines[1].told == "not tried"


def test_the_three_colour_list_names_the_way(client, django_assert_max_num_queries):
    make_gelu(erf="passed")
    with django_assert_max_num_queries(8):
        page = read(client, "/colours/")
    assert f'<a href="{PATH}#ways">the Erf form [Div, Erf, Add, Mul]: works</a>' in page
    lines = b"".join(client.get("/colours.csv")).decode().splitlines()
    assert lines[0].endswith(",reason,instead")
    assert lines[1].endswith('"the Erf form [Div, Erf, Add, Mul]: works"')


def test_a_finding_leads_to_what_works_instead(client):
    make_gelu(erf="passed")
    finding = make_finding(operator=["ai.onnx", "Gelu"])
    ways = f'<a href="{PATH}#ways">What works instead</a>'
    assert ways in read(client, f"/reports/{make_report([finding]).token}/")
    for other in (finding | {"level": "green"}, make_finding(operator=["ai.onnx", "Shrink"])):
        assert "What works instead" not in read(client, f"/reports/{make_report([other]).token}/")
