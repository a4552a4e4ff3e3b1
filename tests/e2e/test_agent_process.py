"""An agent without Django in a process of its own, killed again and again, loses nothing."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from tests.bare_python import ROOT, make_bare_python
from tests.own_servers import POSTGRES_BIN, OwnPostgres, OwnRedis, free_port, wait_for_port
from tests.servers import is_ci

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.redis,
    pytest.mark.skipif(
        not (is_ci() or (POSTGRES_BIN and shutil.which("redis-server"))),
        reason="the programs of PostgreSQL and Redis are not on this machine",
    ),
]

KILLS, CASES = 10, 160
LEASE_S = 5
SEED = 20261129
PACKAGES = ("numpy", "onnx", "onnxruntime", "celery", "redis")
RUNTIMES = ("fake", "onnxruntime-cpu")
# Half a column that takes its time (the fake sleeps), half one that is quick and real.
PREPARE = """
import json, sys
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from compat.casebook import load_cases
from compat.devices import register_device
from compat.wake import wake_acl
from tests.make import engine_case, make_operator
names = ("Abs", "Exp", "Neg", "Relu")
for name in names:
    make_operator(name)
load_cases([engine_case(name, n, "sleep=0.1") for n in range(int(sys.argv[1])) for name in names])
_, token = register_device(slug="board", title="A board", device_class="x86_cpu")
print(json.dumps({"token": token, "acl": wake_acl("board")}))
"""


class Site:
    """gunicorn over a PostgreSQL and a Redis of its own, with a few cases and one device."""

    def __init__(self, folder, postgres, redis_port):
        self.folder, self.port = folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "DJANGO_SETTINGS_MODULE": "compat.settings",
            "OPATLAS_DATA_DIR": str(folder / "data"),
            "OPATLAS_SECRET_KEY": "k" * 50,
            "OPATLAS_AGENT_LEASE_S": str(LEASE_S),
            "OPATLAS_AGENT_POLL_S": "1",
            "OPATLAS_AGENT_REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
            "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
            "DATABASE_URL": postgres.url,
        }
        self.prepared = json.loads(self.python("-c", PREPARE, str(CASES // 4)))

    def python(self, *arguments):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def __enter__(self):
        command = ["-m", "gunicorn", "compat.wsgi", "--bind", f"127.0.0.1:{self.port}"]
        self.log = (self.folder / "gunicorn.log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, *command, "--workers", "1", "--threads", "4"],
            cwd=ROOT, env=self.environment, stdout=self.log, stderr=self.log,
        )  # fmt: skip
        wait_for_port(self.port)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        self.log.close()


class Board:
    """The agent's process, with nothing in its environment but its token."""

    def __init__(self, folder, site, token):
        folder.mkdir()
        self.folder = folder
        self.python = make_bare_python(folder / "python", PACKAGES)
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "OPATLAS_TOKEN": token}
        runtimes = [word for slug in RUNTIMES for word in ("--runtime", slug)]
        self.command = [self.python, "-m", "probes", "agent", "--server", site.url, *runtimes]
        self.log = folder / "agent.log"
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """A test that failed leaves no agent behind that asks for ever."""
        if self.process is not None:
            self.kill()

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=self.folder, env=self.environment, stdout=log, stderr=log
            )

    def kill(self, number=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(30)


def states(url):
    """How many probes are in each state, and how many hold a result of which outcome."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "select t.slug, p.state, p.outcome, count(*), count(distinct (p.case_id, p.form)) "
            "from compat_probe p join compat_target t on t.id = p.target_id group by 1, 2, 3"
        )
        return list(found)


def wait_until_done(url, board, total, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        rows = states(url)
        if sum(row[3] for row in rows if row[1] == "done") == total:
            return rows
        assert board.process.poll() is None, board.log.read_text()
        time.sleep(0.3)
    raise AssertionError(f"{states(url)}\n{board.log.read_text()[-4000:]}")


@pytest.fixture
def redis_folder(tmp_path):
    folder = tmp_path / "redis"
    folder.mkdir()
    return folder


def test_killed_ten_times_with_its_servers_restarted_every_probe_is_there_once(
    tmp_path, redis_folder
):
    chance = random.Random(SEED)
    redis = OwnRedis(redis_folder)
    with OwnPostgres() as postgres:
        site = Site(tmp_path, postgres, redis.port)
        acl = site.prepared["acl"].removeprefix("ACL SETUSER ")
        (redis_folder / "users.acl").write_text(f"user default on nopass ~* &* +@all\nuser {acl}\n")
        with redis, site, Board(tmp_path / "board", site, site.prepared["token"]) as board:
            disturb = {3: redis.restart, 6: postgres.restart}
            amid_work = 0
            for kill in range(KILLS):
                board.start()
                time.sleep(chance.uniform(0.8, 3.0))
                disturb.get(kill, lambda: None)()
                time.sleep(chance.uniform(0.0, 0.5))
                assert board.process.poll() is None, board.log.read_text()
                board.kill()
                amid_work += any(row[1] != "done" for row in states(postgres.url))
            board.start()
            rows = wait_until_done(postgres.url, board, CASES * len(RUNTIMES))
            check_each_once(rows)
            assert amid_work > KILLS // 2, "most kills came when all was done"
            assert board.kill(signal.SIGTERM) == 0
    assert "Traceback" not in board.log.read_text()
    assert not list(Path(board.folder).glob(".cache/opatlas-agent/results/*"))


def check_each_once(rows):
    """Every probe has one end; one that was held through three kills is given up as lost."""
    ends = {(state, outcome) for _, state, outcome, _, _ in rows}
    assert ("done", "passed") in ends
    assert ends <= {("done", "passed"), ("done", "lost_agent")}, rows
    assert sum(row[3] for row in rows if row[2] == "lost_agent") <= KILLS, rows
    for slug in {row[0] for row in rows}:
        each = [row[3:] for row in rows if row[0] == slug]
        assert sum(count for count, _ in each) == sum(cases for _, cases in each) == CASES, rows
