"""A Gelu that a runtime refuses, and other ways to compute it, for tests of recommendations."""

from compat.cells import rebuild_cells
from tests.make import make_case, make_operator, make_probe, make_target

COLUMN = "test-cpu.onnxruntime-cpu.default"
FORM = "128x3072-v1"
GELU = f"mainstream/Gelu/{FORM}"


def make_gelu(outcome="rejected", **ways):
    """Gelu-20 with this outcome, and ways (erf, tanh_near) with theirs; returns the probes."""
    operator, target = make_operator("Gelu", since_versions=[20]), make_target()
    found = {"": make_probe(make_case(operator, GELU, since_version=20), target, outcome)}
    for name, ended in ways.items():
        way = name.replace("_", "-")
        case = make_case(
            operator, f"alternative/Gelu/{FORM}/{way}-v1", core=False, origin="alternative",
            dtypes=[], citation="as exporters write it",
        )  # fmt: skip
        found[way] = make_probe(case, target, ended, p50_ms=0.3)
    rebuild_cells(column=target.column)
    return found
