"""A progress bar for people at a terminal, plain lines for a log file."""

import signal
import time
from typing import Protocol, Self

WIDTH = 28
QUIET_S = 5.0  # how often a log file hears of it


class Stream(Protocol):
    """A text stream, or Django's wrapper of one."""

    def write(self, text: str, /) -> object: ...
    def flush(self) -> object: ...
    def isatty(self) -> bool: ...


class ProgressBar:
    """`label [#####.....] 512/1884 27 % 3 s left`, redrawn in place where that is possible."""

    def __init__(self, stream: Stream, label: str, total: int, done: int = 0) -> None:
        self.stream, self.label, self.total = stream, label, total
        self.done = self.before = done
        self.started = self.drawn = time.monotonic()
        self.live = stream.isatty()

    def advance(self, count: int) -> None:
        """So many more are done."""
        self.done += count
        if self.live or time.monotonic() - self.drawn > QUIET_S:
            self._draw("\r" if self.live else "", "" if self.live else "\n")

    def say(self, text: str) -> None:
        """A line of its own beside the bar."""
        self.stream.write(f"\r\x1b[K{text}\n" if self.live else f"{text}\n")
        self.stream.flush()

    def end(self) -> None:
        """The last state, on a line of its own."""
        self._draw("\r" if self.live else "", "\n")

    def text(self) -> str:
        share = min(self.done / self.total, 1.0) if self.total else 1.0
        filled = round(WIDTH * share)
        bar = "#" * filled + "." * (WIDTH - filled)
        counts = f"{self.done}/{self.total} {share:4.0%}"
        return f"{self.label} [{bar}] {counts} {self._time(share)}"

    def _time(self, share: float) -> str:
        spent = time.monotonic() - self.started
        if share >= 1.0:
            return f"in {readable(spent)}"
        own = self.done - self.before
        return f"{readable(spent / own * (self.total - self.done))} left" if own > 0 else ""

    def _draw(self, before: str, after: str) -> None:
        self.drawn = time.monotonic()
        clear = "\x1b[K" if self.live else ""
        self.stream.write(f"{before}{self.text()}{clear}{after}")
        self.stream.flush()


def readable(seconds: float) -> str:
    """ "42 s", "3 min 20 s", "2 h 5 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class end_by_signal:
    """Within it, Ctrl-C and SIGTERM end what runs, its clean-up done; `happened` tells of it."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.happened = False

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._end) for number in self.SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        return kind is KeyboardInterrupt and self.happened

    def _end(self, *_: object) -> None:
        """Once: a second signal must not interrupt the clean-up of the first."""
        if not self.happened:
            self.happened = True
            raise KeyboardInterrupt
