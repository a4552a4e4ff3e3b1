"""`manage.py up` as a person sees it: everything starts, bears work, restarts, and stops."""

import os
import queue
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The real command on a catalogue of few cases and with the fake as this machine's only runtime.
UP = """
import sys
import django; django.setup()
from django.core.management import call_command
from compat import casebook, catalogue, fleet
from compat.management.commands import load_evidence, up
from tests.make import make_runnable_case
casebook.all_cases = lambda: iter(())
load_evidence.is_loaded = lambda path: True
up.register_local_targets = lambda: fleet.register_local_targets(["fake"])
call_command("migrate", verbosity=0)
catalogue.load_catalogue()
says = sys.argv[2] if len(sys.argv) > 2 else ""
for op_type in ("Relu", "Abs", "Neg"):
    for number in range(10):
        make_runnable_case(op_type, number, says)
call_command("up", port=int(sys.argv[1]))
"""
MORE = """
import django; django.setup()
from compat import fleet, sweeps
sweeps.start_sweep(target=fleet.find_local("fake"))
"""


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


class Running:
    """A process whose output is read as it comes."""

    def __init__(self, folder, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "compat.settings",
                "OPATLAS_DATA_DIR": str(folder),
                "DATABASE_URL": f"sqlite:///{folder}/opatlas.sqlite3",
                "REDIS_URL": "",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines, self.seen = queue.Queue(), []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def wait_for(self, text, seconds=90):
        """The first line with this text; fails with everything that was said instead."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                self.seen.append(self.lines.get(timeout=0.2))
            except queue.Empty:
                if self.process.poll() is not None:
                    break
                continue
            if text in self.seen[-1]:
                return self.seen[-1]
        pytest.fail(f"{text!r} was not said:\n{''.join(self.seen)}")

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        code = self.process.wait(40)
        self.reader.join(5)
        while not self.lines.empty():
            self.seen.append(self.lines.get())
        return code, "".join(self.seen)


def get(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.status, answer.read().decode()


def children_of(pid):
    listed = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(pid)], capture_output=True, text=True, check=True
    )
    return {int(line.split()[0]): line for line in listed.stdout.splitlines()}


def count(folder, where):
    with sqlite3.connect(folder / "opatlas.sqlite3", timeout=20) as database:
        return database.execute(f"SELECT count(*) FROM compat_probe WHERE {where}").fetchone()[0]


def wait_until(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.2)


@pytest.fixture
def up(tmp_path):
    port = free_port()
    running = Running(tmp_path, "-c", UP, str(port))
    yield running, f"http://127.0.0.1:{port}", tmp_path
    if running.process.poll() is None:
        running.end()


def test_one_command_serves_what_it_probed_and_bears_more_work(up):
    running, site, folder = up
    running.wait_for("OpAtlas is at " + site)
    assert "30/30 100%" in "".join(running.seen)
    report = re.search(r"http://\S+/reports/\S+", "".join(running.seen)).group()
    assert get(report)[0] == 200
    assert get(f"{site}/")[0] == 200
    assert count(folder, "state = 'done'") == 30

    # A sweep from elsewhere for the worker, one by command, and readers, all on one SQLite file.
    assert Running(folder, "-c", MORE).process.wait(60) == 0
    by_command = Running(folder, "manage.py", "sweep", "--target", "fake")
    while by_command.process.poll() is None:
        assert get(f"{site}/")[0] == 200
    assert by_command.process.returncode == 0, by_command.end()
    wait_until(lambda: count(folder, "state = 'done'") == 90)
    assert count(folder, "latest") == 30

    worker = next(pid for pid, what in children_of(running.process.pid).items() if "worker" in what)
    os.kill(worker, signal.SIGKILL)
    running.wait_for("The worker ended (signal SIGKILL); it starts again")
    wait_until(lambda: len(children_of(running.process.pid)) == 2)

    children = list(children_of(running.process.pid))
    code, output = running.end()
    assert code == 0, output
    assert "Stopped. Nothing is lost" in output
    assert "locked" not in output
    assert "Traceback" not in output
    assert not any(Path(f"/proc/{pid}").exists() for pid in children)


def test_a_second_start_probes_nothing_again(up):
    running, site, folder = up
    running.wait_for("OpAtlas is at")
    first, _ = running.end(signal.SIGTERM)
    again = Running(folder, "-c", UP, site.rpartition(":")[2])
    started = time.monotonic()
    again.wait_for("OpAtlas is at")
    seconds = time.monotonic() - started
    code, output = again.end()
    assert (first, code) == (0, 0)
    assert "Nothing has changed." in output
    assert "Probing" not in output
    assert count(folder, "state = 'done'") == 30
    assert seconds < 30


def test_a_start_after_a_kill_goes_on_at_once(tmp_path):
    """Also in the middle of its own probing: nobody waits for the leases of the dead."""
    folder = tmp_path
    slow = "sleep=0.1"  # so that there is a middle
    running = Running(folder, "-c", UP, str(free_port()), slow)
    wait_until(lambda: (folder / "opatlas.sqlite3").exists() and held(folder))
    running.end(signal.SIGKILL)
    left = held(folder)
    again = Running(folder, "-c", UP, str(free_port()), slow)
    again.wait_for("OpAtlas is at", seconds=60)
    code, output = again.end()
    assert (code, count(folder, "state = 'done'")) == (0, 30), output
    assert left
    assert "Another worker" not in output


def held(folder):
    try:
        return count(folder, "state = 'claimed'")
    except sqlite3.OperationalError:  # not migrated yet
        return 0


def test_one_folder_bears_one_start(up, tmp_path):
    running, _, folder = up
    wait_until(lambda: (folder / "up.lock").exists() and (folder / "up.lock").read_text())
    second = Running(folder, "manage.py", "up", "--port", str(free_port()))
    assert second.process.wait(60) == 1
    told = second.wait_for(f"(process {running.process.pid})")
    assert told.startswith(f"CommandError: Another OpAtlas already runs on {folder}")
    running.wait_for("OpAtlas is at")


@pytest.mark.parametrize(
    ("environment", "arguments", "sentence"),
    [
        ({}, ["--port", "99999"], "99999 is no port: give a number from 1 to 65535"),
        ({"OPATLAS_PORT": "abc"}, [], "abc is no port"),
        ({}, ["--host", "no.such.host.invalid"], "OpAtlas cannot listen on port 8000 of no.such"),
        ({"OPATLAS_UPLOAD_LIMIT_MB": "abc"}, [], "OPATLAS_UPLOAD_LIMIT_MB is abc: set it to a"),
        ({"OPATLAS_AGENT_LEASE_S": "nan"}, [], "OPATLAS_AGENT_LEASE_S is nan: set it to a"),
        ({"DATABASE_URL": "nothing"}, [], "DATABASE_URL is no address of a database"),
        ({"OPATLAS_DATA_DIR": "/dev/null/x"}, [], "The data folder cannot be used"),
    ],
    ids=str,
)
def test_an_odd_setting_is_told_in_a_sentence(environment, arguments, sentence, tmp_path):
    done = command(tmp_path, "up", *arguments, **environment)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "opatlas.sqlite3").exists()


def test_the_database_lies_in_the_data_folder_whatever_its_name(tmp_path):
    folder = tmp_path / "a#b?c%20d"
    done = command(folder, "migrate", DATABASE_URL="")
    assert done.returncode == 0, done.stderr
    assert {each.name for each in folder.iterdir()} == {"opatlas.sqlite3", "secret.key"}
    assert [each.name for each in tmp_path.iterdir()] == [folder.name]


def test_an_early_ctrl_c_ends_quietly():
    code = """
import os, runpy, signal
from django.core import management
management.execute_from_command_line = lambda _: os.kill(os.getpid(), signal.SIGINT)
runpy.run_path("manage.py", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "")


def command(folder, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**os.environ, "REDIS_URL": "", "OPATLAS_DATA_DIR": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_port_in_use_is_told_before_anything_is_done(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        running = Running(tmp_path, "manage.py", "up", "--port", port)
        assert running.process.wait(60) == 1
        running.wait_for(f"Port {port} of 127.0.0.1 is in use.")
    assert not (tmp_path / "opatlas.sqlite3").exists()
