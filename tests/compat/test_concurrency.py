"""Claims, leases, recording and cells while others do the same: in threads and in processes."""

import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections

from compat import leases
from compat.cells import rebuild_cells
from compat.devices import TakenError, register_device
from compat.models import Cell, Probe, Sweep, Token
from compat.recording import open_record, record_many
from compat.sweeps import start_sweep
from compat.tokens import find_token
from tests.make import make_case, make_device, make_operator, make_result, make_target

FACTS = {"cpu_model": "Test CPU"}
NAMES = ("Relu", "Abs", "Exp", "Neg")


def run_threads(works):
    """Runs the functions at once, each with a connection of its own; what they return."""

    def close_after(work):
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(close_after, works))


def queue(cases):
    target = make_target()
    for number in range(cases):
        make_case(make_operator(NAMES[number % len(NAMES)]))
    return target, start_sweep(target=target)


def check_all_done_once(target, sweep, count):
    probes = Probe.objects.filter(sweep=sweep)
    assert probes.count() == count
    assert set(probes.values_list("state", flat=True)) == {"done"}
    assert Probe.objects.filter(target=target, latest=True).count() == count
    cells = Cell.objects.filter(column=target.column)
    found = {cell.operator.name: (cell.level, cell.core_total) for cell in cells}
    assert found == dict.fromkeys(NAMES, ("green", count // len(NAMES)))


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_workers_that_lose_leases_and_come_back_finish_every_probe_once():
    """Each worker forgets some claims, is late with others, and posts some twice."""
    target, sweep = queue(200)
    new = []

    def work(seed):
        chance = random.Random(seed)
        for turn in range(200):
            name = f"w{seed}-{turn}"
            batch = leases.claim_batch(target=target, worker=name, size=9)
            if not batch:
                if not Probe.objects.filter(sweep=sweep).exclude(state="done").exists():
                    return
                leases.requeue_expired()
                continue
            if turn < 3:  # dies: its lease is over at once, the probes are offered again
                leases.lose(worker=name)
            results = [make_result(probe_case(probe), target) for probe in batch]
            for _ in range(chance.choice((1, 2))):
                done = record_many(target=target, environment=FACTS, results=results, claim=name)
                new.append(done.new)
                if done.operators:
                    rebuild_cells(column=target.column, operators=done.operators)

    run_threads([lambda seed=seed: work(seed) for seed in range(4)])
    done = Probe.objects.filter(sweep=sweep, outcome="passed").count()
    lost = Probe.objects.filter(sweep=sweep, outcome="lost_agent").count()
    assert sum(new) == done
    assert done + lost == 200
    assert not Probe.objects.filter(sweep=sweep).exclude(state="done").exists()
    judged = sum(Cell.objects.filter(column=target.column).values_list("core_total", flat=True))
    assert judged == done


class probe_case:
    """What make_result asks of a case."""

    def __init__(self, probe):
        self.pk = probe.case_id


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_one_claim_posted_by_two_at_once_is_recorded_once():
    target, sweep = queue(120)
    batch = leases.claim_batch(target=target, worker="one", size=120)
    results = [make_result(probe_case(probe), target) for probe in batch]

    def post():
        done = record_many(target=target, environment=FACTS, results=results, claim="one")
        rebuild_cells(column=target.column, operators=done.operators or None)
        return done.new, done.known

    counts = run_threads([post] * 4)
    assert sorted(counts) == [(0, 120)] * 3 + [(120, 0)]
    check_all_done_once(target, sweep, 120)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_one_document_posted_by_several_at_once_is_recorded_once():
    target = make_target()
    cases = [make_case(make_operator(n)) for n in NAMES for _ in range(40)]
    results = [make_result(case, target) for case in cases]

    def post():
        record = open_record(target=target, key="the same")
        done = record_many(target=target, environment=FACTS, results=results, sweep=record)
        rebuild_cells(column=target.column)
        return done.new

    assert sorted(run_threads([post] * 4)) == [0, 0, 0, 160]
    assert Sweep.objects.count() == 1
    check_all_done_once(target, Sweep.objects.get(), 160)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_results_of_many_times_posted_at_once_leave_the_newest_marked():
    target = make_target()
    cases = [make_case(make_operator("Relu")) for _ in range(30)]

    def post(turn):
        outcome = "passed" if turn == 5 else "rejected"
        results = [make_result(case, target, outcome, at=1e9 + turn) for case in cases]
        record = open_record(target=target, key=str(turn))
        record_many(target=target, environment=FACTS, results=results, sweep=record)
        rebuild_cells(column=target.column)

    order = [3, 5, 1, 0, 4, 2]
    run_threads([lambda turn=turn: post(turn) for turn in order])
    latest = Probe.objects.filter(target=target, latest=True)
    assert latest.count() == 30
    assert set(latest.values_list("outcome", flat=True)) == {"passed"}
    cell = Cell.objects.get(column=target.column)
    assert (cell.level, cell.core_passed, cell.core_total) == ("green", 30, 30)


WORKER = """
import json, sys
import django; django.setup()
from compat import leases
from compat.cells import rebuild_cells
from compat.models import Probe, Target
from compat.recording import record_many
from probes.run.outcome import Outcome, Placement, ProbeResult
target = Target.objects.get()
new = 0
for turn in range(100):
    name = f"{sys.argv[1]}-{turn}"
    batch = leases.claim_batch(target=target, worker=name, size=8)
    if not batch:
        break
    results = [
        ProbeResult(one.case_id, one.form, target.slug, Outcome.PASSED, seconds=0.1,
                    placement=Placement.ACCELERATOR, started_at=1.7e9 + turn)
        for one in batch
    ]
    done = record_many(target=target, environment={"cpu": 1}, results=results, claim=name)
    rebuild_cells(column=target.column, operators=done.operators)
    new += done.new
print(json.dumps(new))
"""


def start_worker(name):
    options = connections["default"].settings_dict
    host, port = options["HOST"] or "127.0.0.1", options["PORT"] or 5432
    url = f"postgres://{options['USER']}:{options['PASSWORD']}@{host}:{port}/{options['NAME']}"
    environment = os.environ | {"DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "compat.settings"}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, name],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_processes_finish_every_probe_once_and_their_cells_agree():
    target, sweep = queue(240)
    workers = [start_worker(name) for name in "abc"]
    ends = [(*worker.communicate(timeout=60), worker.returncode) for worker in workers]
    assert [(error, code) for _, error, code in ends] == [("", 0)] * 3
    assert sum(json.loads(output) for output, _, _ in ends) == 240
    check_all_done_once(target, sweep, 240)


@pytest.mark.django_db
@pytest.mark.both_databases
def test_the_same_functions_do_the_same_on_either_database():
    """One worker through claim, lease, loss, recording twice and cells."""
    target, sweep = queue(40)
    lost = leases.claim_batch(target=target, worker="lost", size=10)
    assert leases.renew_lease(worker="lost") == len(lost) == 10
    assert leases.lose(worker="lost") == 10
    while batch := leases.claim_batch(target=target, worker="w", size=16):
        results = [make_result(probe_case(probe), target) for probe in batch]
        first, again = (
            record_many(target=target, environment=FACTS, results=results, claim="w")
            for _ in range(2)
        )
        assert (first.new, again.new) == (len(batch), 0)
        rebuild_cells(column=target.column, operators=first.operators)
    leases.close_finished({sweep.pk})
    sweep.refresh_from_db()
    assert sweep.state == "done"
    check_all_done_once(target, sweep, 40)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("of_the_catalogue", [False, True])
def test_of_registrations_at_once_one_is_made_and_the_others_are_told(of_the_catalogue):
    if of_the_catalogue:
        make_device("board", "rk3588")

    def register():
        try:
            return register_device(slug="board", title="", device_class="rk3588")[1]
        except TakenError as error:
            return error.origin

    answers = run_threads([register] * 6)
    (secret,) = [answer for answer in answers if answer != "registered"]
    assert find_token(secret) == Token.objects.get()
