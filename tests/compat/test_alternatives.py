"""The recommended way on a cell, and the ways of an operator on every column."""

from dataclasses import replace

import pytest
from django.test import Client

from compat.cells import rebuild_cells
from compat.history import load_cell, load_operator, load_recommended
from compat.models import Cell
from probes.cases.alternatives import known_ways
from probes.cases.ways import steps_of
from tests.make import make_case, make_operator, make_probe, make_target
from tests.make_ways import COLUMN, GELU, make_gelu

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_a_red_cell_names_the_way_that_works_and_its_probe(django_assert_num_queries):
    probes = make_gelu(erf="passed", tanh_near="close")
    with django_assert_num_queries(7):
        cell = load_cell("ai.onnx", "Gelu", COLUMN)
    assert cell.verdict.level == "red"
    found = cell.alternatives
    assert (found.status, found.kind, found.replaces) == ("found", "measured", GELU)
    best = found.recommended
    assert (best.way, best.level, best.probe_id) == ("erf", "green", probes["erf"].pk)
    assert (best.steps, best.p50_ms) == (("Div", "Erf", "Add", "Mul"), 0.3)
    own = next(each for each in found.computations if each.replaces == GELU)
    assert [(way.way, way.level) for way in own.ways] == [("erf", "green"), ("tanh-near", "yellow")]
    assert (own.own.level, own.own.probe_id) == ("red", probes[""].pk)


def test_the_ways_are_no_evidence_of_the_operator():
    make_gelu(erf="passed")
    cell = Cell.objects.get()
    assert (cell.level, cell.core_total, cell.rest_total) == ("red", 1, 0)
    groups = load_cell("ai.onnx", "Gelu", COLUMN).groups
    assert [(group.code, len(group.probes)) for group in groups] == [("core", 1)]


@pytest.mark.parametrize(
    ("outcome", "ways", "status"),
    [
        ("rejected", {"erf": "crashed"}, "none_works"),
        ("rejected", {}, "not_tried"),
        ("passed", {"erf": "passed"}, "not_tried"),
    ],
)
def test_what_is_told_where_no_way_is_better(outcome, ways, status):
    """The last: the tanh form of Gelu was not tried, so something is left to try."""
    make_gelu(outcome, **ways)
    found = load_cell("ai.onnx", "Gelu", COLUMN).alternatives
    assert (found.status, found.recommended) == (status, None)


def test_only_the_version_that_decides_is_asked():
    probes = make_gelu(erf="passed")
    newer = make_target("1.33.0")
    make_probe(probes[""].case, newer, "rejected")
    rebuild_cells(column=newer.column)
    assert load_cell("ai.onnx", "Gelu", COLUMN).alternatives.status == "not_tried"


def test_another_version_of_the_operator_is_named_where_the_models_forms_fail():
    probes = make_gelu()
    other = make_case(probes[""].operator, "node/test_gelu_old", core=False, since_version=19)
    passed = make_probe(other, probes[""].target)
    rebuild_cells(column=passed.target.column)
    (version,) = load_cell("ai.onnx", "Gelu", COLUMN).alternatives.versions
    assert (version.since_version, version.cases) == (19, 1)
    assert version.probe_id == passed.pk


def test_an_operator_without_known_ways_has_none():
    make_probe(make_case(make_operator("Shrink")), make_target(), "rejected")
    assert load_cell("ai.onnx", "Shrink", COLUMN).alternatives is None
    assert load_operator("ai.onnx", "Shrink").alternatives == ()


def test_the_operators_page_keeps_ways_apart_from_cases(django_assert_num_queries):
    probes = make_gelu(erf="passed")
    with django_assert_num_queries(7):
        page = load_operator("ai.onnx", "Gelu")
    assert [case.name for case in page.cases] == [GELU]
    (found,) = page.alternatives
    assert (found.replaces, found.marks[0].support) == (GELU, "no")
    (way,) = found.ways
    assert (way.way, way.marks[0].probe_id) == ("erf", probes["erf"].pk)
    assert way.citation == "as exporters write it"


def test_the_api_gives_both():
    make_gelu(erf="passed")
    cell = Client().get(f"/api/v1/cells/ai.onnx/Gelu/{COLUMN}/").json()
    assert cell["alternatives"]["recommended"]["way"] == "erf"
    page = Client().get("/api/v1/operators/ai.onnx/Gelu/").json()
    assert page["alternatives"][0]["ways"][0]["steps"] == ["Div", "Erf", "Add", "Mul"]


def test_steps_are_the_operators_in_order_and_the_own_one_without_a_text():
    ways = known_ways()["ai.onnx", "Resize"]["mainstream/Resize/nearest2x-256-20-v1"]
    assert steps_of(ways["expand"]) == ("Reshape", "Expand")
    assert steps_of(ways["half-pixel"]) == ("Resize",)
    assert steps_of(replace(ways["expand"], nodes="y0 = Relu (x0)")) == ("Relu",)


def test_recommended_ways_of_many_cells_take_two_queries(django_assert_num_queries):
    probes = make_gelu(erf="passed")
    asked = [
        ("ai.onnx", "Gelu", COLUMN),
        ("ai.onnx", "Gelu", "rk3588.rknn.default"),
        ("ai.onnx", "Shrink", COLUMN),
    ]
    with django_assert_num_queries(2):
        found = load_recommended(asked)
    assert {name: way.probe_id for name, way in found.items()} == {asked[0]: probes["erf"].pk}
    Cell.objects.update(level="green")
    assert load_recommended(asked) == {}
    assert load_recommended([]) == {}
