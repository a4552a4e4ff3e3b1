"""A PostgreSQL and a Redis that belong to one test, which may restart them."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

POSTGRES_BIN = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)
# As root, PostgreSQL refuses to run; Debian's package brings this user.
OWNER = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def wait_for_port(port, seconds=30):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError(f"nobody listens on port {port}")


class OwnPostgres:
    """`url` names its database; its files are gone when the block ends."""

    def __enter__(self):
        assert POSTGRES_BIN, "apt-get install postgresql"
        self.folder = Path(tempfile.mkdtemp(prefix="opatlas-pg-"))
        if OWNER:
            shutil.chown(self.folder, **OWNER)
        self.port = free_port()
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres"
        self.run("initdb", "--no-sync", "--auth=trust", "--username=postgres", "-D", "data")
        self.start()
        return self

    def __exit__(self, *_):
        self.run("pg_ctl", "stop", "-D", "data", "-m", "immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        options = f"-p {self.port} -h 127.0.0.1 -k {self.folder} -c fsync=off"
        self.run("pg_ctl", "start", "-w", "-D", "data", "-l", "log", "-o", options)

    def restart(self):
        """As a machine that is pulled from the wall, and put back a moment later."""
        self.run("pg_ctl", "stop", "-w", "-D", "data", "-m", "immediate")
        time.sleep(0.5)
        self.start()

    def run(self, program, *arguments):
        done = subprocess.run(
            [POSTGRES_BIN / program, *arguments],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            **OWNER,
        )
        assert done.returncode == 0, done.stderr


class OwnRedis:
    """Keeps nothing on disk but the users in `users`, lines of an ACL file."""

    def __init__(self, folder, users=()):
        self.folder, self.port, self.process = Path(folder), free_port(), None
        self.url = f"redis://127.0.0.1:{self.port}/0"
        (self.folder / "users.acl").write_text("".join(f"{line}\n" for line in users))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.process = subprocess.Popen(
            [
                *("redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""),
                *("--appendonly", "no", "--aclfile", "users.acl"),
            ],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )
        wait_for_port(self.port)

    def stop(self):
        self.process.terminate()
        self.process.wait(10)

    def restart(self):
        self.stop()
        self.start()
