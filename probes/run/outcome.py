"""How a probe ended: a closed set that says at which stage and whose fault, and its document."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
SCHEMA = 1
RESULTS_KIND = "opatlas-results"
MAX_MESSAGE = 2000
MAX_LOG = 16384


class Outcome(str, Enum):
    """Every way a probe can end."""

    PASSED = "passed"
    CLOSE = "close"
    WRONG_DTYPE = "wrong_dtype"
    MISMATCH = "mismatch"
    WRONG_SHAPE = "wrong_shape"
    UNSTABLE = "unstable"
    COMPILED = "compiled"
    REJECTED = "rejected"
    RUN_ERROR = "run_error"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    UNAVAILABLE = "unavailable"
    HARNESS_ERROR = "harness_error"
    LOST_AGENT = "lost_agent"


class Stage(str, Enum):
    """The step in which a probe ended, in order."""

    CONVERT = "convert"
    COMPILE = "compile"
    LOAD = "load"
    RUN = "run"
    COMPARE = "compare"


class Fault(str, Enum):
    """Whose failure an outcome is."""

    NONE = "none"
    RUNTIME = "runtime"
    HARNESS = "harness"


class Placement(str, Enum):
    """Where the nodes ran; a CPU runtime's intended unit is the CPU, so ACCELERATOR there."""

    ACCELERATOR = "accelerator"
    FALLBACK = "fallback"
    MIXED = "mixed"
    UNKNOWN = "unknown"


class OutcomeRow(NamedTuple):
    """support: what the outcome says of the operator: "yes", "reserved", "no" or "none"."""

    fault: Fault
    is_evidence: bool
    support: str


OUTCOMES: dict[Outcome, OutcomeRow] = {
    Outcome.PASSED: OutcomeRow(Fault.NONE, True, "yes"),
    Outcome.CLOSE: OutcomeRow(Fault.RUNTIME, True, "reserved"),
    Outcome.WRONG_DTYPE: OutcomeRow(Fault.RUNTIME, True, "reserved"),
    Outcome.UNSTABLE: OutcomeRow(Fault.RUNTIME, True, "reserved"),
    Outcome.COMPILED: OutcomeRow(Fault.NONE, True, "reserved"),
    Outcome.MISMATCH: OutcomeRow(Fault.RUNTIME, True, "no"),
    Outcome.WRONG_SHAPE: OutcomeRow(Fault.RUNTIME, True, "no"),
    Outcome.REJECTED: OutcomeRow(Fault.RUNTIME, True, "no"),
    Outcome.RUN_ERROR: OutcomeRow(Fault.RUNTIME, True, "no"),
    Outcome.CRASHED: OutcomeRow(Fault.RUNTIME, True, "no"),
    Outcome.TIMED_OUT: OutcomeRow(Fault.RUNTIME, True, "no"),
    Outcome.OUT_OF_MEMORY: OutcomeRow(Fault.RUNTIME, True, "no"),
    Outcome.UNAVAILABLE: OutcomeRow(Fault.HARNESS, False, "none"),
    Outcome.HARNESS_ERROR: OutcomeRow(Fault.HARNESS, False, "none"),
    Outcome.LOST_AGENT: OutcomeRow(Fault.HARNESS, False, "none"),
}

Environment = dict[str, Any]


