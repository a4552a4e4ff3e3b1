"""Children that are kept running, and stopped together."""

import os
import signal
import socket
import sys
import threading
import time

import pytest

from compat import supervision
from compat.supervision import Supervised


def python(code):
    return [sys.executable, "-c", code]


def until(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


class Enough(Exception):
    pass


def supervise_until(children, condition, said=None, seconds=15.0):
    """Supervise until a condition holds; as Ctrl-C would, an exception ends it."""
    end = time.monotonic() + seconds

    def tick():
        if condition():
            raise Enough
        assert time.monotonic() < end, "it did not happen in time"

    with pytest.raises(Enough):
        supervision.supervise(children, say=(said if said is not None else []).append, tick=tick)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_child_that_ends_is_started_again_with_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(supervision, "FIRST_DELAY_S", 0.1)
    starts, said = tmp_path / "starts", []
    child = Supervised("worker", python(f"open({str(starts)!r}, 'a').write('x'); exit(3)"))
    supervise_until([child], lambda: starts.exists() and len(starts.read_text()) >= 3, said)
    assert said[0] == "The worker ended (exit status 3); it starts again in 0 s."
    assert child.delay > 0.2, "each time it waits longer"


def test_stopping_ends_every_child_and_its_children(tmp_path):
    inner = "import time; time.sleep(60)"
    code = (
        "import subprocess, sys, time;"
        f"p = subprocess.Popen([sys.executable, '-c', {inner!r}]);"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(p.pid)); time.sleep(60)"
    )
    child, other = Supervised("web", python(code)), Supervised("worker", python(inner))
    written = lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()  # noqa: E731
    supervise_until([child, other], written)
    assert child.process.poll() is not None
    assert other.process.poll() is not None
    until(lambda: not is_alive(int((tmp_path / "pid").read_text())))


def test_a_child_that_does_not_listen_is_killed(monkeypatch, tmp_path):
    monkeypatch.setattr(supervision, "STOP_S", 0.3)
    ready = tmp_path / "ready"
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        f"open({str(ready)!r}, 'w'); time.sleep(60)"
    )
    child = Supervised("web", python(deaf))
    supervise_until([child], ready.exists)
    assert child.process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_port_in_use_is_seen_before_anything_starts(host):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert not supervision.is_free(host, port)
        assert supervision.answers(host, port)
    assert supervision.is_free(host, port)
    assert not supervision.answers(host, port)


def test_the_children_of_a_killed_supervisor_end_too(tmp_path):
    pid = tmp_path / "pid"
    child = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    code = (
        "from compat.supervision import Supervised, supervise; import sys;"
        f"supervise([Supervised('worker', [sys.executable, '-c', {child!r}])], say=print)"
    )
    outer = Supervised("supervisor", python(code))
    outer.start()
    reaper = threading.Thread(target=outer.process.wait, daemon=True)
    reaper.start()
    until(lambda: pid.exists() and pid.read_text())
    outer.process.kill()
    until(lambda: not is_alive(int(pid.read_text())))
