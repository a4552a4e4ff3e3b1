"""Cells after evidence and claims arrive: which version speaks, what is beside it."""

import pytest

from compat.cells import judge_column, rebuild_cells
from compat.models import Cell
from probes.cases import origins
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


def cell(column, operator="Relu"):
    return Cell.objects.get(column=column, operator__name=operator)


def test_a_passing_core_is_green_and_names_the_probe_and_version():
    target = make_target()
    probe = make_probe(make_case(), target, p50_ms=2.0)
    assert rebuild_cells(column=target.column) == 1
    found = cell(target.column)
    assert (found.level, found.kind, found.reason_code) == ("green", "measured", "core_pass")
    assert (found.target, found.probe) == (target, probe)
    assert (found.core_passed, found.core_total) == (1, 1)


def test_the_newest_version_with_attributable_evidence_decides():
    column = make_column()
    old, new = make_target("1.9.0", column), make_target("1.10.0", column)
    case = make_case()
    make_probe(case, old)
    broken = make_probe(case, new, "harness_error")
    rebuild_cells(column=column)
    assert (cell(column).level, cell(column).target) == ("green", old)
    broken.outcome = "rejected"
    broken.save()
    rebuild_cells(column=column)
    assert (cell(column).level, cell(column).target) == ("red", new)


def test_latency_is_the_median_of_the_timed_core_cases():
    target = make_target()
    for p50 in (1.0, 3.0, 50.0, None):
        make_probe(make_case(), target, p50_ms=p50)
    make_probe(make_case(core=False), target, p50_ms=900.0)
    rebuild_cells(column=target.column)
    assert cell(target.column).p50_ms == 3.0


def test_only_the_asked_operators_are_judged_again():
    target = make_target()
    relu, conv = make_operator("Relu"), make_operator("Conv")
    for operator in (relu, conv):
        make_probe(make_case(operator), target)
    rebuild_cells(column=target.column, operators=[conv.pk])
    assert [found.operator for found in Cell.objects.all()] == [conv]


def test_a_cell_goes_when_nothing_speaks_for_it_any_more():
    column = make_column("rknn", make_device("rk3588", "rk3588"))
    claim = make_claim(device_class="rk3588")
    rebuild_cells(column=column)
    assert cell(column).kind == "documented"
    claim.delete()
    rebuild_cells(column=column)
    assert not Cell.objects.exists()


def test_claims_join_by_runtime_and_device_class_only():
    column = make_column("tensorrt", make_device("orin", "jetson_orin"))
    make_claim(make_operator("Relu"), "tensorrt", device_class="jetson_orin")
    make_claim(make_operator("Conv"), "tensorrt", device_class="x86_gpu")
    make_claim(make_operator("Gelu"), "tensorrt-dla", device_class="jetson_orin")
    make_claim(make_operator("Abs"), "tensorrt", device_class="")
    found = judge_column(column, None)
    assert sorted(each.operator.name for each in found) == ["Abs", "Relu"]


@pytest.mark.parametrize(
    ("loud", "quiet", "level"),
    [
        ({"rank": 2, "level": "none"}, {"rank": 1, "level": "full"}, "red"),
        ({"level": "full", "runtime_version": "8.6"}, {"level": "none", "rank": 9,
                                                       "runtime_version": "8.5"}, "green"),
        ({"level": "none", "opset_min": 13}, {"level": "full", "opset_max": 12}, "red"),
        ({"level": "partial"}, {"level": "full"}, "yellow"),
    ],
    ids=["rank decides among equal versions", "the newest version decides",
         "the newest opsets speak", "limits are told before a plain yes"],
)  # fmt: skip
@pytest.mark.parametrize("order", [1, -1])
def test_of_several_claims_one_decides_and_all_are_kept(loud, quiet, level, order):
    column = make_column("rknn", make_device("rk3588", "rk3588"))
    for number, claim in enumerate([loud, quiet][::order]):
        make_claim(source=make_source(f"list-{number}"), device_class="rk3588", **claim)
    rebuild_cells(column=column)
    assert cell(column).level == level
    assert column.device.columns.count() == 1


def test_evidence_against_a_claim_is_a_contradiction():
    target = make_target()
    make_probe(make_case(), target, "rejected")
    make_claim(runtime="onnxruntime-cpu", device_class="x86_cpu")
    rebuild_cells(column=target.column)
    found = cell(target.column)
    assert (found.level, found.kind, found.claim_level) == ("red", "measured", "full")
    assert found.contradiction


@pytest.mark.parametrize("origin", sorted(origins.OF_OTHERS))
def test_another_graph_for_the_same_says_nothing_of_the_operator(origin):
    target = make_target()
    make_probe(make_case(name="core"), target, "passed")
    other = make_case(name="node/test_relu_expanded", core=False, origin=origin)
    make_probe(other, target, "rejected")
    rebuild_cells(column=target.column)
    assert (cell(target.column).level, cell(target.column).rest_total) == ("green", 0)
