"""Recorded limits hold when tried again: the last value that works, and one step beyond it."""

import json
import lzma
from pathlib import Path

import pytest

from probes.cases.limits.build import case_named
from probes.cli import env
from probes.run import envs
from probes.run.limits import Asker, probe_of
from probes.run.sandbox import Sandbox

pytestmark = pytest.mark.toolchains

FOLDER = Path(__file__).parents[2] / "fixtures" / "limits"
FILES = sorted(FOLDER.glob("*.json.xz"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_limit_is_found_again_on_both_sides(path):
    document = json.loads(lzma.decompress(path.read_bytes()))
    target = document["target"]
    if not envs.interpreter(target["runtime"]):
        assert env.main(["build", target["runtime"]]) == 0
    edges = [
        parameter[direction]
        for found in document["operators"]
        for parameter in found["parameters"]
        for direction in ("smallest", "largest")
        if parameter[direction]["failed"]
    ]
    recorded = [edge[side] for edge in edges for side in ("worked", "failed") if edge[side]]
    with Sandbox(target["runtime"], target["config"], latency=False) as sandbox:
        asker = Asker(sandbox)
        again = [probe_of(case, asker.ask(case)) for case in map(_case, recorded)]
    assert [_ending(each) for each in again] == [_ending(each) for each in recorded]


def _case(probe):
    return case_named(probe["case"])


def _ending(probe):
    return probe["case"], probe["outcome"], probe["runs"]
