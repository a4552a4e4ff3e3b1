"""Sweeps: what is queued, who gets it, and that nobody gets it twice."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from compat import leases, sweeps
from compat.models import Probe, Sweep
from tests.make import make_case, make_operator, make_probe, make_sweep, make_target

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def queue(cases=3, target=None):
    target = target or make_target()
    made = [make_case() for _ in range(cases)]
    return target, made, sweeps.start_sweep(target=target)


def states():
    return sorted(Probe.objects.values_list("state", flat=True))


def test_a_sweep_queues_every_case_in_the_forms_that_apply():
    target = make_target(capabilities={"max_opset": 17, "max_ir": 9, "dtypes": []})
    make_case(opset=17, name="fits")
    make_case(opset=18, name="too new")
    sweep = sweeps.start_sweep(target=target)
    queued = sorted(sweep.probes.values_list("case__name", "form"))
    assert queued == [("fits", "as_is"), ("too new", "as_is"), ("too new", "restamped")]
    assert sweep.total == 3


def test_a_sweep_of_some_operators_leaves_the_others_alone():
    make_case(make_operator("Relu"))
    conv = make_case(make_operator("Conv"))
    sweep = sweeps.start_sweep(target=make_target(), operators=["ai.onnx::Conv"])
    assert list(sweep.probes.values_list("case", flat=True)) == [conv.pk]
    assert sweep.operators == ["ai.onnx::Conv"]


def test_an_unknown_operator_is_answered_with_near_names():
    make_operator("Softmax")
    with pytest.raises(sweeps.SweepError, match=r"named SoftMax\. Did you mean Softmax\?"):
        sweeps.start_sweep(target=make_target(), operators=["SoftMax"])
    assert not Sweep.objects.exists()


def test_only_what_has_no_result_is_queued_again():
    target, known, new = make_target(), make_case(), make_case()
    make_probe(known, target)
    (sweep,) = sweeps.start_missing(target=target)
    assert list(sweep.probes.values_list("case", flat=True)) == [new.pk]
    assert sweeps.start_missing(target=target) == [sweep], "an open sweep is gone on with"


def test_nothing_is_queued_where_everything_has_a_result():
    target = make_target()
    make_probe(make_case(), target)
    assert sweeps.start_missing(target=target) == []


def test_a_claim_takes_the_oldest_and_starts_the_sweep():
    target, _, sweep = queue(3)
    batch = leases.claim_batch(target=target, worker="a", size=2)
    assert [probe.id for probe in batch] == sorted(probe.id for probe in batch)
    assert states() == ["claimed", "claimed", "queued"]
    sweep.refresh_from_db()
    assert sweep.state == "running"
    assert sweep.started_at is not None


def test_a_claim_is_for_one_target_only():
    queue(2, make_target("1.0"))
    assert leases.claim_batch(target=make_target("2.0"), worker="a") == []


def test_a_stopped_sweep_is_not_offered_until_it_is_resumed():
    target, _, sweep = queue(2)
    sweeps.stop_sweep(sweep=sweep)
    assert leases.claim_batch(target=target, worker="a") == []
    assert sweeps.waiting([target]) == []
    sweeps.resume_sweep(sweep=sweep)
    assert len(leases.claim_batch(target=target, worker="a")) == 2


def test_a_finished_sweep_cannot_be_stopped_or_resumed():
    sweep = make_sweep(state="done")
    assert sweeps.stop_sweep(sweep=sweep).state == "done"
    assert sweeps.resume_sweep(sweep=sweep).state == "done"


def test_what_a_lost_worker_held_is_offered_again():
    target, _, _ = queue(2)
    leases.claim_batch(target=target, worker="lost", lease_s=-1)
    assert leases.requeue_expired() == 2
    assert len(leases.claim_batch(target=target, worker="b")) == 2
    assert leases.requeue_expired() == 0, "a lease that runs is respected"


def test_a_probe_that_takes_its_workers_down_is_not_offered_for_ever():
    target, _, sweep = queue(1)
    for _ in range(leases.MAX_OFFERS):
        assert leases.claim_batch(target=target, worker="lost", lease_s=-1)
        leases.requeue_expired()
    assert leases.claim_batch(target=target, worker="b") == []
    assert sweep.probes.get().outcome == "lost_agent"
    sweep.refresh_from_db()
    assert sweep.state == "done"


def test_a_renewed_lease_lasts_and_a_released_claim_returns():
    target, _, _ = queue(2)
    leases.claim_batch(target=target, worker="a", lease_s=-1)
    leases.renew_lease(worker="a")
    assert leases.requeue_expired() == 0
    assert leases.release(worker="a") == 2
    assert states() == ["queued", "queued"]
    assert set(Probe.objects.values_list("offers", flat=True)) == {0}, "that was no loss"


def test_progress_counts_and_estimates():
    _, _, sweep = queue(4)
    assert sweeps.progress(sweep) == sweeps.Progress(4, 0, None, {})
    for probe, ago in zip(sweep.probes.all()[:2], (10, 1), strict=True):
        moment = timezone.now() - timedelta(seconds=ago)
        Probe.objects.filter(pk=probe.pk).update(state="done", outcome="passed", finished_at=moment)
    found = sweeps.progress(sweep)
    assert (found.total, found.done, found.outcomes) == (4, 2, {"passed": 2})
    assert found.seconds_left == pytest.approx(10, abs=1)


def test_there_is_no_estimate_while_nothing_moves_but_who_is_waited_for():
    target, _, sweep = queue(4)
    moment = timezone.now() - timedelta(seconds=12)
    first = sweep.probes.first().pk
    Probe.objects.filter(pk=first).update(state="done", outcome="passed", finished_at=moment)
    assert sweeps.progress(sweep) == sweeps.Progress(4, 1, None, {"passed": 1})
    leases.claim_batch(target=target, worker="elsewhere", size=2, lease_s=60)
    found = sweeps.progress(sweep)
    assert (found.seconds_left, found.held) == (None, 2)
    assert found.held_until > timezone.now()


def test_an_open_sweep_that_only_asks_again_fills_nothing():
    target, known = make_target(), make_case()
    make_probe(known, target)
    sweeps.start_sweep(target=target)
    assert sweeps.start_missing(target=target) == []


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_workers_at_once_never_get_the_same_probe():
    target, _, sweep = queue(400)
    taken = {"a": [], "b": [], "c": []}

    def work(name):
        try:
            while batch := leases.claim_batch(target=target, worker=name, size=7):
                taken[name] += [probe.id for probe in batch]
        finally:
            connection.close()

    with ThreadPoolExecutor() as threads:
        list(threads.map(work, taken))
    everything = [pk for ids in taken.values() for pk in ids]
    assert len(everything) == len(set(everything)) == 400
    for name, ids in taken.items():
        assert set(sweep.probes.filter(claim=name).values_list("id", flat=True)) == set(ids)


PREPARE = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
from tests.make import make_case, make_target
for _ in range(300):
    make_case()
from compat.sweeps import start_sweep
start_sweep(target=make_target())
"""
CLAIM = """
import sys
from compat import leases, sweeps
from compat.models import Target
target = Target.objects.get()
while batch := leases.claim_batch(target=target, worker=sys.argv[1], size=3):
    print(*[probe.id for probe in batch])
    sweeps.progress(batch and target.sweeps.get())
    leases.renew_lease(worker=sys.argv[1])
"""
SETUP = "import django; django.setup()"


