"""The worker's pass over the queue, with real children of the fake runtime."""

import subprocess
import sys

import pytest
from django.db import DatabaseError

from compat import casebook, work
from compat.leases import OPEN, claim_batch, release
from compat.models import Cell, Probe
from compat.sweeps import start_sweep, stop_sweep
from probes.run.sandbox import Sandbox
from probes.run.slot import StartError
from tests.make import make_fake_target, make_runnable_case, make_target

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def outcomes(sweep):
    return dict(sweep.probes.values_list("case__name", "outcome"))


def test_a_sweep_is_probed_recorded_and_judged():
    good, bad = make_runnable_case("Relu"), make_runnable_case("Neg", says="refuse_compile")
    target, heard = make_fake_target(), []
    sweep = start_sweep(target=target)
    done = work.run_claimed(target, heard=heard.append)
    assert outcomes(sweep) == {good.name: "passed", bad.name: "rejected"}
    assert (done.recorded, sum(heard), done.sweeps) == (2, 2, {sweep.pk})
    sweep.refresh_from_db()
    assert sweep.state == "done"
    assert sweep.finished_at is not None
    levels = dict(Cell.objects.values_list("operator__name", "level"))
    assert levels == {"Relu": "green", "Neg": "red"}


def test_a_probe_that_kills_its_child_is_one_result_and_the_sweep_goes_on():
    make_runnable_case("Relu", says="segfault")
    for number in range(3):
        make_runnable_case("Abs", number)
    target = make_fake_target()
    sweep = start_sweep(target=target)
    work.run_claimed(target)
    assert sorted(outcomes(sweep).values()) == ["crashed", "passed", "passed", "passed"]


def test_a_case_that_cannot_be_read_is_our_failure_and_no_evidence():
    lost, kept = make_runnable_case("Relu"), make_runnable_case("Abs")
    casebook.case_store().path(lost.pk).unlink()
    target = make_fake_target()
    sweep = start_sweep(target=target)
    work.run_claimed(target)
    assert outcomes(sweep) == {lost.name: "harness_error", kept.name: "passed"}
    assert Cell.objects.get(operator__name="Relu").level == "unknown"


def test_nothing_is_claimed_for_a_runtime_that_does_not_start():
    make_runnable_case("Relu")
    target = make_fake_target(unavailable=True)
    start_sweep(target=target)
    with pytest.raises(StartError):
        work.run_claimed(target)
    assert Probe.objects.get().offers == 0


def test_a_runtime_that_goes_away_meanwhile_is_told_of_no_probe():
    make_runnable_case("Abs"), make_runnable_case("Relu", says="segfault")
    target = make_fake_target()
    sweep = start_sweep(target=target)
    with Sandbox("fake", target.column.config, target=target.slug) as sandbox:
        sandbox.describe()
        sandbox.python = "/no/such/python"  # where a child that died is started again
        with pytest.raises(StartError, match="cannot be started"):
            work.run_claimed(target, sandbox=sandbox)
    done = sweep.probes.filter(state="done").values_list("outcome", flat=True)
    assert set(done) <= {"passed"}
    assert sweep.probes.exclude(state="done").get().case.operator.name == "Relu"
    sweep.refresh_from_db()
    assert sweep.state in OPEN


@pytest.mark.parametrize("error", [KeyboardInterrupt, DatabaseError])
def test_what_was_probed_is_kept_and_the_rest_put_back_when_the_worker_ends(error):
    for number in range(6):
        make_runnable_case("Relu", number)
    target = make_fake_target()
    sweep = start_sweep(target=target)

    def interrupt(_):
        raise error

    with Sandbox("fake", target.column.config) as sandbox:
        run = work._Run(target, sandbox, work.Event(), lambda _: None)
        answers = sandbox.run_many(run.requests())
        run.results = [next(answers), next(answers)]
        run.heard = interrupt
        with pytest.raises(error):
            run.record()
        run.heard = lambda _: None
        run.finish()
    states = sorted(sweep.probes.values_list("state", flat=True))
    assert states == ["done"] * 2 + ["queued"] * 4
    assert set(sweep.probes.filter(state="queued").values_list("claim", "offers")) == {("", 0)}


def test_a_stopped_sweep_ends_the_wait_for_it():
    make_runnable_case("Relu")
    target = make_fake_target()
    sweep = stop_sweep(sweep=start_sweep(target=target))
    work.work_through(sweep)
    assert Probe.objects.get().state == "queued"


def test_what_a_killed_process_held_is_probed_at_once():
    make_runnable_case("Relu")
    target = make_fake_target()
    sweep = start_sweep(target=target)
    code = "from compat import owners; print(owners.claim_name())"
    dead = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert claim_batch(target=target, worker=dead.stdout.strip())
    said = []
    work.work_through(sweep, say=said.append)
    assert (sweep.state, said) == ("done", [])


def test_a_sweep_whose_worker_died_before_it_closed_it_is_closed():
    make_runnable_case("Relu")
    target = make_fake_target()
    sweep = start_sweep(target=target)
    sweep.probes.update(state="done", outcome="passed")
    work.work_through(sweep)
    assert sweep.state == "done"


def test_what_another_worker_holds_is_waited_for_with_a_word_or_left(monkeypatch):
    make_runnable_case("Relu")
    target = make_fake_target()
    sweep, said = start_sweep(target=target), []
    claim_batch(target=target, worker="elsewhere")
    work.work_through(sweep, say=said.append, wait=False)
    assert said == ["Another worker holds 1 of 1 probes; its results come in later."]
    rounds = iter([lambda: None, lambda: release(worker="elsewhere")])
    monkeypatch.setattr(work.time, "sleep", lambda _: next(rounds)())
    work.work_through(sweep, say=said.append)
    assert said[1:] == ["Another worker holds 1 of 1 probes; waiting for it."]
    assert outcomes(sweep) == {Probe.objects.get().case.name: "passed"}


def test_a_runtime_that_does_not_start_keeps_nobody_else_waiting(monkeypatch):
    make_runnable_case("Relu")
    broken, good = make_target(), make_fake_target()
    for target in (broken, good):
        start_sweep(target=target)
    probe = work.run_claimed

    def run_claimed(target, **options):
        if target == broken:
            raise StartError("a library is missing")
        return probe(target, **options)

    monkeypatch.setattr(work, "local_targets", lambda: [broken, good])
    monkeypatch.setattr(work, "run_claimed", run_claimed)
    with pytest.raises(StartError, match="a library is missing"):
        work.probe_here()
    assert Probe.objects.get(target=good).outcome == "passed"


def test_a_worker_leaves_the_targets_of_other_machines_alone():
    make_runnable_case("Relu")
    elsewhere = make_target()
    start_sweep(target=elsewhere)
    assert work.probe_here(target_id=elsewhere.pk) == 0
    assert work.probe_here() == 0
    assert Probe.objects.get().state == "queued"
