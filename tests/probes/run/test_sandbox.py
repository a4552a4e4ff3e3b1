"""Whatever a runtime does to its process becomes the outcome of exactly one probe."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from probes.run import process
from probes.run.outcome import MAX_LOG, Outcome, Stage
from probes.run.sandbox import Limits, ProbeRequest, Sandbox
from probes.run.slot import StartError
from tests.probes.run.make import echo_case, relu_case

ROOT = Path(__file__).resolve().parents[3]
PATIENT = Limits(seconds=60, memory_bytes=300 * 2**20)
HASTY = Limits(seconds=1.5)


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox("fake", limits=PATIENT, target="bench.fake.default@1.0") as running:
        yield running


def ask(sandbox, *docs):
    return ask_cases(sandbox, [relu_case(doc, number) for number, doc in enumerate(docs)])


def ask_cases(sandbox, cases):
    results = list(sandbox.run_many(ProbeRequest(case) for case in cases))
    by_id = {result.case_id: result for result in results}
    assert len(by_id) == len(results) == len(cases)
    return [by_id[case.id] for case in cases]


def outcomes(results):
    return [result.outcome.value for result in results]


@pytest.mark.parametrize(
    ("doc", "outcome", "stage", "said"),
    [
        ("", Outcome.PASSED, None, ""),
        ("fake:segfault", Outcome.CRASHED, Stage.RUN, "SIGSEGV"),
        ("fake:abort", Outcome.CRASHED, Stage.RUN, "SIGABRT"),
        ("fake:kill", Outcome.CRASHED, Stage.RUN, "SIGKILL"),
        ("fake:segfault_at_load", Outcome.CRASHED, Stage.COMPILE, "SIGSEGV"),
        ("fake:exit=0", Outcome.CRASHED, Stage.RUN, "exit code 0"),
        ("fake:exit=3", Outcome.CRASHED, Stage.RUN, "exit code 3"),
        ("fake:orphan", Outcome.CRASHED, Stage.RUN, "exit code 7"),
        ("fake:garble", Outcome.CRASHED, None, "SIGKILL"),
        ("fake:sys_exit=2", Outcome.RUN_ERROR, Stage.RUN, "asked the process to exit"),
        ("fake:sys_exit_at_load", Outcome.REJECTED, Stage.COMPILE, "asked the process to exit"),
        ("fake:eat", Outcome.OUT_OF_MEMORY, Stage.RUN, "memory limit"),
        ("fake:no_memory", Outcome.OUT_OF_MEMORY, Stage.RUN, "told to run out"),
        ("fake:raise", Outcome.RUN_ERROR, Stage.RUN, "told to raise"),
        ("fake:refuse_convert", Outcome.REJECTED, Stage.CONVERT, "refuse at convert"),
        ("fake:refuse_compile", Outcome.REJECTED, Stage.COMPILE, "refuse at compile"),
        ("fake:refuse_load", Outcome.REJECTED, Stage.LOAD, "refuse at load"),
        ("fake:refuse_run", Outcome.RUN_ERROR, Stage.RUN, "refuse at run"),
        ("fake:harness", Outcome.HARNESS_ERROR, Stage.RUN, "our fault"),
        ("fake:mismatch", Outcome.MISMATCH, Stage.COMPARE, "values are off"),
    ],
)
def test_a_probe_ends_as_its_runtime_does(sandbox, doc, outcome, stage, said):
    before, result, after = ask(sandbox, "", doc, "")
    assert (result.outcome, result.stage) == (outcome, stage)
    assert said in result.message
    assert outcomes([before, after]) == ["passed", "passed"]
    assert result.runtime_version == "1.0"
    assert result.target == "bench.fake.default@1.0"
    assert result.started_at == pytest.approx(time.time(), abs=30)


def test_a_hang_ends_at_the_time_limit_and_at_its_stage():
    docs = ("", "fake:hang", "", "fake:spin", "", "fake:hang_at_load", "")
    with Sandbox("fake", limits=HASTY) as hasty:
        results = ask(hasty, *docs)
    assert outcomes(results) == ["passed", "timed_out"] * 3 + ["passed"]
    assert [result.stage for result in results[1::2]] == [Stage.RUN, Stage.RUN, Stage.COMPILE]
    assert {result.confirmed for result in results} == {None}
    assert all(1.4 < result.seconds < 10 for result in results[1::2])


def test_25_crashes_in_a_pipelined_sweep_lose_and_blame_nobody():
    docs = ["fake:segfault" if number % 4 == 0 else "" for number in range(100)]
    cases = [echo_case(doc, number) for number, doc in enumerate(docs)]
    with Sandbox("fake", {"answers": "inputs"}, children=2) as pair:
        results = ask_cases(pair, cases)
    assert outcomes(results) == ["crashed" if doc else "passed" for doc in docs]
    assert {result.confirmed for result in results if result.outcome is Outcome.CRASHED} == {True}
    assert {result.confirmed for result in results if result.outcome is Outcome.PASSED} == {None}
    assert {result.signal for result in results} == {"SIGSEGV", ""}


def test_a_crash_that_a_fresh_child_does_not_repeat_is_kept_beside_the_answer(sandbox):
    _, result, _ = ask(sandbox, "", "fake:segfault_warm", "")
    assert (result.outcome, result.confirmed, result.signal) == (Outcome.PASSED, False, "SIGSEGV")
    assert "first try" in result.message


def test_a_crash_in_a_fresh_child_is_tried_once_more(tmp_path):
    with Sandbox("fake", limits=PATIENT) as fresh:
        (result,) = ask(fresh, f"fake:segfault_once={tmp_path / 'marker'}")
    assert (result.outcome, result.confirmed) == (Outcome.PASSED, False)


def test_right_and_wrong_by_turns_is_unstable(sandbox, tmp_path):
    _, result = ask(sandbox, "", f"fake:unstable={tmp_path / 'marker'}")
    assert result.outcome is Outcome.UNSTABLE
    assert "by turns" in result.message


def test_a_printed_gigabyte_neither_fills_a_disk_nor_changes_the_verdict():
    with Sandbox("fake", limits=Limits(seconds=30, output_bytes=2**18)) as patient:
        before, result, after = ask(patient, "", "fake:print=1024", "fake:printf=next")
    assert outcomes([before, result, after]) == ["passed"] * 3
    assert 1000 < len(result.log) <= MAX_LOG
    assert after.log == "next\n"
    assert before.log == ""


def test_the_last_words_before_a_crash_are_kept(sandbox):
    model = relu_case("fake:segfault")
    result = sandbox.run(ProbeRequest(model))
    assert "Segmentation fault" in result.log


def test_a_runtime_that_is_absent_makes_every_probe_unavailable():
    with Sandbox("fake", {"unavailable": True}) as absent:
        results = ask(absent, "", "fake:segfault")
        with pytest.raises(StartError, match="told to be unavailable"):
            absent.describe()
    assert outcomes(results) == ["unavailable", "unavailable"]
    assert "told to be unavailable" in results[0].message


def test_a_runtime_that_dies_at_import_is_unavailable_not_crashed():
    with Sandbox("fake", {"die_at_start": True}) as broken:
        (result,) = ask(broken, "")
    assert result.outcome is Outcome.UNAVAILABLE
    assert "SIGABRT" in result.message


def test_a_start_that_hangs_is_given_up():
    with Sandbox("fake", limits=Limits(start_seconds=0.01)) as slow:
        (result,) = ask(slow, "")
    assert result.outcome is Outcome.UNAVAILABLE
    assert "in time" in result.message


def test_a_compile_only_runtime_runs_nothing():
    with Sandbox("fake", {"compile_only": True}) as compiler:
        results = ask(compiler, "", "fake:segfault", "fake:refuse_compile")
    assert outcomes(results) == ["compiled", "compiled", "rejected"]


def test_configuration_can_misbehave_by_operator():
    with Sandbox("fake", {"operators": {"Relu": "refuse_load"}}) as refusing:
        (result,) = ask(refusing, "")
    assert result.outcome is Outcome.REJECTED


def test_a_form_is_applied_before_the_child_sees_the_case(sandbox):
    case = relu_case()
    result = sandbox.run(ProbeRequest(case, "constant"))
    assert result.outcome is Outcome.UNAVAILABLE
    assert "does not apply" in result.message
    unknown = sandbox.run(ProbeRequest(case, "no_such_form"))
    assert unknown.outcome is Outcome.HARNESS_ERROR


def test_inputs_that_do_not_fit_are_our_fault(sandbox):
    result = sandbox.run(ProbeRequest(relu_case(inputs=())))
    assert result.outcome is Outcome.HARNESS_ERROR


@pytest.mark.parametrize(("config", "kept"), [({"latency": True}, True), ({}, False)])
def test_a_timed_case_has_samples_only_where_times_mean_something(config, kept):
    with Sandbox("fake", config) as running:
        result = running.run(ProbeRequest(relu_case(timed=True)))
        untimed = running.run(ProbeRequest(relu_case(number=1)))
    assert (result.latency is not None) is kept
    assert untimed.latency is None
    if result.latency:
        assert result.latency.count == len(result.latency.samples_ms) >= 3
        assert result.latency.min_ms <= result.latency.p50_ms <= result.latency.p95_ms
        assert result.latency.conditions["threads"] == 1
        assert result.peak_memory_bytes > 2**20


def test_an_early_stop_leaves_the_sandbox_usable(sandbox):
    stream = sandbox.run_many(ProbeRequest(relu_case("", n)) for n in range(500))
    next(stream)
    stream.close()
    assert outcomes(ask(sandbox, "", "")) == ["passed", "passed"]


def test_requests_are_read_ahead_but_not_all_at_once(sandbox):
    read = []

    def endless():
        number = 0
        while True:
            read.append(number)
            yield ProbeRequest(relu_case("", number % 50))
            number += 1

    stream = sandbox.run_many(endless())
    next(stream)
    stream.close()
    assert len(read) < 1000


def test_a_child_inherits_no_secret(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "hidden")
    with Sandbox("fake") as running:
        running.describe()
        pid = running._slots[0].child.popen.pid
        told = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"hidden" not in told
    assert b"OMP_NUM_THREADS=1" in told


def test_closing_ends_the_children_and_removes_their_scratch():
    running = Sandbox("fake")
    running.describe()
    child = running._slots[0].child
    running.close()
    assert not Path(f"/proc/{child.popen.pid}").exists()
    assert not Path(child.scratch).exists()


PARENT = """
import sys, threading
from probes.run.sandbox import ProbeRequest, Sandbox
from tests.probes.run.make import relu_case
sandbox = Sandbox("fake")
def start():
    sandbox.describe()
