"""Lists against probes: what is a row, both of its sides, filters, order, cost."""

import csv
from time import process_time

import pytest

from compat.cells import rebuild_cells, rebuild_every_column
from compat.contradictions import (
    CSV_COLUMNS,
    ContradictionFilters,
    Told,
    contradictions_csv,
    directions_of,
    load_contradictions,
)
from compat.models import Cell, Column, Probe
from probes.judge.contradiction import DIRECTIONS, HARD
from tests.disputes import QNN, RKNN, fill, make_dispute
from tests.make import (
    make_case,
    make_claim,
    make_column,
    make_device,
    make_operator,
    make_probe,
    make_source,
    make_target,
)

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

EVERY = ContradictionFilters(directions=tuple(DIRECTIONS))


def rows(**filters):
    return load_contradictions(ContradictionFilters(**filters)).rows


def names(**filters):
    return [row.name for row in rows(**filters)]


def test_both_sides_stand_side_by_side():
    source = make_source(title="RKNN list", version="2.3.2", place="toolkit@59a9:doc/list.pdf")
    probe = make_dispute(restriction="multi_core=no", unit="NPU", source=source)
    (row,) = rows()
    assert (row.name, row.column.slug, row.direction) == ("Relu", RKNN, "listed_fails")
    assert row.versions == "list_older"
    assert (row.claim.level, row.claim.runtime_version) == ("full", "2.3.2")
    assert (row.claim.restriction, row.claim.unit) == ("multi_core=no", "NPU")
    assert row.claim.source_title == "RKNN list"
    assert row.claim.source_place == "toolkit@59a9:doc/list.pdf"
    assert (row.probe.kind, row.probe.runtime_version) == ("simulated", "2.5.0")
    assert (row.probe.level, row.probe.reason_code) == ("red", "refused")
    assert (row.probe.probe_id, row.probe.case_name) == (probe.pk, probe.case.name)
    assert (row.probe.outcome, row.probe.support, row.probe.stage) == ("rejected", "no", "compile")
    assert "need to be constant" in row.probe.message
    assert (row.probe.core_passed, row.probe.core_total) == (0, 1)


def test_a_list_that_says_no_against_a_probe_that_passes():
    make_dispute(level="none", outcome="passed", version="2.3.2")
    (row,) = rows()
    assert (row.direction, row.versions) == ("unlisted_works", "same")
    assert (row.probe.level, row.probe.outcome) == ("green", "passed")


def test_who_agrees_is_not_listed():
    make_dispute("Relu", "full", "passed")
    make_dispute("Conv", "none", "rejected")
    make_dispute("Gelu", "partial", "passed")
    make_probe(make_case(make_operator("Abs")), outcome="rejected")  # nobody claims anything
    rebuild_every_column()
    assert load_contradictions(EVERY).rows == ()


def test_softer_kinds_wait_until_they_are_asked_for():
    make_dispute("Relu", "partial", restriction="width < 16383")
    assert names() == []
    assert load_contradictions().counts["limits_fails"] == 1
    assert names(directions=("limits_fails",)) == ["Relu"]


@pytest.mark.parametrize(
    ("case", "claim"),
    [
        ({"since_version": 20, "opset": 20}, {"opset_max": 19}),
        ({"signature": {"inputs": [{"dtype": "int64"}]}}, {"dtypes": "int8;fp16"}),
    ],
)
def test_a_case_that_the_list_does_not_speak_of_is_not_held_against_it(case, claim):
    make_dispute(case=case, **claim)
    assert names() == []
    (row,) = load_contradictions(EVERY).rows
    assert row.direction == "outside"


@pytest.mark.parametrize(
    ("case", "claim"),
    [
        ({"since_version": 13, "opset": 20}, {"opset_max": 19}),
        ({"signature": {"inputs": [{"dtype": "float"}]}}, {"dtypes": "int8;fp16"}),
        ({"signature": {"inputs": []}}, {"dtypes": "int8;fp16"}),
        ({}, {"dtypes": "per backend definition"}),
    ],
)
def test_a_case_that_the_list_does_speak_of_is(case, claim):
    make_dispute(case=case, **claim)
    assert names() == ["Relu"]


