"""The matrix: what is shown, what a filter keeps, and what it costs."""

import csv
from time import process_time

import pytest

from compat.columns import default_heads, load_heads
from compat.matrix import CellView, MatrixFilters, load_matrix, matrix_csv
from compat.models import Cell, Operator
from compat.three_colours import load_three_colours, three_colours_csv
from compat.top20 import TOP20
from tests.make import make_cell, make_column, make_device, make_operator, make_target

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def names(matrix):
    return [row.name for row in matrix.rows]


def slugs(matrix):
    return [head.slug for head in matrix.columns]


@pytest.fixture
def board():
    """Relu and Conv on a CPU (measured) and on a board (one claim, one unknown)."""
    cpu = make_column(device=make_device(origin="local"), position=50)
    board = make_column("rknn", make_device("rk3588", "rk3588"), position=10)
    target = make_target("1.32.0", cpu)
    relu, conv = make_operator("Relu"), make_operator("Conv")
    make_operator("Gelu")
    make_cell(relu, cpu, target=target, p50_ms=0.5)
    make_cell(conv, cpu, "red", target=target, reason_code="refused")
    make_cell(relu, board, "yellow", "documented", reason_code="claim_partial")
    return cpu, board


def test_columns_with_evidence_are_shown_and_this_machine_comes_first(board):
    make_column("empty")
    hidden = make_column("hidden", shown=False)
    make_cell(make_operator("Relu"), hidden)
    matrix = load_matrix()
    assert slugs(matrix) == ["test-cpu.onnxruntime-cpu.default", "rk3588.rknn.default"]
    assert [head.claimed_only for head in matrix.columns] == [False, True]
    assert [head.version for head in matrix.columns] == ["1.32.0", ""]


def test_every_operator_has_a_row_and_nothing_known_is_an_empty_cell(board):
    rows = {row.name: row.cells for row in load_matrix().rows}
    assert rows["Relu"][0] == CellView(
        "green", "measured", False, "core_pass", {"passed": 1, "total": 1}, 0.5
    )
    assert rows["Conv"][1] is None
    assert rows["Gelu"] == (None, None)


def test_counts_are_over_the_shown_operators(board):
    assert load_matrix().columns[0].counts == {"green": 1, "yellow": 0, "red": 1, "unknown": 1}
    only_conv = load_matrix(MatrixFilters(search="conv")).columns[0].counts
    assert only_conv == {"green": 0, "yellow": 0, "red": 1, "unknown": 0}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"search": "el"}, ["Gelu", "Relu"]),
        ({"search": "%"}, []),
        ({"domains": ("ai.onnx.ml",)}, []),
        ({"levels": ("red",)}, ["Conv"]),
        ({"levels": ("yellow", "red")}, ["Conv", "Relu"]),
        ({"levels": ("unknown",)}, ["Conv", "Gelu"]),
        ({"kinds": ("documented",)}, ["Relu"]),
        ({"kinds": ("simulated",)}, []),
        ({"device_classes": ("rk3588",), "levels": ("red",)}, []),
        ({"operators": (("ai.onnx", "Gelu"), ("com.evil", "Relu"))}, ["Gelu"]),
        ({"operators": ()}, []),
        ({"top20": True, "levels": ("green", "red")}, ["Conv", "Relu"]),
    ],
)
def test_filters_keep_rows(board, filters, expected):
    assert names(load_matrix(MatrixFilters(**filters))) == expected


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"device_classes": ("rk3588",)}, ["rk3588.rknn.default"]),
        ({"kinds": ("measured",)}, ["test-cpu.onnxruntime-cpu.default"]),
        ({"columns": ("rk3588.rknn.default",)}, ["rk3588.rknn.default"]),
        ({"columns": ("no.such.column",)}, []),
    ],
)
def test_filters_keep_columns(board, filters, expected):
    assert slugs(load_matrix(MatrixFilters(**filters))) == expected


def test_the_kind_filter_blanks_other_cells(board):
    only_claims = MatrixFilters(kinds=("documented",), columns=tuple(slugs(load_matrix())))
    (row,) = load_matrix(only_claims).rows
    assert row.cells[0] is None
    assert row.cells[1].kind == "documented"


def test_a_named_column_is_shown_even_when_it_is_empty():
    column = make_column("empty", shown=False)
    make_operator()
    matrix = load_matrix(MatrixFilters(columns=(column.slug,)))
    assert slugs(matrix) == [column.slug]


