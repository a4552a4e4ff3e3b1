"""From what a child said, or how it died, to the one result of a probe."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from probes.model.values import Value, unpack_values
from probes.run.compare import compare
from probes.run.flight import Answer, Flight, Loss
from probes.run.outcome import (
    Environment,
    Latency,
    Outcome,
    Placement,
    ProbeResult,
    Stage,
    environment_digest,
)
from probes.run.requests import ProbeRequest, as_expected

# A wrong answer is asked for again: one that comes and goes is unstable, not wrong.
ASKED_AGAIN = (Outcome.MISMATCH,)
AGREES = (Outcome.PASSED, Outcome.CLOSE)
LOST: dict[str, tuple[Outcome, str]] = {
    "crash": (Outcome.CRASHED, ""),
    "time": (Outcome.TIMED_OUT, "No answer within the time limit."),
    "memory": (Outcome.OUT_OF_MEMORY, "The process grew past the memory limit."),
}


class Verdicts:
    """Judges the answers of one target in one environment."""

    def __init__(
        self, target: str, runtime_version: str, environment: Environment, arithmetic: str = ""
    ) -> None:
        self.target = target
        self.runtime_version = runtime_version
        self.arithmetic = arithmetic
        self.digest = environment_digest(environment)

    def judge(self, flight: Flight, ending: Answer | Loss) -> ProbeResult | None:
        """The result; None when the probe must be tried once more before it is believed."""
        if isinstance(ending, Loss):
            return None if _must_retry(flight, ending) else self._lost(flight, ending)
        try:
            result = self._answered(flight.request, ending)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            return self.harness_error(flight.request, error)  # a document no child of ours writes
        if result.outcome in ASKED_AGAIN and not _answers(flight):
            return None
        return self._with_history(flight, result)

    def harness_error(self, request: ProbeRequest, error: Exception) -> ProbeResult:
        """The result of a probe that we could not put."""
        text = f"{type(error).__name__}: {error}"
        return self._result(request, Outcome.HARNESS_ERROR, message=text, started_at=time.time())

    def _result(self, request: ProbeRequest, outcome: Outcome, **facts: Any) -> ProbeResult:
        return ProbeResult(
            case_id=request.case.id,
            form=request.form,
            target=self.target,
            outcome=outcome,
            runtime_version=self.runtime_version,
            environment=self.digest,
            **facts,
        )

    def _lost(self, flight: Flight, loss: Loss) -> ProbeResult:
        outcome, message = LOST[loss.cause]
        earlier = _losses(flight)
        return self._result(
            flight.request,
            outcome,
            stage=loss.stage,
            message=" ".join(filter(None, (message or loss.message, *map(_note, earlier)))),
            log=loss.log,
            signal=loss.signal,
            confirmed=True if earlier and loss.cause == earlier[-1].cause else None,
            seconds=loss.seconds,
            started_at=time.time() - loss.seconds,
        )

    def _answered(self, request: ProbeRequest, answer: Answer) -> ProbeResult:
        header = answer.header
        latency = header.get("latency")
        facts: dict[str, Any] = {
            "stage": Stage(header["stage"]) if "stage" in header else None,
            "message": header.get("message", ""),
            "log": header.get("log", ""),
            "placement": Placement(header.get("placement", "unknown")),
            "placement_detail": header.get("placement_detail", ""),
            "latency": Latency.from_dict(latency) if latency else None,
            "peak_memory_bytes": header.get("peak_memory_bytes"),
            "seconds": header["seconds"],
            "started_at": header["started_at"],
        }
        if "outcome" in header:
            return self._result(request, Outcome(header["outcome"]), **facts)
        return self._result(request, **{**facts, **self._compared(request, answer)})

    def _compared(self, request: ProbeRequest, answer: Answer) -> dict[str, Any]:
        header = answer.header
        try:
            outputs = unpack_values(header["outputs"], answer.blobs)
            expected: Sequence[Value] = request.case.expected
            if "reference" in header:
                first = int(header["reference_at"])
                expected = unpack_values(header["reference"], answer.blobs, first)
            comparison = compare(
                expected,
                as_expected(request, outputs),
                request.case,
                arithmetic=self.arithmetic,
                steps=header.get("steps", ()),
            )
        except Exception as error:  # noqa: BLE001 - a comparison that fails is our bug, not theirs
            text = f"{type(error).__name__}: {error}"
            return {"outcome": Outcome.HARNESS_ERROR, "stage": Stage.COMPARE, "message": text}
        return comparison.facts()

    def _with_history(self, flight: Flight, result: ProbeResult) -> ProbeResult:
        """Keep both facts: what earlier tries did, and what this one did."""
        for answer in _answers(flight):
            first = self._answered(flight.request, answer)
            if result.outcome in AGREES:
                text = f"Right and wrong by turns. {first.message}"
                result = replace(first, outcome=Outcome.UNSTABLE, message=text)
            elif first.message != result.message:
                result = replace(result, message=f"{result.message} Another run: {first.message}")
        losses = _losses(flight)
        if losses:
            notes = " ".join(map(_note, losses))
            text = " ".join(filter(None, (result.message, notes)))
            result = replace(result, message=text, confirmed=False, signal=losses[-1].signal)
        return result


def _must_retry(flight: Flight, loss: Loss) -> bool:
    """Once, in a fresh child: a crash always, memory only where others may have eaten it."""
    retried: dict[str, Callable[[], bool]] = {
        "crash": lambda: True,
        "memory": lambda: not loss.fresh,
        "time": lambda: False,
    }
    return not _losses(flight) and retried[loss.cause]()


def _losses(flight: Flight) -> list[Loss]:
    return [ending for ending in flight.earlier if isinstance(ending, Loss)]


def _answers(flight: Flight) -> list[Answer]:
    return [ending for ending in flight.earlier if isinstance(ending, Answer)]


def _note(loss: Loss) -> str:
    what = {"crash": loss.message, "memory": LOST["memory"][1], "time": LOST["time"][1]}
    which = "fresh" if loss.fresh else "warm"
    where = f" ended at {loss.stage.value}" if loss.stage else " ended"
    return f"The first try, in a {which} process,{where}: {what[loss.cause]}"