def test_results_of_another_kind_version_or_operator_show_nothing():
    """The case shown is one of the version that decides, and no failure of our own."""
    column = make_column("rknn", make_device("rk3588", "rk3588"))
    old = make_target("2.0.0", column)
    case = make_case(make_operator("Relu"), name="a/first")
    make_probe(case, old, "crashed", kind="simulated")
    probe = make_dispute(column=column)
    make_probe(case, probe.target, "harness_error", kind="simulated")
    (row,) = rows()
    assert (row.probe.probe_id, row.probe.target_slug) == (probe.pk, probe.target.slug)


def test_the_claim_shown_is_the_one_that_the_cell_was_judged_by():
    """The newest version, then the rank; what other documents say is told beside it."""
    older, louder = make_source("older"), make_source("louder")
    operator = make_operator("Relu")
    for level, source, version, rank in (
        ("none", older, "2.0", 90), ("full", louder, "2.3.2", 30), ("partial", louder, "2.3.2", 20),
    ):  # fmt: skip
        make_claim(
            operator, "rknn", level, device_class="rk3588", source=source, rank=rank,
            runtime_version=version,
        )  # fmt: skip
    make_claim(operator, "rknn", "none", device_class="rk3566", rank=99)
    make_claim(operator, "qnn-htp", "none", rank=99)
    make_dispute(level="none", source=make_source("quiet"))
    (row,) = rows()
    assert (row.claim.source_slug, row.claim.level) == ("louder", "full")
    assert row.other_levels == ("none",)
    assert row.claim.level == Cell.objects.get(operator=operator, column__slug=RKNN).claim_level


def test_whatever_contradiction_a_cell_is_marked_with_is_listed():
    for name, level, outcome, fields in (
        ("Relu", "full", "mismatch", {}), ("Conv", "partial", "crashed", {}),
        ("Gelu", "none", "passed", {}), ("Abs", "none", "compiled", {}),
        ("Exp", "full", "rejected", {"opset_max": 0}),
    ):  # fmt: skip
        make_dispute(name, level, outcome, **fields)
    marked = Cell.objects.filter(contradiction=True).values_list("operator__name", flat=True)
    listed = [row.name for row in load_contradictions(EVERY).rows]
    assert sorted(marked) == sorted(listed)
    assert len(listed) == 5


def test_measured_against_simulated_is_not_about_a_list():
    probe = make_dispute(level="full", outcome="passed")
    make_probe(probe.case, probe.target, "passed", kind="measured", form="constant")
    rebuild_every_column()
    assert load_contradictions(EVERY).rows == ()


@pytest.fixture
def three():
    """Relu and Abs on the RK3588, MatMul on Snapdragon: two directions, two kinds."""
    make_dispute("Relu")
    make_dispute("Abs", "none", "passed", version="2.3.2")
    column = make_column("qnn-htp", make_device("snapdragon-8-gen-2", "snapdragon_8_gen_2"))
    probe = make_dispute("MatMul", column=column)
    Probe.objects.filter(pk=probe.pk).update(kind="measured")
    rebuild_cells(column=column)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["MatMul", "Relu", "Abs"]),  # the Top 20 in their order, then by name
        ({"search": "mat"}, ["MatMul"]),
        ({"search": "%"}, []),
        ({"columns": (RKNN,)}, ["Relu", "Abs"]),
        ({"columns": ("no.such.column",)}, []),
        ({"columns": (RKNN, QNN), "device_classes": ("snapdragon_8_gen_2",)}, ["MatMul"]),
        ({"device_classes": ("rk3588",)}, ["Relu", "Abs"]),
        ({"device_classes": ("jetson_orin",)}, []),
        ({"kinds": ("measured",)}, ["MatMul"]),
        ({"kinds": ("simulated",)}, ["Relu", "Abs"]),
        ({"kinds": ("documented",)}, []),
        ({"directions": ("listed_fails",)}, ["MatMul", "Relu"]),
        ({"directions": ("unlisted_works",)}, ["Abs"]),
        ({"directions": ()}, []),
        ({"versions": ("same",)}, ["Abs"]),
        ({"versions": ("unknown", "list_older")}, ["MatMul", "Relu"]),
    ],
)
def test_filters(three, filters, expected):
    assert names(**filters) == expected


