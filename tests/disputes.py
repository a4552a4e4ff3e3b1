"""A list and a probe that disagree: one pair as it is judged, and a full matrix of them."""

from compat.cells import rebuild_cells
from compat.models import Case, Cell, Claim, Operator, Probe
from tests.make import (
    make_case,
    make_claim,
    make_column,
    make_device,
    make_operator,
    make_probe,
    make_source,
    make_sweep,
    make_target,
)

RKNN = "rk3588.rknn.default"
QNN = "snapdragon-8-gen-2.qnn-htp.default"


def make_dispute(
    name="Relu", level="full", outcome="rejected", column=None, version="2.5.0", case=(), **claim
):
    """A claim and a simulated probe on its column; the claim is for 2.3.2."""
    column = column or make_column("rknn", make_device("rk3588", "rk3588"))
    operator = make_operator(name)
    claim.setdefault("device_class", column.device.device_class)
    make_claim(operator, column.runtime, level, **claim)
    probe = make_probe(
        make_case(operator, **dict(case)), make_target(version, column), outcome,
        kind="simulated", stage="compile", message="E RKNN: the input need to be constant!",
    )  # fmt: skip
    rebuild_cells(column=column)
    return probe


def fill(operators=330, columns=30):
    """Every third cell of a full matrix contradicts its list; the others are left out."""
    device, source = make_device("rk3588", "rk3588"), make_source()
    names = [Operator(domain="ai.onnx", name=f"Op{i:03}") for i in range(operators)]
    cases = Case.objects.bulk_create(map(make_bare_case, Operator.objects.bulk_create(names)))
    for at in range(columns):
        target = make_target("2.5.0", make_column(f"runtime{at}", device))
        fill_column(target, source, cases[at % 3 :: 3])


def fill_column(target, source, cases):
    """Claims, refused probes, and the cells as they would be judged."""
    sweep, column = make_sweep(target), target.column
    Claim.objects.bulk_create(
        Claim(
            operator=case.operator, source=source, runtime=column.runtime, level="full",
            runtime_version="2.3.2",
        )
        for case in cases
    )  # fmt: skip
    Probe.objects.bulk_create(
        Probe(
            sweep=sweep, target=target, case=case, operator=case.operator, form="as_is",
            state="done", latest=True, kind="simulated", outcome="rejected", message="no kernel",
        )
        for case in cases
    )  # fmt: skip
    Cell.objects.bulk_create(
        Cell(
            operator=case.operator, column=column, target=target, kind="simulated", level="red",
            claim_level="full", reason_code="refused",
            reason_params={"stage": "compile", "message": "no kernel"},
        )
        for case in cases
    )  # fmt: skip


def make_bare_case(operator):
    return Case(
        id=operator.name.rjust(32, "0"), name=operator.name, operator=operator, since_version=1,
        core=True, origin="mainstream", opset=17, ir_version=9, oracle="numpy",
        signature={"inputs": [{"dtype": "float", "shape": [1, 3, 224, 224]}] * 3},
    )  # fmt: skip
