"""What a sweep of the variants has to find by itself of OpenVINO 2026.4.1: wrong, and no error."""

from pathlib import Path

import pytest

from probes.cases.catalogue import read_pack
from probes.run.outcome import Outcome
from probes.run.sandbox import ProbeRequest, Sandbox

PACK = Path(__file__).parents[3] / "fixtures" / "cases" / "variants.pack.xz"
FAULTS = {
    "Softmax before opset 13 is computed along one axis": (
        "Softmax-11/float-rank3-left-out-v1", Outcome.MISMATCH),
    "antialias is ignored": (
        "Resize-18/float16-linear-pytorch_half_pixel-antialias1-scale0.75-sizes-rank3-constant"
        "-dynamic-v1", Outcome.MISMATCH),
    "ceil_mode with pads gives a window that begins in the padding": (
        "MaxPool-22/float-rank4-kernel2-strides2-pad1-ceil_mode1-v1", Outcome.WRONG_SHAPE),
    "the scale is divided from the sizes, so that round_prefer_ceil meets other ties": (
        "Resize-13/float-nearest-round_prefer_ceil-scale1.2-scales-rank4-constant-v1",
        Outcome.MISMATCH),
    "int64 beyond int32 is clamped": ("Add-14/int64-rank4-same-wide-v1", Outcome.MISMATCH),
    "double beyond single is clamped": (
        "Cast-23/double-float-rank5-beyond-dynamic-v1", Outcome.MISMATCH),
    "an end of 2**63 - 1 leaves out the last row": (
        "Slice-13/float-largest-int64-v1", Outcome.WRONG_SHAPE),
}  # fmt: skip


@pytest.fixture(scope="module")
def found():
    wanted = {f"variant/{name}" for name, _ in FAULTS.values()}
    cases = {case.id: case for case in read_pack(PACK) if case.name in wanted}
    names = {}
    with Sandbox("openvino-cpu", latency=False) as sandbox:
        assert sandbox.describe()[0].startswith("2026.4.1")
        for result in sandbox.run_many(map(ProbeRequest, cases.values())):
            case = cases[result.case_id]
            names[case.name] = (result.outcome, case.oracles_agree)
    return names


@pytest.mark.parametrize("fault", FAULTS)
def test_the_variants_show_it(found, fault):
    name, outcome = FAULTS[fault]
    seen, word = found[f"variant/{name}"]
    assert seen is outcome
    assert word in ("both", "one")  # a disputed answer would be no evidence
