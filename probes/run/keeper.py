"""The one thread of this process that starts children and watches them.

The kernel kills a child when the *thread* that started it ends (PR_SET_PDEATHSIG), so children
are started by a thread that lives as long as the process.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

logger = logging.getLogger(__name__)
T = TypeVar("T")
TICK_SECONDS = 0.02


class Watched(Protocol):
    """A child with limits."""

    def tick(self, now: float) -> None:
        """Called every TICK_SECONDS (now: time.monotonic()); must not raise or block."""
        ...


class Keeper:
    """Starts and watches; get it from keeper()."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        self._watched: dict[int, Watched] = {}
        threading.Thread(target=self._loop, name="opatlas-keeper", daemon=True).start()

    def call(self, function: Callable[[], T]) -> T:
        """Run `function` in the keeper's thread; its exception is raised here."""
        future: Future[T] = Future()
        self._calls.put((future, function))
        return future.result()

    def watch(self, child: Watched) -> None:
        """Tick `child` from now on."""
        self.call(lambda: self._watched.update({id(child): child}))

    def unwatch(self, child: Watched) -> None:
        """Tick it no more; when this returns, no tick is in progress."""
        self.call(lambda: self._watched.pop(id(child), None))

    def _loop(self) -> None:
        next_tick = 0.0
        while True:
            self._answer(max(0.0, next_tick - time.monotonic()) if self._watched else None)
            now = time.monotonic()
            if now >= next_tick:
                next_tick = now + TICK_SECONDS
                for child in list(self._watched.values()):
                    self._tick(child, now)

    def _tick(self, child: Watched, now: float) -> None:
        try:
            child.tick(now)
        except Exception:  # one child's trouble must not leave the others unwatched
            logger.exception("watching a child failed")

    def _answer(self, timeout: float | None) -> None:
        try:
            future, function = self._calls.get(timeout=timeout)
        except queue.Empty:
            return
        try:
            future.set_result(function())
        except BaseException as error:  # noqa: BLE001 - it belongs to the caller, who raises it
            future.set_exception(error)


_lock = threading.Lock()
_keepers: dict[int, Keeper] = {}


def _forget() -> None:
    """After a fork the thread is gone, and the lock may be held by nobody."""
    global _lock
    _lock = threading.Lock()
    _keepers.clear()


os.register_at_fork(after_in_child=_forget)


def keeper() -> Keeper:
    """This process's keeper, started on first use."""
    with _lock:
        if os.getpid() not in _keepers:
            _keepers[os.getpid()] = Keeper()
        return _keepers[os.getpid()]
