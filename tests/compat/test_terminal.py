"""What a terminal and a log file see of progress, and how signals end a command."""

import io
import os
import signal

import pytest

from compat import terminal
from compat.terminal import ProgressBar, end_by_signal, readable


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_one_line_that_is_redrawn():
    stream = Terminal()
    bar = ProgressBar(stream, "Probing", 4)
    bar.advance(1)
    bar.advance(3)
    bar.end()
    lines = stream.getvalue().split("\r")
    assert lines[1].startswith("Probing [#######.....................] 1/4  25% 0 s left")
    assert lines[-1].startswith("Probing [############################] 4/4 100% in 0 s")
    assert stream.getvalue().count("\n") == 1


def test_a_log_file_hears_rarely_and_without_control_characters():
    stream = io.StringIO()
    bar = ProgressBar(stream, "Probing", 4)
    for _ in range(4):
        bar.advance(1)
    bar.end()
    assert stream.getvalue() == "Probing [############################] 4/4 100% in 0 s\n"


def test_the_estimate_follows_the_pace(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    bar = ProgressBar(io.StringIO(), "Probing", 300)
    assert bar.text().endswith("0/300   0% ")
    now[0] += 10
    bar.done = 100
    assert bar.text().endswith("100/300  33% 20 s left")


def test_a_bar_starts_at_what_was_done_before_and_its_pace_is_its_own(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    bar = ProgressBar(io.StringIO(), "Probing", 300, done=100)
    assert bar.text().endswith("100/300  33% ")
    now[0] += 10
    bar.done = 200
    assert bar.text().endswith("200/300  67% 10 s left")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")]
)
def test_durations_are_readable(seconds, text):
    assert readable(seconds) == text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_what_runs_and_lets_it_clean_up(number):
    before, seen = signal.getsignal(number), []
    ended = end_by_signal()
    with ended:
        try:
            os.kill(os.getpid(), number)
            seen.append("not reached")
        finally:
            os.kill(os.getpid(), number)  # a second one does not interrupt the clean-up
            seen.append("cleaned up")
    assert (ended.happened, seen) == (True, ["cleaned up"])
    assert signal.getsignal(number) == before


def test_without_a_signal_errors_pass():
    ended = end_by_signal()
    with pytest.raises(ValueError, match="real"), ended:
        raise ValueError("real")
    assert not ended.happened
