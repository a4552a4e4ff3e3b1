"""The vendors' own toolchains, built by `python -m probes env build`, on 28 forms that models hold.

tests/data/forms: one model an operator, and how each toolchain ended on it in an independent run.
"""

import csv
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from probes.cases.case import Case, case_id, operators_of, opset_of
from probes.cases.catalogue import mainstream_cases, read_pack
from probes.cases.forms import forms_for
from probes.cli import env
from probes.model.values import DTYPES, from_numpy, to_numpy
from probes.run import envs
from probes.run.outcome import Outcome
from probes.run.sandbox import ProbeRequest, Sandbox

pytestmark = pytest.mark.toolchains

ROOT = Path(__file__).parents[2]
PACK = ROOT / "fixtures" / "cases" / f"node-onnx-{onnx.__version__}.pack.xz"
FORMS = Path(__file__).parents[1] / "data" / "forms"
# outcome -> the word of the independent run
WORDS = {"passed": "pass", "close": "pass", "compiled": "compiled", "rejected": "rejected"}
COLUMNS = {
    "rknn": {},
    "qnn-htp": {},
    "tensorrt-rtx.86": {"compute_capability": "86"},
    "tensorrt-rtx.75": {"compute_capability": "75"},
    "iree.cuda-sm_87": {"backend": "cuda-sm_87"},
    "iree.vulkan-valhall4": {"backend": "vulkan-valhall4"},
    "iree.vulkan-adreno": {"backend": "vulkan-adreno"},
}


def load_statuses():
    with (FORMS / "statuses.csv").open(newline="") as file:
        return {row.pop("form"): row for row in csv.DictReader(file)}


STATUSES = load_statuses()


def make_form(name):
    """The form as a case: inputs drawn here, expected outputs from ONNX Runtime's CPU."""
    proto = onnx.load(FORMS / f"{name}.onnx")
    random = np.random.default_rng(7)
    inputs = tuple(_draw(random, info) for info in proto.graph.input)
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    fed = zip(proto.graph.input, inputs, strict=True)
    outputs = session.run(None, {info.name: to_numpy(value) for info, value in fed})
    node = proto.graph.node[-1]
    return Case(
        id=case_id(proto, inputs),
        name=f"forms/{name}",
        domain="ai.onnx",
        op_type=node.op_type,
        since_version=1,
        origin="mainstream",
        core=True,
        model=proto.SerializeToString(),
        opset=opset_of(proto),
        ir_version=proto.ir_version,
        inputs=inputs,
        expected=tuple(map(from_numpy, outputs)),
        oracle="onnxruntime",
        oracles_agree="",
        rtol=2e-2,  # a recurrent cell in half precision is off by that much
        atol=1e-5,
        compare="values",
        timed=False,
        citation="",
        signature={},
        operators=operators_of(proto),
    )


def _draw(random, info):
    of = info.type.tensor_type
    shape = [dim.dim_value for dim in of.shape.dim]
    if DTYPES[of.elem_type].name.startswith("int"):
        return from_numpy(random.integers(0, 4, shape).astype(DTYPES[of.elem_type].numpy))
    return from_numpy(random.uniform(-1, 1, shape).astype(np.float32))


@pytest.fixture(scope="session", params=COLUMNS)
def column(request):
    """A configuration of a toolchain, its environment made where it is not there yet."""
    slug = request.param.partition(".")[0]
    if not envs.interpreter(slug):
        assert env.main(["build", slug]) == 0
    with Sandbox(slug, COLUMNS[request.param], latency=False) as sandbox:
        yield request.param, sandbox


def test_every_form_ends_as_it_did_for_others(column):
    name, sandbox = column
    cases = {made.id: form for form in STATUSES if (made := make_form(form))}
    results = sandbox.run_many(ProbeRequest(make_form(form)) for form in STATUSES)
    found = {cases[result.case_id]: result for result in results}
    wrong = {
        form: (result.outcome.value, result.message[:200])
        for form, result in found.items()
        if WORDS.get(result.outcome.value, "other") != STATUSES[form][name]
    }
    assert len(found) == len(STATUSES) == 28
    assert wrong == {}


def test_an_output_shape_that_we_leave_open_is_not_refused():
    """The checker of IREE's importer wants one; it follows from the graph."""
    case = next(case for case in mainstream_cases() if case.op_type == "NonZero")
    assert not onnx.load_from_string(case.model).graph.output[0].type.tensor_type.HasField("shape")
    with Sandbox("iree", {"backend": "cuda-sm_87"}) as sandbox:
        assert sandbox.run(ProbeRequest(case)).outcome is Outcome.COMPILED


def test_a_compiler_that_crashes_is_one_case_and_loses_nothing():
    """uint8 element-wise operators end RKNN's compiler by a signal; the sweep goes on."""
    names = ("test_add_uint8", "test_mul_uint8", "test_sub_uint8", "test_add", "test_mul")
    cases = [case for case in read_pack(PACK) if case.name.removeprefix("node/") in names]
    with Sandbox("rknn") as sandbox:
        wants = sandbox.capabilities()
        forms = [
            (case, next(form for form in forms_for(case, wants) if form in ("as_is", "restamped")))
            for case in cases * 5
        ]
        found = list(sandbox.run_many(ProbeRequest(*pair) for pair in forms))
    assert len(found) == len(forms)
    crashed = [result for result in found if result.outcome is Outcome.CRASHED]
    assert crashed
    assert all(result.signal.startswith("SIG") and result.confirmed for result in crashed)