def test_counts_keep_every_direction_within_the_other_filters(three):
    found = load_contradictions(ContradictionFilters(directions=("outside",), columns=(RKNN,)))
    nothing = dict.fromkeys(DIRECTIONS, 0)
    assert found.counts == nothing | {"listed_fails": 1, "unlisted_works": 1}
    assert {head.slug for head in found.columns} == {RKNN, QNN}


def test_columns_of_one_operator_follow_the_matrix():
    for slug, position in (("b-board", 10), ("a-board", 20)):
        column = make_column("rknn", make_device(slug, "rk3588"), position=position)
        make_dispute(column=column)
    assert [row.column.slug for row in rows()] == ["b-board.rknn.default", "a-board.rknn.default"]


def test_a_recording_of_what_is_live_here_is_counted_once_unless_it_is_named():
    for slug, origin in (("cpu", "local"), ("cpu-recorded", "recorded")):
        column = make_column(device=make_device(slug, origin=origin))
        make_dispute(column=column)
    assert [row.column.device_title for row in rows()] == ["Cpu"]
    assert len(rows(columns=("cpu-recorded.onnxruntime-cpu.default",))) == 1


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([], HARD),
        ([""], HARD),
        (["all"], tuple(DIRECTIONS)),
        (["outside", "listed_fails"], ("listed_fails", "outside")),
        (["nonsense"], ()),
    ],
)
def test_directions_of_a_query(asked, expected):
    assert directions_of(asked) == expected


def test_the_sheet_holds_both_sides_and_starts_no_formula():
    make_dispute("=cmd()", restriction="@SUM(1)", dtypes="-1")
    Probe.objects.update(message="+evil")
    (line,) = csv.DictReader(
        contradictions_csv(rows(), [Told("refused at compilation", "/probes/1/", "/r.zip")])
    )
    assert tuple(line) == CSV_COLUMNS
    assert line["operator"] == "'=cmd()"
    assert line["claim_restriction"] == "'@SUM(1)"
    assert (line["claim_dtypes"], line["message"]) == ("'-1", "'+evil")
    assert (line["claim"], line["claim_version"]) == ("full", "2.3.2")
    assert (line["kind"], line["probed_version"], line["level"]) == ("simulated", "2.5.0", "red")
    assert line["reason"] == "refused at compilation"
    assert (line["evidence"], line["reproducer"]) == ("/probes/1/", "/r.zip")


def test_the_api_gives_both_sides_and_is_paged(client, three):
    answer = client.get("/api/v1/contradictions/?limit=2")
    assert answer["X-Total-Count"] == "3"
    assert "offset=2" in answer["Link"]
    first, second = answer.json()
    assert (first["name"], second["name"]) == ("MatMul", "Relu")
    assert first["claim"]["source_title"] == "Operators of a test compiler"
    assert first["probe"]["reason"].startswith("refused at compilation: E RKNN")
    (last,) = client.get("/api/v1/contradictions/?limit=2&offset=2").json()
    assert (last["name"], last["direction"]) == ("Abs", "unlisted_works")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("search=relu", ["Relu"]),
        (f"column={QNN}", ["MatMul"]),
        ("device_class=rk3588&direction=unlisted_works", ["Abs"]),
        ("direction=limits_fails", []),
        ("direction=all&kind=measured", ["MatMul"]),
        ("versions=same", ["Abs"]),
    ],
)
def test_the_api_filters_as_the_page_does(client, three, query, expected):
    rows = client.get(f"/api/v1/contradictions/?{query}").json()
    assert [row["name"] for row in rows] == expected


def test_a_full_matrix_takes_seven_queries_and_little_time(django_assert_num_queries, client):
    fill()
    assert Column.objects.count() == 30
    started = process_time()
    with django_assert_num_queries(7):
        found = load_contradictions()
    assert process_time() - started < 3.0  # 0.5 on a quiet core; a shared one gets room
    assert len(found.rows) == 330 * 30 // 3
    part = client.get("/api/v1/contradictions/?limit=50").json()
    assert len(part) == 50