def environment_digest(environment: Mapping[str, Any]) -> str:
    """16 hex digits that name an environment's facts, whatever their order."""
    text = json.dumps(environment, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Latency:
    """Milliseconds of one inference. conditions: threads, pinning, clock, as they were."""

    samples_ms: tuple[float, ...]
    warmup: int
    p50_ms: float
    p95_ms: float
    min_ms: float
    count: int
    conditions: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Latency:
        """Raises ValueError on a document that is not one of ours."""
        known = _known(cls, document)
        samples = known.get("samples_ms")
        if not isinstance(samples, (list, tuple)):
            raise ValueError("samples_ms is not a list")
        for value in samples:
            _check_number("samples_ms", value, 0, LARGEST)
        for name in LATENCY_NUMBERS:
            _check_number(name, known.get(name), 0, LARGEST)
        if not isinstance(known.get("conditions", {}), dict):
            raise ValueError("conditions is not an object")
        known["samples_ms"] = tuple(map(float, samples))
        return _build(cls, known)


@dataclass(frozen=True)
class ProbeResult:
    """One case in one form on one target, once. Times in seconds, started_at since the epoch.

    confirmed: None where nothing crashed; True where a crash was seen again in a fresh child;
    False where the fresh child gave the outcome stated here and the first try had crashed.
    """

    case_id: str
    form: str
    target: str
    outcome: Outcome
    stage: Stage | None = None
    message: str = ""
    log: str = ""
    runtime_version: str = ""
    placement: Placement = Placement.UNKNOWN
    placement_detail: str = ""
    max_abs: float | None = None
    max_rel: float | None = None
    max_ulp: float | None = None
    cosine: float | None = None
    bit_exact: bool | None = None
    latency: Latency | None = None
    peak_memory_bytes: int | None = None
    signal: str = ""
    confirmed: bool | None = None
    seconds: float = 0.0
    started_at: float = 0.0
    environment: str = ""
    schema: int = SCHEMA

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready mapping: bounded texts, no NaN or infinity."""
        bounded = replace(self, message=self.message[:MAX_MESSAGE], log=self.log[:MAX_LOG])
        return {name: _plain(value) for name, value in asdict(bounded).items()}

    def to_json(self) -> str:
        """One line of a results document."""
        return json.dumps(self.to_dict(), separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, document: str | bytes | Mapping[str, Any]) -> ProbeResult:
        """Raises ValueError, and nothing else, on what is malformed or of another schema."""
        loaded = _loaded(document) if isinstance(document, (str, bytes)) else document
        schema = loaded.get("schema") if isinstance(loaded, Mapping) else None
        if type(schema) is not int or schema != SCHEMA:
            raise ValueError(f"not a probe result of schema {SCHEMA}")
        known = _known(cls, loaded)
        _check_types(known)
        known["outcome"] = Outcome(known.get("outcome"))
        known["stage"] = Stage(known["stage"]) if known.get("stage") else None
        known["placement"] = Placement(known.get("placement", "unknown"))
        latency = known.get("latency")
        known["latency"] = Latency.from_dict(latency) if latency else None
        return _build(cls, known)


# Texts with the most characters that make sense; the long ones are cut where they are stored.
TEXTS: dict[str, int | None] = {
    "case_id": 64,
    "form": 48,
    "target": 260,
    "message": None,
    "log": None,
    "runtime_version": 80,
    "placement_detail": None,
    "signal": 16,
    "environment": 64,
}
INT63 = 2**63 - 1
LAST_SECOND = 32_503_680_000  # of the year 2999
LARGEST = sys.float_info.max
TIMES = ("seconds", "started_at")  # never null
LATENCY_NUMBERS = ("warmup", "p50_ms", "p95_ms", "min_ms", "count")
NUMBERS: dict[str, tuple[float, float]] = {
    "max_abs": (-LARGEST, LARGEST),
    "max_rel": (-LARGEST, LARGEST),
    "max_ulp": (-LARGEST, LARGEST),
    "cosine": (-LARGEST, LARGEST),
    "peak_memory_bytes": (0, INT63),
    "seconds": (0, LAST_SECOND),
    "started_at": (0, LAST_SECOND),
}


def _check_types(known: Mapping[str, Any]) -> None:
    """A stranger's document must not put a list where a text or a number belongs."""
    for name, longest in TEXTS.items():
        value = known.get(name, "")
        if not isinstance(value, str):
            raise ValueError(f"{name} is not a text")
        if longest is not None and (len(value) > longest or not value.isprintable()):
            raise ValueError(f"{name} is longer than {longest} characters, or not printable")
    for name, (least, most) in NUMBERS.items():
        if name not in known or (known[name] is None and name not in TIMES):
            continue
        _check_number(name, known[name], least, most)
    if type(known.get("peak_memory_bytes")) not in (int, type(None)):
        raise ValueError("peak_memory_bytes is not a whole number")
    for name in ("bit_exact", "confirmed"):
        if type(known.get(name)) not in (bool, type(None)):
            raise ValueError(f"{name} is not true, false or null")


def _check_number(name: str, value: object, least: float, most: float) -> None:
    """True is no number; nor is one that no float can hold."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ValueError(f"{name} is not a finite number")
    if not least <= value <= most:
        raise ValueError(f"{name} is not a finite number from {least} to {most}")


def _loaded(document: str | bytes) -> Any:
    try:
        return json.loads(document)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _known(cls: Any, document: Mapping[str, Any]) -> dict[str, Any]:
    """Unknown keys are dropped: a newer agent may say more."""
    if not isinstance(document, Mapping):
        raise ValueError("not an object")
    names = _field_names(cls)
    return {name: value for name, value in document.items() if name in names}


@cache
def _field_names(cls: Any) -> frozenset[str]:
    return frozenset(row.name for row in fields(cls))


def _build(cls: type[T], known: dict[str, Any]) -> T:
    try:
        return cls(**known)
    except TypeError as error:
        raise ValueError(f"not a {cls.__name__}: {error}") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
