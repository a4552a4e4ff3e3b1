"""Celery: messages that only say that there is work, and a real worker that does it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.db import connection

from compat import sweeps, tasks
from compat.celery import app
from compat.models import Probe
from tests.make import make_fake_target, make_runnable_case

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def sent(monkeypatch):
    found = []
    monkeypatch.setattr(app, "send_task", lambda name, args, **_: found.append((name, list(args))))
    return found


@pytest.mark.django_db
def test_without_redis_nobody_is_told(sent, django_capture_on_commit_callbacks):
    make_runnable_case("Relu")
    target = make_fake_target()
    with django_capture_on_commit_callbacks(execute=True):
        sweeps.start_sweep(target=target)
    assert sent == []


@pytest.mark.django_db
def test_with_redis_a_message_goes_out_once_the_rows_are_there(
    sent, settings, django_capture_on_commit_callbacks
):
    settings.REDIS_URL = "redis://somewhere"
    make_runnable_case("Relu")
    target = make_fake_target()
    with django_capture_on_commit_callbacks(execute=True):
        sweep = sweeps.start_sweep(target=target)
        assert sent == []
    assert sent == [("compat.probe_target", [target.pk])]
    sweeps.stop_sweep(sweep=sweep)
    with django_capture_on_commit_callbacks(execute=True):
        sweeps.resume_sweep(sweep=sweep)
    assert len(sent) == 2


@pytest.mark.django_db
def test_a_redis_that_is_away_does_not_stop_a_sweep(
    settings, monkeypatch, caplog, django_capture_on_commit_callbacks
):
    from kombu.exceptions import OperationalError

    def refuse(*_, **__):
        raise OperationalError("connection refused")

    settings.REDIS_URL = "redis://somewhere"
    monkeypatch.setattr(app, "send_task", refuse)
    make_runnable_case("Relu")
    with django_capture_on_commit_callbacks(execute=True):
        sweep = sweeps.start_sweep(target=make_fake_target())
    assert sweep.probes.count() == 1
    assert "workers will find the work" in caplog.text


@pytest.mark.django_db
def test_a_task_probes_its_target_and_a_repeated_one_does_no_harm():
    make_runnable_case("Relu")
    target = make_fake_target()
    sweeps.start_sweep(target=target)
    assert tasks.probe_target(target.pk) == 1
    assert tasks.probe_target(target.pk) == 0
    assert tasks.probe_target(10**9) == 0, "a forged message"
    assert tasks.probe_waiting() == 0


def test_tasks_are_known_by_name_and_polled():
    app.loader.import_default_modules()
    names = {"probe_target", "probe_waiting", "requeue_expired", "forget_expired"}
    assert {f"compat.{name}" for name in names} <= app.tasks.keys()
    assert {row["task"] for row in app.conf.beat_schedule.values()} <= app.tasks.keys()


def _worker(redis_url):
    parts = connection.settings_dict
    database = f"postgres://{parts['USER']}:{parts['PASSWORD']}@{parts['HOST']}:{parts['PORT']}"
    return subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "compat", "worker", "--loglevel", "INFO"],
        cwd=ROOT,
        env={
            **os.environ,
            "DATABASE_URL": f"{database}/{parts['NAME']}",
            "REDIS_URL": redis_url,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.postgres
@pytest.mark.redis
@pytest.mark.django_db(transaction=True)
def test_a_real_celery_worker_runs_a_sweep(redis_url, settings, monkeypatch):
    settings.REDIS_URL = redis_url
    broker, send = app.connection_for_write(redis_url), app.send_task
    monkeypatch.setattr(app, "send_task", lambda *a, **k: send(*a, **k, connection=broker))
    for number in range(20):
        make_runnable_case("Relu", number)
    make_runnable_case("Abs", says="segfault")
    target = make_fake_target()
    worker = _worker(redis_url)
    try:
        sweep = sweeps.start_sweep(target=target)
        until = time.monotonic() + 60
        while sweep.state != "done" and time.monotonic() < until and worker.poll() is None:
            time.sleep(0.3)
            sweep.refresh_from_db()
    finally:
        worker.terminate()
        output, _ = worker.communicate(timeout=30)
    assert sweep.state == "done", output
    assert sweeps.progress(sweep).outcomes == {"passed": 20, "crashed": 1}, output
    assert Probe.objects.filter(latest=True).count() == 21
    assert dict(target.column.cells.values_list("operator__name", "level")) == {
        "Abs": "red",
        "Relu": "green",
    }
