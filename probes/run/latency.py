"""The whole latency protocol: warm up, repeat under a time cap, keep every sample."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from probes.run.outcome import Latency


@dataclass(frozen=True)
class Protocol:
    """Whichever bound comes first ends a phase, after at least `fewest` samples."""

    warmup_runs: int = 5
    warmup_seconds: float = 0.2
    samples: int = 50
    fewest: int = 3
    seconds: float = 0.6


PROTOCOL = Protocol()


def measure(run: Callable[[], Any], *, threads: int, protocol: Protocol = PROTOCOL) -> Latency:
    """Time `run`, which is one inference and nothing else; its exceptions pass through.

    A single-threaded runtime is pinned to the core it is on, so that no sample holds a migration.
    """
    with _pinned(threads) as cores:
        warmup = len(_repeat(run, protocol.warmup_runs, 1, protocol.warmup_seconds))
        load = os.getloadavg()[0]
        samples = _repeat(run, protocol.samples, protocol.fewest, protocol.seconds)
    conditions = {
        "threads": threads,
        "pinned_cores": cores,
        "load_1min": round(load, 2),
        "clock": "perf_counter",
        "warmup_seconds": protocol.warmup_seconds,
        "cap_seconds": protocol.seconds,
    }
    return summarise(samples, warmup=warmup, conditions=conditions)


def summarise(samples: Sequence[float], *, warmup: int, conditions: dict[str, Any]) -> Latency:
    """Latency of samples in milliseconds, in the order they were taken."""
    ordered = sorted(samples)
    return Latency(
        samples_ms=tuple(round(sample, 6) for sample in samples),
        warmup=warmup,
        p50_ms=percentile(ordered, 50),
        p95_ms=percentile(ordered, 95),
        min_ms=round(ordered[0], 6),
        count=len(ordered),
        conditions=conditions,
    )


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Nearest rank: a value that was measured, never one between two."""
    rank = max(1, math.ceil(len(ordered) * percent / 100))
    return round(ordered[rank - 1], 6)


def _repeat(run: Callable[[], Any], most: int, fewest: int, seconds: float) -> list[float]:
    samples: list[float] = []
    end = perf_counter() + seconds
    while len(samples) < most and (len(samples) < fewest or perf_counter() < end):
        start = perf_counter()
        run()
        samples.append((perf_counter() - start) * 1e3)
    return samples


@contextmanager
def _pinned(threads: int) -> Iterator[list[int]]:
    """Hold a single-threaded run to one core; more threads keep the cores they may use."""
    allowed = os.sched_getaffinity(0)
    cores = {_current_core(allowed)} if threads == 1 else allowed
    os.sched_setaffinity(0, cores)
    try:
        yield sorted(cores)
    finally:
        os.sched_setaffinity(0, allowed)


def _current_core(allowed: set[int]) -> int:
    import ctypes

    core = int(ctypes.CDLL(None).sched_getcpu())
    return core if core in allowed else min(allowed)
