"""Reports of real models against what the runtimes do when they are given the whole model."""

from itertools import chain
from pathlib import Path

import numpy as np
import onnx
import pytest

from compat.casebook import PACK, load_cases
from compat.catalogue import load_operators
from compat.exchange import load_evidence
from compat.reports import judge_facts
from compat.targets import resolve
from probes.cases.build import build_case
from probes.cases.case import Case, case_id
from probes.cases.pack import read_pack
from probes.cases.tables import all_rows
from probes.model.facts import make_facts
from probes.model.values import from_numpy
from probes.run.requests import ProbeRequest
from probes.run.sandbox import Sandbox

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parent.parent / "data"
REAL = DATA / "models" / "real"
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
EVIDENCE = Path(__file__).parent.parent.parent / "fixtures" / "evidence"

IMAGE = (1, 3, 224, 224)
# Each model with the shapes of its inputs (a number: that scalar).
WORKING = {
    REAL / "nmp.onnx": [(1, 43844, 1)],
    REAL / "silero_vad_v6.onnx": [(4, 576), (1, 1, 128), (1, 1, 128)],
    REAL / "silero_vad_16k_op15.onnx": [(1, 576), (2, 1, 128), 16000],
    REAL / "ch_ppocr_mobile_v2.0_cls_mobile.onnx": [(1, 3, 48, 192)],
    LIGHT / "light_squeezenet.onnx": [IMAGE],
    LIGHT / "light_shufflenet.onnx": [IMAGE],
    LIGHT / "light_densenet121.onnx": [IMAGE],
}
STAMPED = {DATA / "hostile" / "H17_ir_version_future.onnx": None}  # one node, IR version 99
NUMPY = {"float": np.float32, "int64": np.int64}
RUNTIMES = ("onnxruntime-cpu", "openvino-cpu")
REFUSALS = ("rejected", "run_error", "crashed", "timed_out", "out_of_memory")


@pytest.fixture
def recorded(tmp_path, settings):
    """The evidence that ships, for the operators of these models."""
    settings.CASE_DIR = tmp_path / "cases"
    facts = {path: make_facts(path) for path in (*WORKING, *STAMPED)}
    used = {(node["domain"], node["op"]) for each in facts.values() for node in each["nodes"]}
    load_operators()
    node_tests = (case for case in read_pack(PACK) if (case.domain, case.op_type) in used)
    mainstream = (build_case(row) for row in all_rows() if (row.domain, row.op) in used)
    load_cases(chain(node_tests, mainstream))
    for path in EVIDENCE.glob("*.jsonl.xz"):
        load_evidence(path)
    return facts


def whole(path, facts, shapes):
    """The model as one case; what it gives is not compared."""
    values = [
        make_value(value["dtype"], shape)
        for value, shape in zip(facts["inputs"], shapes or declared(facts), strict=True)
    ]
    model = path.read_bytes()
    return Case(
        id=case_id(model, values),
        name=path.stem,
        domain="ai.onnx",
        op_type="",
        since_version=0,
        origin="harvest",
        core=False,
        model=model,
        opset=0,
        ir_version=0,
        inputs=tuple(values),
        expected=(),
        oracle="",
        oracles_agree="",
        rtol=1.0,
        atol=1.0,
        compare="shape",
        timed=False,
        citation="",
        signature={},
        operators=(),
    )


def declared(facts):
    return [tuple(dim or 1 for dim in value["shape"]) for value in facts["inputs"]]


def make_value(dtype, shape):
    if not isinstance(shape, tuple):
        return from_numpy(np.array(shape, NUMPY[dtype]))
    random = np.random.default_rng(7)
    return from_numpy(random.uniform(-1, 1, shape).astype(NUMPY[dtype]))


def run_whole(runtime, models):
    """Path -> outcome of loading and running it once in a child."""
    with Sandbox(runtime) as sandbox:
        requests = [ProbeRequest(case) for case in models.values()]
        found = {result.case_id: result for result in sandbox.run_many(requests)}
    return {path: found[case.id] for path, case in models.items()}


def test_reports_of_real_models_agree_with_the_runtimes(recorded, subtests):
    shapes = {**WORKING, **STAMPED}
    models = {path: whole(path, facts, shapes[path]) for path, facts in recorded.items()}
    for runtime in RUNTIMES:
        ran = run_whole(runtime, models)
        for path, facts in recorded.items():
            (result,) = judge_facts(facts, resolve([runtime]))
            with subtests.test(runtime=runtime, model=path.name):
                agrees(result, ran[path])


def agrees(result, ran):
    outcome, levels = ran.outcome.value, {each["level"] for each in result["findings"]}
    assert outcome != "harness_error", ran.message
    assert result["totals"]["unknown"] == 0
    if outcome in REFUSALS:
        assert levels & {"red", "yellow"}, (outcome, ran.message)
    else:
        assert "red" not in levels
