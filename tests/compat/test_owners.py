"""Claims say whose they are: what a dead process held is free at once, a live one keeps its."""

import subprocess
import sys

import pytest

from compat import owners

TELL = "from compat import owners; print(owners.claim_name(), flush=True); input()"


@pytest.fixture
def other():
    """A process that waits, and a claim of it."""
    process = subprocess.Popen(
        [sys.executable, "-c", TELL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    yield process, process.stdout.readline().strip()
    process.kill()
    process.wait()


def test_a_claim_is_short_and_never_the_same():
    names = {owners.claim_name() for _ in range(50)}
    assert len(names) == 50
    assert max(map(len, names)) <= 32


def test_a_claim_is_gone_with_its_process(other):
    process, claim = other
    assert not owners.is_gone(claim)
    assert not owners.is_gone(owners.claim_name())
    process.kill()
    while process.poll() is None:
        pass
    assert owners.is_gone(claim)


def test_a_later_process_of_the_same_number_is_another():
    machine, pid, started, rest = owners.claim_name().split(".")
    assert owners.is_gone(f"{machine}.{pid}.{int(started, 16) - 1:x}.{rest}")


@pytest.mark.parametrize("claim", ["a" * 32, "@", "@x.y.z.w", "@ffffffff.ffffff.1.abcd", ""])
def test_the_claims_of_others_are_left_to_their_leases(claim):
    assert not owners.is_gone(claim)


def test_where_processes_cannot_be_seen_none_is_taken_for_dead(other, monkeypatch, tmp_path):
    process, claim = other
    process.kill()
    process.wait()
    monkeypatch.setattr(owners, "PROC", tmp_path)
    owners._machine.cache_clear()
    assert not owners.is_gone(claim)
    owners._machine.cache_clear()
