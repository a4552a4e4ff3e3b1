"""The recorded sweeps that ship: complete, of real runs, and of the cases that ship."""

import csv

import pytest
from django.conf import settings

from compat import casebook
from compat.exchange import read_documents
from compat.fleet import LOCAL_RUNTIMES
from probes.cases.alternatives import way_of

FILES = sorted((settings.FIXTURES_DIR / "evidence").glob("*.jsonl.xz"))


@pytest.fixture(scope="module")
def shipped_cases():
    node = {case.id for case in casebook.read_pack(casebook.PACK)}
    with casebook.MAINSTREAM.open(newline="") as file:
        built = {row["name"]: row["id"] for row in csv.DictReader(file)}
    ways = {pk for name, pk in built.items() if way_of(name)}
    older = {case.id for pack in casebook.PACKS.values() for case in casebook.read_pack(pack)}
    return node, set(built.values()) - ways, ways | (older - node)


def test_both_cpu_runtimes_are_recorded():
    runtimes = {header["target"]["runtime"] for path in FILES for header, _ in read_documents(path)}
    assert runtimes == set(LOCAL_RUNTIMES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_recorded_sweep_covers_every_case_once_and_says_where_it_ran(path, shipped_cases):
    node, mainstream, optional = shipped_cases
    ((header, results),) = [(header, list(found)) for header, found in read_documents(path)]
    environment, target = header["environment"], header["target"]
    assert header["date"] > "2026-11"
    assert environment["cpu_model"] == target["device_title"]
    assert environment["runtime_version"] == target["runtime_version"]
    assert environment["threads"] == target["config"]["threads"] == 1
    assert target["capabilities"]["evidence"] == "measured"
    as_is = [result for result in results if result.form == "as_is"]
    known = {result.case_id for result in as_is}
    assert known - optional == node | mainstream
    assert len(as_is) == len(known)
    timed = {result.case_id for result in as_is if result.latency} - optional
    assert timed <= mainstream
    assert len(timed) > 0.95 * len(mainstream)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_recorded_sweep_is_evidence_and_not_a_failure_of_ours(path):
    results = [result for _, found in read_documents(path) for result in found]
    ours = [result for result in results if result.outcome.value in ("harness_error", "lost_agent")]
    assert len(ours) < 0.05 * len(results)
    assert all(result.started_at > 1_790_000_000 for result in results)
