"""The commands as people type them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from compat.models import Column, Probe, Sweep
from compat.sweeps import start_sweep
from probes.run.slot import StartError
from tests.make import make_cell, make_column, make_fake_target, make_operator, make_runnable_case

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]


def run(capsys, *arguments, **options):
    call_command(*arguments, **options)
    return capsys.readouterr().out


def test_stats_are_one_json_object(capsys):
    column = make_column()
    make_cell(make_operator("Relu"), column)
    make_cell(make_operator("Conv"), column, kind="documented")
    make_cell(make_operator("Gelu"), column, kind="none")
    assert json.loads(run(capsys, "stats", json=True)) == {
        "operators": 3,
        "targets": [
            {
                "id": column.slug,
                "device_class": "x86_cpu",
                "measured": 1,
                "simulated": 0,
                "documented": 1,
            }
        ],
    }
    assert "1 measured" in run(capsys, "stats")


def test_a_sweep_runs_to_its_end_with_a_progress_line(capsys):
    make_runnable_case("Relu"), make_runnable_case("Abs")
    out = run(capsys, "sweep", target="fake", operators=["Relu"])
    assert "1/1 100% in" in out
    assert "1 passed" in out
    assert Sweep.objects.get().state == "done"


def test_a_sweep_of_what_is_missing_leaves_no_empty_row(capsys):
    make_runnable_case("Relu")
    call_command("sweep", target="fake", missing=True)
    assert Sweep.objects.count() == 1
    call_command("sweep", target="fake", missing=True)
    assert "Nothing is missing" in capsys.readouterr().out
    assert Sweep.objects.count() == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"target": "rknn"}, "rknn is no target of this machine. Here are: "),
        ({"target": "fake", "operators": ["Rleu"]}, "no operator named Rleu. Did you mean Relu?"),
        ({"target": "fake", "resume": True}, "No stopped sweep of"),
    ],
)
def test_a_sweep_that_cannot_be_gets_a_sentence(options, sentence):
    make_fake_target()
    make_operator("Relu")
    with pytest.raises(CommandError) as raised:
        call_command("sweep", **options)
    assert sentence in str(raised.value)


def test_a_sweep_whose_process_was_killed_is_gone_on_with(capsys):
    make_runnable_case("Relu"), make_runnable_case("Abs")
    start_sweep(target=make_fake_target())  # and nobody stopped it
    assert "2 passed" in run(capsys, "sweep", target="fake", resume=True)
    assert Sweep.objects.get().state == "done"


def test_a_sweep_whose_runtime_goes_away_can_be_gone_on_with(capsys, monkeypatch):
    make_runnable_case("Relu"), make_runnable_case("Abs")
    make_fake_target()

    def gone(*_, **__):
        raise StartError("it is here no more")

    with monkeypatch.context() as broken:
        broken.setattr("compat.management.commands.sweep.work_through", gone)
        with pytest.raises(CommandError, match="no more"):
            call_command("sweep", target="fake")
    assert Sweep.objects.get().state == "stopped"
    assert "2 passed" in run(capsys, "sweep", target="fake", resume=True)


def test_evidence_goes_out_and_comes_in_by_command(capsys, tmp_path):
    make_runnable_case("Relu")
    call_command("sweep", target="fake")
    path = tmp_path / "fake.jsonl.xz"
    assert "1 results of" in run(capsys, "export_evidence", str(path), target="fake")
    assert "1 new results, 0 known" in run(capsys, "load_evidence", str(path))
    assert Column.objects.filter(device__origin="recorded").count() == 1


def test_a_claimed_column_has_nothing_to_export(tmp_path):
    column = make_column("rknn")
    with pytest.raises(CommandError, match="never probed"):
        call_command("export_evidence", str(tmp_path / "x"), target=column.slug)


def test_a_foreign_file_is_not_loaded(tmp_path):
    path = tmp_path / "x.jsonl.xz"
    path.write_bytes(b"nothing")
    with pytest.raises(CommandError, match="is damaged"):
        call_command("load_evidence", str(path))


PREPARE = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from tests.make import make_runnable_case
for number in range(60):
    make_runnable_case("Relu", number, says="sleep=0.1")
"""


def environment(folder):
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "compat.settings",
        "OPATLAS_DATA_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder}/opatlas.sqlite3",
        "REDIS_URL": "",
    }


def start(folder, *arguments):
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_ctrl_c_stops_a_sweep_and_resume_ends_it(tmp_path):
    prepared = start(tmp_path, "-c", PREPARE)
    assert prepared.wait(60) == 0, prepared.stdout.read()
    sweep = start(tmp_path, "manage.py", "sweep", "--target", "fake")
    _wait_for_results(tmp_path)
    sweep.send_signal(signal.SIGINT)
    out, _ = sweep.communicate(timeout=30)
    assert sweep.returncode == 0, out
    assert "Stopped. Go on with: manage.py sweep --target" in out
    counts = _states(tmp_path)
    assert 0 < counts["done"] < 60, counts
    assert counts.get("claimed", 0) == 0, "what was held is queued again"
    resumed = start(tmp_path, "manage.py", "sweep", "--target", "fake", "--resume")
    out, _ = resumed.communicate(timeout=60)
    assert resumed.returncode == 0, out
    assert "60 passed" in out
    assert _states(tmp_path) == {"done": 60}


def _states(folder):
    import sqlite3

    with sqlite3.connect(folder / "opatlas.sqlite3", timeout=20) as database:
        return dict(database.execute("SELECT state, count(*) FROM compat_probe GROUP BY state"))


def _wait_for_results(folder, seconds=40):
    import time

    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if _states(folder).get("done"):
            return
        time.sleep(0.2)
    pytest.fail(f"no result after {seconds} s: {Probe.objects.count()}")
