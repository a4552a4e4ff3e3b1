"""What a user may call a target, and what is said when nothing has that name."""

import pytest

from compat.targets import TargetError, choose_probed, default_columns, resolve
from tests.make import make_cell, make_column, make_device, make_operator, make_target

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def columns():
    """ONNX Runtime on this machine and as recorded elsewhere, RKNN on a board."""
    local = make_column(device=make_device("here", origin="local"))
    recorded = make_column(device=make_device("elsewhere", origin="recorded"))
    board = make_column("rknn", make_device("rk3588", "rk3588"))
    for column in (local, recorded, board):
        make_cell(make_operator(), column)
    return local, recorded, board


def test_a_version_a_column_and_a_runtime_are_names(columns, django_assert_max_num_queries):
    local, recorded, board = columns
    target = make_target("1.32.0", recorded)
    with django_assert_max_num_queries(3):
        found = resolve([target.slug, local.slug, "rknn"])
    assert found == [target, local, board]


def test_a_runtime_on_several_devices_means_this_machine(columns):
    assert resolve(["onnxruntime-cpu"]) == [columns[0]]


@pytest.mark.parametrize("part", ["rknn", "rk3588", "here"])
def test_a_device_or_its_class_is_a_name_where_one_column_has_it(columns, part):
    assert len(resolve([part])) == 1


def test_the_same_target_twice_is_one(columns):
    local, _, board = columns
    assert resolve([board.slug, "rknn", f" {board.slug} ", local.slug]) == [board, local]


def test_a_runtime_on_several_other_devices_is_ambiguous(columns):
    other = make_column("rknn", make_device("rk3588s", "rk3588"))
    make_cell(make_operator(), other)
    with pytest.raises(TargetError, match=r"rk3588\.rknn\.default, rk3588s\.rknn\.default"):
        resolve(["rknn"])


def test_a_misspelt_name_gets_near_ones(columns):
    with pytest.raises(TargetError, match=r"Near it: .*onnxruntime-cpu"):
        resolve(["onnxruntime"])
    with pytest.raises(TargetError, match=r'"here\.onnxruntime-cpu\.default@9"\. Near it'):
        resolve(["here.onnxruntime-cpu.default@9"])


def test_a_hostile_name_is_quoted_short_and_printable():
    with pytest.raises(TargetError) as error:
        resolve(["\x1b[31m\n" + "x" * 5000])
    assert "\x1b" not in str(error.value)
    assert len(str(error.value)) < 300


def test_a_column_without_evidence_can_be_named_but_is_no_default(columns):
    empty = make_column("tvm")
    assert resolve([empty.slug]) == [empty]
    assert empty not in default_columns()
    assert len(default_columns()) == 3


def test_only_what_a_worker_has_can_be_probed(columns):
    local, recorded, _ = columns
    make_target("1.9.0", local)
    newest = make_target("1.10.0", local)
    make_target("1.32.0", recorded)
    assert choose_probed("onnxruntime-cpu") == newest
    for name in (recorded.slug, f"{recorded.slug}@1.32.0", "rknn"):
        with pytest.raises(TargetError, match="not probed from here"):
            choose_probed(name)
