"""Recording: once each, the newest marked, nothing invented."""

import math

import pytest

from compat import leases, sweeps
from compat.models import Environment, Probe, ProbeLog, Sweep
from compat.recording import record_many
from probes.run.outcome import Latency, Stage
from tests.make import make_case, make_result, make_target

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

FACTS = {"cpu_model": "Test CPU", "threads": 1}


def record(target, *results, **more):
    return record_many(target=target, environment=FACTS, results=results, **more)


def latest():
    return list(Probe.objects.filter(latest=True).values_list("outcome", flat=True))


def test_every_fact_of_a_result_is_kept():
    case, target = make_case(), make_target()
    latency = Latency((1.0, 2.0), 3, 1.5, 1.9, 1.0, 2, {"threads": 1})
    result = make_result(
        case,
        target,
        "close",
        stage=Stage.COMPARE,
        message="off by a little",
        log="said much",
        max_abs=1e-3,
        max_rel=1e-2,
        max_ulp=7.0,
        cosine=0.999,
        bit_exact=False,
        latency=latency,
        peak_memory_bytes=5_000_000_000,
        signal="SIGSEGV",
        confirmed=True,
        placement_detail="all on the CPU",
    )
    record(target, result)
    probe = Probe.objects.select_related("log", "environment").get()
    assert (probe.state, probe.outcome, probe.stage) == ("done", "close", "compare")
    assert (probe.max_abs, probe.max_rel, probe.max_ulp, probe.cosine) == (1e-3, 1e-2, 7.0, 0.999)
    assert (probe.bit_exact, probe.confirmed, probe.signal) == (False, True, "SIGSEGV")
    assert (probe.p50_ms, probe.p95_ms, probe.min_ms) == (1.5, 1.9, 1.0)
    assert probe.peak_memory_bytes == 5_000_000_000
    assert probe.kind == "measured"
    assert probe.environment.facts == FACTS
    assert probe.log.text == "said much"
    assert probe.log.latency["samples_ms"] == [1.0, 2.0]
    assert probe.log.placement_detail == "all on the CPU"
    assert probe.finished_at.timestamp() == result.started_at + result.seconds


def test_recording_twice_changes_nothing():
    case, target = make_case(), make_target()
    results = [make_result(case, target), make_result(case, target, form="constant")]
    first = record(target, *results)
    before = list(Probe.objects.values())
    again = record(target, *results)
    assert (first.new, first.known) == (2, 0)
    assert (again.new, again.known) == (0, 2)
    assert list(Probe.objects.values()) == before
    assert (Sweep.objects.count(), Environment.objects.count()) == (1, 1)


def test_a_claimed_probe_is_finished_once():
    case, target = make_case(), make_target()
    sweep = sweeps.start_sweep(target=target)
    leases.claim_batch(target=target, worker="a")
    assert record(target, make_result(case, target), claim="a").new == 1
    assert record(target, make_result(case, target), claim="a") == (0, 1, frozenset())
    assert sweeps.progress(sweep).outcomes == {"passed": 1}
    assert Probe.objects.get().claim == ""


def test_a_result_whose_lease_was_lost_is_left_to_the_new_holder():
    case, target = make_case(), make_target()
    sweeps.start_sweep(target=target)
    leases.claim_batch(target=target, worker="slow", lease_s=-1)
    leases.requeue_expired()
    leases.claim_batch(target=target, worker="next")
    assert record(target, make_result(case, target, "crashed"), claim="slow").new == 0
    assert record(target, make_result(case, target, "passed"), claim="next").new == 1
    assert latest() == ["passed"]


def test_one_case_in_two_sweeps_gets_a_result_in_each():
    case, target = make_case(), make_target()
    for _ in range(2):
        sweeps.start_sweep(target=target)
    assert len(leases.claim_batch(target=target, worker="a")) == 2
    results = [make_result(case, target, at=1.8e9), make_result(case, target, "close", at=1.9e9)]
    assert record(target, *results, claim="a").new == 2
    assert latest() == ["close"]


def test_the_newest_result_is_marked_whatever_the_order_of_arrival():
    case, target = make_case(), make_target()
    old, new = make_result(case, target, "rejected", 1.7e9), make_result(case, target, at=1.8e9)
    record(target, new, sweep=Sweep.objects.create(target=target))
    record(target, old, sweep=Sweep.objects.create(target=target))
    assert latest() == ["passed"]
    newest = make_result(case, target, "close", 1.9e9)
    record(target, newest, sweep=Sweep.objects.create(target=target))
    assert latest() == ["close"]


def test_forms_versions_and_cases_have_a_newest_of_their_own():
    case, other = make_case(), make_case()
    old, new = make_target("1.0"), make_target("2.0")
    record(old, make_result(case, old))
    record(new, make_result(case, new), make_result(case, new, form="constant"))
    record(new, make_result(other, new), sweep=Sweep.objects.create(target=new))
    assert len(latest()) == 4


def test_what_the_database_cannot_hold_does_not_stop_a_sweep():
    case, target = make_case(), make_target()
    record(
        target,
        make_result(case, target, "mismatch", message="a\0b", log="c\0d", max_abs=math.inf,
                    max_rel=math.nan),
    )  # fmt: skip
    probe = Probe.objects.get()
    assert probe.message == "a\N{REPLACEMENT CHARACTER}b"
    assert (probe.max_abs, probe.max_rel) == (None, None)


def test_a_case_that_nobody_knows_is_refused():
    target = make_target()
    stranger = make_result(make_case(), target)
    with pytest.raises(ValueError, match="not in the catalogue"):
        record(target, make_result(make_case(), target), _renamed(stranger, "f" * 32))
    assert not Probe.objects.exists()


def test_a_plain_pass_writes_no_log():
    case, target = make_case(), make_target()
    record(target, make_result(case, target))
    assert not ProbeLog.objects.exists()


def _renamed(result, case_id):
    return type(result)(**vars(result) | {"case_id": case_id})