def start_process(code, folder, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", f"{SETUP}\n{code}", *arguments],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "compat.settings",
            "DATABASE_URL": f"sqlite:///{folder}/test.sqlite3",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes_on_one_sqlite_file_wait_for_each_other(tmp_path):
    prepare = start_process(PREPARE, tmp_path)
    assert prepare.wait(60) == 0, prepare.stderr.read()
    workers = [start_process(CLAIM, tmp_path, name) for name in "abc"]
    ends = [(*worker.communicate(timeout=60), worker.returncode) for worker in workers]
    assert [(error, code) for _, error, code in ends] == [("", 0)] * 3
    everything = [pk for output, _, _ in ends for pk in output.split()]
    assert len(everything) == len(set(everything)) == 300


def test_a_mainstream_sweep_leaves_out_the_official_tests():
    target = make_target(capabilities={"evidence": "simulated", "dtypes": []})
    core = make_case(make_operator("Relu"), origin="mainstream")
    make_case(make_operator("Relu"), name="test_relu", origin="node", core=False)
    sweep = sweeps.start_sweep(target=target, scope="mainstream")
    assert [probe.case_id for probe in sweep.probes.all()] == [core.pk]


def test_the_forms_of_a_sweep_follow_from_case_and_runtime():
    told = {"dtypes": ["float"], "max_opset": 19, "constant_inputs": True}
    target = make_target(capabilities=told)
    traits = {"oldest_opset": 13, "newest_opset": 28, "oldest_ir": 4, "constant": True, "edge": []}
    make_case(make_operator("Relu"), opset=21, traits=traits)
    sweep = sweeps.start_sweep(target=target)
    forms = sorted(sweep.probes.values_list("form", flat=True))
    assert forms == ["as_is", "restamped", "restamped+constant"]


def test_rarer_cases_do_not_keep_the_site_waiting():
    """What `up` probes before it serves leaves variants to the worker, also when started again."""
    target = make_target(capabilities={"evidence": "measured", "dtypes": []})
    usual = make_case(make_operator("Relu"), origin="mainstream")
    rare = make_case(make_operator("Relu"), name="variant/Relu", origin="variant", core=False)
    (first,) = sweeps.start_missing(target=target, scope="usual")
    assert [probe.case_id for probe in first.probes.all()] == [usual.pk]
    first.probes.update(state="done", latest=True, outcome="passed")
    assert sweeps.start_missing(target=target, scope="usual") == []
    (later,) = sweeps.start_missing(target=target)
    assert [probe.case_id for probe in later.probes.all()] == [rare.pk]
    assert sweeps.start_missing(target=target, scope="usual") == []
    assert sweeps.start_missing(target=target) == [later]