def test_the_top_20_view_follows_the_table():
    for row in reversed(TOP20):
        make_operator(row.name, row.domain)
    make_operator("Abs")
    matrix = load_matrix(MatrixFilters(top20=True))
    assert [(row.domain, row.name) for row in matrix.rows] == [(r.domain, r.name) for r in TOP20]
    assert sum(not row.beside for row in TOP20) == 20
    assert all(row.top20 for row in matrix.rows)


def fill_catalogue(operators=300, columns=30):
    made = Operator.objects.bulk_create(
        Operator(domain="ai.onnx", name=f"Op{i:03}", since_versions=[1]) for i in range(operators)
    )
    devices = [make_column(f"runtime{i:02}") for i in range(columns)]
    Cell.objects.bulk_create(
        Cell(
            operator=operator,
            column=column,
            level=("green", "yellow", "red")[(i + j) % 3],
            kind="measured",
            reason_code="core_some",
            reason_params={"passed": i % 4, "total": 4, "which": "node/test_something"},
            p50_ms=0.1 * i,
        )
        for i, operator in enumerate(made)
        for j, column in enumerate(devices)
    )


def test_a_full_matrix_takes_three_queries_and_little_time(django_assert_num_queries):
    fill_catalogue()
    with django_assert_num_queries(3):
        matrix = load_matrix()
    assert len(matrix.rows) == 300
    assert len(matrix.columns) == 30
    seconds = []
    for _ in range(3):
        start = process_time()
        load_matrix()
        seconds.append(process_time() - start)
    assert min(seconds) < 0.15  # 0.03 on a quiet core; a shared one gets room


def test_three_colours_are_the_worst_of_the_chosen_columns(board, django_assert_num_queries):
    with django_assert_num_queries(3):
        lines = load_three_colours([column.slug for column in board])
    assert [(line.name, line.level) for line in lines] == [
        ("Conv", "red"),
        ("Relu", "yellow"),
        ("Gelu", "unknown"),
    ]
    assert lines[0].reason_code == "refused"
    assert lines[1].column_slug == "rk3588.rknn.default"


def test_an_operator_that_one_target_has_not_answered_for_is_not_safe(board):
    relu, gelu = load_three_colours([board[0].slug], operators=(("ai.onnx", "Relu"),)), None
    assert [line.level for line in relu] == ["green"]
    make_cell(make_operator("Gelu"), board[0])
    gelu = load_three_colours([column.slug for column in board], operators=(("ai.onnx", "Gelu"),))
    assert [(line.level, line.column_slug) for line in gelu] == [("unknown", board[1].slug)]


def test_no_column_no_list():
    make_operator()
    assert load_three_colours(["no.such.column"]) == []


def test_csv_says_level_and_kind_and_starts_no_formula(board):
    make_operator("=HYPERLINK(1)", domain="@evil")
    lines = list(csv.reader(matrix_csv(load_matrix())))
    assert lines[0] == ["domain", "operator", *slugs(load_matrix())]
    assert ["ai.onnx", "Relu", "green measured", "yellow documented"] in lines
    assert ["'@evil", "'=HYPERLINK(1)", "unknown none", "unknown none"] in lines


def test_three_colours_csv_has_the_reason_and_what_works_instead_in_words(board):
    lines = load_three_colours([board[0].slug])
    reasons = [f"why {line.name}" for line in lines]
    instead = [f"={line.name}" for line in lines]
    rows = list(csv.reader(three_colours_csv(lines, reasons, instead)))
    told = ["why Conv", "'=Conv"]
    assert rows[1] == ["ai.onnx", "Conv", "red", "avoid", "measured", board[0].slug, *told]


def test_sister_chips_and_second_precisions_are_found_by_name_class_or_asking():
    shown = make_column("rknn", make_device("rk3588", "rk3588"))
    hidden = make_column("rknn", make_device("rk3576", "rk3576"), shown=False)
    for column in (shown, hidden):
        make_cell(make_operator("Relu"), column)
    slugs = [head.slug for head in load_heads()]
    assert slugs == [shown.slug]
    assert [head.slug for head in load_heads(hidden=True)] == [hidden.slug, shown.slug]
    assert [head.slug for head in load_heads(device_classes=["rk3576"])] == [hidden.slug]
    assert [head.slug for head in load_heads(slugs=[hidden.slug])] == [hidden.slug]


def test_what_was_measured_is_compared_before_what_was_simulated():
    chip = make_column("rknn", make_device("rk3588", "rk3588", origin="catalogue"))
    cpu = make_column(device=make_device("cpu", origin="local"))
    make_cell(make_operator("Relu"), chip, kind="simulated")
    assert [head.slug for head in default_heads(load_heads())] == [chip.slug]
    make_cell(make_operator("Relu"), cpu, kind="measured")
    assert [head.slug for head in default_heads(load_heads())] == [cpu.slug]
