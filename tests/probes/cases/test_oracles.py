"""The float64 references against ONNX Runtime and onnx's evaluator, on every mainstream case."""

from contextlib import ExitStack
from itertools import islice

import numpy as np
import pytest

from probes.cases.catalogue import mainstream_cases
from probes.cases.reference import REFERENCES
from probes.cases.tables import all_rows
from probes.run.outcome import Outcome
from probes.run.sandbox import ProbeRequest, Sandbox

BATCH = 16  # cases in memory at a time
# Where onnx's evaluator is wrong (LRN, Loop) or cannot run the node; the rows say agree="one".
ODD = {
    "mainstream/LRN/64-55-v1": Outcome.CLOSE,
    "mainstream/LRN/192-55-v1": Outcome.CLOSE,
    "mainstream/Loop/decoder-10x256-v1": Outcome.WRONG_SHAPE,
    "mainstream/GatherElements/boxes-8400x4-v1": Outcome.RUN_ERROR,
    "mainstream/GridSample/attention-8x32-25x34-v1": Outcome.RUN_ERROR,
    "mainstream/GridSample/warp-64-56-v1": Outcome.RUN_ERROR,
    "mainstream/MultiHeadAttention/8x250x64-v1": Outcome.REJECTED,
    "mainstream/DequantizeLinear/64-56-v1": Outcome.REJECTED,
    "mainstream/DequantizeLinear/axis0-64x64x3x3-v1": Outcome.REJECTED,
}


@pytest.fixture(scope="module")
def odd():
    """Outcomes other than a pass, by runtime and case name; the cases are built once for both."""
    found = {runtime: {} for runtime in ("onnxruntime-cpu", "reference")}
    left = mainstream_cases()
    with ExitStack() as stack:
        sandboxes = {
            runtime: stack.enter_context(Sandbox(runtime, latency=False)) for runtime in found
        }
        while batch := {case.id: case for case in islice(left, BATCH)}:
            for runtime, sandbox in sandboxes.items():
                for result in sandbox.run_many(map(ProbeRequest, batch.values())):
                    if result.outcome is not Outcome.PASSED:
                        found[runtime][batch[result.case_id].name] = result.outcome
    return found


def test_onnx_runtime_agrees_on_every_case(odd):
    assert odd["onnxruntime-cpu"] == {}


def test_the_evaluator_agrees_on_every_case_but_the_listed_ones(odd):
    assert odd["reference"] == ODD


def test_rows_say_where_only_one_oracle_agrees():
    assert {row.name for row in all_rows() if row.agree == "one"} == set(ODD)


def test_no_reference_is_without_a_case():
    assert REFERENCES.keys() == {row.op for row in all_rows()}


ROW = np.float64([[[[1, 2, 3, 4, 5]]]])
PAIR = np.float64([[[[2, 4]]]])


@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "expected"),
    [
        ("MaxPool", [ROW], {"kernel_shape": [1, 2], "strides": [1, 2], "ceil_mode": 1}, [2, 4, 5]),
        ("AveragePool", [PAIR],
         {"kernel_shape": [1, 2], "pads": [0, 1, 0, 0], "count_include_pad": 1}, [1, 3]),
        ("AveragePool", [PAIR], {"kernel_shape": [1, 2], "pads": [0, 1, 0, 0]}, [2, 3]),
        ("Conv", [ROW, np.ones((1, 1, 1, 2))], {"dilations": [1, 3]}, [5, 7]),
        ("Conv", [ROW, np.ones((1, 1, 1, 2))], {"auto_pad": "SAME_LOWER"}, [1, 3, 5, 7, 9]),
        ("ConvTranspose", [PAIR, np.ones((1, 1, 1, 2))],
         {"strides": [1, 2], "output_padding": [0, 1]}, [2, 2, 4, 4, 0]),
        ("LRN", [np.float64([1, 2]).reshape(1, 2, 1, 1)],
         {"size": 3, "alpha": 3, "beta": 1, "bias": 1}, [1 / 6, 2 / 6]),
        ("CumSum", [np.arange(1, 4), 0], {"exclusive": 1, "reverse": 1}, [5, 3, 0]),
        ("Div", [np.asarray([-7, 7]), np.asarray([2, 2])], {}, [-3, 3]),
        ("Round", [np.float64([0.5, 1.5, -0.5])], {}, [0, 2, 0]),
        ("ArgMax", [np.float64([3, 5, 5])], {"keepdims": 0}, [1]),
    ],
)  # fmt: skip
def test_references_by_hand(op, inputs, attrs, expected):
    """Figures of the operator's own definition, worked out by hand."""
    result = REFERENCES[op](inputs, attrs)[0]
    np.testing.assert_allclose(result.reshape(-1), expected, rtol=1e-12)
