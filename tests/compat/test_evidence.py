"""The recorded sweeps that ship: complete, of real runs, and of the cases that ship."""

import csv

import pytest
from django.conf import settings

from compat import casebook
from compat.exchange import read_documents
from compat.fleet import LOCAL_RUNTIMES
from probes.run.outcome import Outcome
from probes.run.registry import RUNTIMES

FILES = sorted((settings.FIXTURES_DIR / "evidence").glob("*.jsonl.xz"))
CLASSES = {"jetson_orin", "rk3588", "snapdragon_8_gen_2", "x86_gpu"}
# Columns in which the official node tests were swept too, not the mainstream set alone.
WHOLE = (
    "rk3588.rknn.default",
    "snapdragon-8-gen-2.qnn-htp.default",
    "nvidia-a10.tensorrt-rtx.sm86",
)
MEGABYTES = 10**6


class Recorded:
    """A file: its headers and all its results."""

    def __init__(self, path):
        documents = [(header, list(results)) for header, results in read_documents(path)]
        self.headers = [header for header, _ in documents]
        self.results = [result for _, results in documents for result in results]
        self.target = self.headers[0]["target"]
        self.is_measured = self.target["capabilities"]["evidence"] == "measured"
        names = ("device", "runtime", "config_name")
        self.column = ".".join(self.target[name] for name in names)

    def known(self):
        """The cases with a result in the form as they are."""
        return [result.case_id for result in self.results if result.form == "as_is"]


@pytest.fixture(scope="module")
def recorded():
    return {path.name: Recorded(path) for path in FILES}


@pytest.fixture(scope="module")
def shipped():
    """Case ids: of the node tests of the newest onnx, of the mainstream list, of everything."""
    node = {case.id for case in casebook.read_pack(casebook.PACK)}
    with casebook.MAINSTREAM.open(newline="") as file:
        built = {row["id"] for row in csv.DictReader(file)}
    packs = [*casebook.PACKS.values(), *(path for path in casebook.BUILT if path.exists())]
    return node, built, built | {case.id for pack in packs for case in casebook.read_pack(pack)}


each_file = pytest.mark.parametrize("name", [path.name for path in FILES])


def test_every_class_of_device_has_evidence_of_its_own(recorded):
    measured = {each.target["runtime"] for each in recorded.values() if each.is_measured}
    assert measured >= set(LOCAL_RUNTIMES)
    simulated = {each.target["device_class"] for each in recorded.values() if not each.is_measured}
    assert simulated >= CLASSES
    assert {each.column for each in recorded.values()} >= set(WHOLE)
    assert sum(path.stat().st_size for path in FILES) < 20 * MEGABYTES


@each_file
def test_a_recorded_sweep_covers_every_case_once(name, recorded, shipped):
    found, (node, built, everything) = recorded[name], shipped
    known = found.known()
    assert len(known) == len(set(known))
    assert built <= set(known)
    if found.target["runtime"] in LOCAL_RUNTIMES:
        assert set(known) == everything
    if found.column in WHOLE:
        assert node <= set(known)


@each_file
def test_a_recorded_sweep_says_where_and_with_what_it_ran(name, recorded):
    found = recorded[name]
    runtime = RUNTIMES[found.target["runtime"]]
    for header in found.headers:
        assert header["date"] > "2026-11"
        assert header["environment"]["cpu_model"]
        assert header["environment"]["runtime_version"] == found.target["runtime_version"]
    if runtime.own_env:
        pins = " ".join((*runtime.requirements, *runtime.no_deps))
        assert f"=={found.target['runtime_version']}" in pins
    if found.is_measured:
        assert found.headers[0]["environment"]["cpu_model"] == found.target["device_title"]


@each_file
def test_only_what_was_measured_has_a_latency(name, recorded, shipped):
    found, (_, built, _) = recorded[name], shipped
    timed = {result.case_id for result in found.results if result.latency}
    if not found.is_measured:
        assert not timed
    if found.target["runtime"] in LOCAL_RUNTIMES:
        assert len(timed & built) > 0.6 * len(built)


@each_file
def test_a_recorded_sweep_is_evidence_and_not_a_failure_of_ours(name, recorded):
    results = recorded[name].results
    ours = (Outcome.HARNESS_ERROR, Outcome.LOST_AGENT)
    assert sum(result.outcome in ours for result in results) < 0.05 * len(results)
    # A busy machine is no fault of the runtime.
    assert sum(result.outcome is Outcome.TIMED_OUT for result in results) <= 3
    assert all(result.started_at > 1_790_000_000 for result in results)