thread = threading.Thread(target=start); thread.start(); thread.join()
child = sandbox._slots[0].child
print(child.popen.pid, child.scratch, flush=True)
sandbox.run(ProbeRequest(relu_case("fake:spin")))
"""


def test_the_death_of_the_parent_ends_a_busy_child():
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, cwd=ROOT, text=True
    )
    pid, scratch = parent.stdout.readline().split()
    time.sleep(0.3)  # the child is inside the call that never returns, and the thread is gone
    assert Path(f"/proc/{pid}").exists()
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 5
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(pid)
    os.rmdir(scratch)


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_memory_counts_what_is_held_not_what_is_mapped():
    mine = process.resident_bytes(os.getpid())
    assert 2**20 < mine < 8 * 2**30
    assert process.resident_bytes(2**22 + 1) == 0


def test_a_busy_child_does_not_hide_that_another_one_is_dead():
    """Its grandchild keeps the pipe open, so only a look at the process tells."""
    with Sandbox("fake", children=2, limits=Limits(seconds=4)) as pair:
        dead, *busy = ask(pair, "fake:orphan", *["fake:sleep=0.4"] * 24)
    assert (dead.outcome, dead.confirmed) == (Outcome.CRASHED, True)
    assert set(outcomes(busy)) == {"passed"}
