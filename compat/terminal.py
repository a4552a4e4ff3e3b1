"""A progress bar for people at a terminal, plain lines for a log file."""

import time
from typing import TextIO

WIDTH = 28
QUIET_S = 5.0  # how often a log file hears of it


class ProgressBar:
    """`label [#####.....] 512/1884 27 % 3 s left`, redrawn in place where that is possible."""

    def __init__(self, stream: TextIO, label: str, total: int) -> None:
        self.stream, self.label, self.total = stream, label, total
        self.done = 0
        self.started = self.drawn = time.monotonic()
        self.live = stream.isatty()

    def advance(self, count: int) -> None:
        """So many more are done."""
        self.done += count
        if self.live or time.monotonic() - self.drawn > QUIET_S:
            self._draw("\r" if self.live else "", "" if self.live else "\n")

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
        return f"{readable(spent / share * (1 - share))} left" if share > 0 else ""

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
