"""What a runtime answers to cases that have no expected outputs yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from probes.cases.case import Case
from probes.cases.forms import forms_for
from probes.model.values import Value, unpack_values
from probes.run.flight import Answer, Flight, Loss
from probes.run.outcome import ProbeResult
from probes.run.requests import ProbeRequest, as_expected
from probes.run.results import Verdicts
from probes.run.sandbox import Limits, Sandbox

SECONDS = 60.0
FORMS = ("as_is", "restamped")


class Listener(Verdicts):
    """Keeps the outputs of every answer by case."""

    def __init__(self, plain: Verdicts, kept: dict[str, tuple[Value, ...]]) -> None:
        vars(self).update(vars(plain))
        self.kept = kept

    def judge(self, flight: Flight, ending: Answer | Loss) -> ProbeResult | None:
        if isinstance(ending, Answer) and "outputs" in ending.header:
            outputs = unpack_values(ending.header["outputs"], ending.blobs)
            self.kept[flight.request.case.id] = tuple(as_expected(flight.request, outputs))
        return super().judge(flight, ending)


class Asking(Sandbox):
    """A sandbox that keeps what was answered."""

    def __init__(self, runtime: str, **options: Any) -> None:
        super().__init__(runtime, latency=False, **options)
        self.kept: dict[str, tuple[Value, ...]] = {}

    def _learn(self, hello: dict[str, Any]) -> None:
        super()._learn(hello)
        assert self._verdicts is not None
        self._verdicts = Listener(self._verdicts, self.kept)


def ask(runtime: str, cases: Iterable[Case]) -> tuple[str, dict[str, tuple[Value, ...]]]:
    """The runtime's version, and its outputs by case id, of those cases that it runs as they are
    or, where only the version stamps are too new, restamped."""
    waiting: Sequence[Case] = list(cases)
    sandbox = Asking(runtime, limits=Limits(seconds=SECONDS))
    with sandbox:
        version, _ = sandbox.describe()
        stamps = sandbox.capabilities()
        for form in FORMS:
            asked = [case for case in waiting if form in forms_for(case, stamps)]
            for _ in sandbox.run_many(ProbeRequest(case, form) for case in asked):
                pass
            waiting = [case for case in waiting if case.id not in sandbox.kept]
        return version, sandbox.kept
