"""A request on its way to a child and back, and the ways in which the way can end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from probes.run.outcome import Stage
from probes.run.requests import ProbeRequest


@dataclass
class Flight:
    """A request and its frame; `earlier` are the endings of tries that were not believed."""

    serial: int
    request: ProbeRequest
    frame: bytes
    earlier: list[Ending] = field(default_factory=list)  # oldest first


@dataclass(frozen=True)
class Answer:
    """What the child said of a flight."""

    header: dict[str, Any]
    blobs: list[memoryview]


@dataclass(frozen=True)
class Loss:
    """How the child was lost while a flight was in progress. fresh: it was its first request."""

    cause: str  # "crash", "time" or "memory"
    signal: str
    message: str
    stage: Stage | None  # None: it had not said where it was
    log: str
    seconds: float
    fresh: bool


Ending = Answer | Loss
