"""Inside the child: take requests from one pipe, ask the runtime, answer on another.

`python -m probes.run.child PARENT REQUESTS REPLIES PAGE RUNTIME CONFIG`, numbers but the last two.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from probes.model import frames
from probes.model.values import pack_values, unpack_values
from probes.run import output
from probes.run.adapter import Adapter, HarnessError, NotApplicable, Refused, Session
from probes.run.environment import runtime_facts
from probes.run.guard import guard, line_buffer_c
from probes.run.latency import measure
from probes.run.memory import peak_bytes, reset_peak
from probes.run.outcome import MAX_MESSAGE, Outcome, Stage
from probes.run.progress import ProgressPage
from probes.run.registry import make_adapter

Reply = tuple[dict[str, Any], list[bytes]]


def main(arguments: Sequence[str]) -> None:
    """Serve until the parent closes the pipe."""
    parent, requests, replies, page = map(int, arguments[:4])
    runtime, config = arguments[4], json.loads(arguments[5])
    guard(parent, (requests, replies, page))
    flush = line_buffer_c().fflush
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    progress = ProgressPage(page)
    with os.fdopen(requests, "rb", 2**20) as stream, os.fdopen(replies, "wb", 0) as sink:
        adapter = _greet(runtime, config, sink)
        if adapter is not None:
            flush(None)
            os.ftruncate(1, 0)
            gc.freeze()  # what the imports made lives as long as we do: never look at it again
            _serve(Probe(adapter, progress), stream, sink, lambda: flush(None))


def _greet(runtime: str, config: dict[str, Any], sink: BinaryIO) -> Adapter | None:
    """Say who we are, or why this environment cannot ask the runtime."""
    try:
        adapter = make_adapter(runtime, config)
        hello = {
            "version": adapter.version,
            "capabilities": adapter.capabilities().to_dict(),
            "environment": runtime_facts(runtime, adapter.version, adapter.config, adapter.facts()),
        }
    except Exception as error:  # noqa: BLE001 - whatever a broken installation raises
        _write(sink, frames.encode({"unavailable": describe(error)}))
        return None
    _write(sink, frames.encode(hello))
    return adapter


def _serve(probe: Probe, stream: BinaryIO, sink: BinaryIO, flush: Callable[[], Any]) -> None:
    while (frame := frames.read(stream)) is not None:
        header, blobs = frame
        reply, outputs = probe.answer(header, blobs)
        flush()
        log = output.take(1)
        if log:
            reply["log"] = output.clean(log)
        probe.progress.rest()
        _write(sink, frames.encode(reply, outputs))


def _write(sink: BinaryIO, data: bytes) -> None:
    """All of it: a raw pipe takes what it has room for."""
    view = memoryview(data)
    while len(view):
        view = view[sink.write(view) :]


class Probe:
    """Answers one request at a time with one adapter."""

    def __init__(self, adapter: Adapter, progress: ProgressPage) -> None:
        self.adapter = adapter
        self.progress = progress
        self.stage = Stage.LOAD
        self.threads = int(adapter.config.get("threads", 1))
        self.compile_only = not adapter.capabilities().numbers_meaningful

    def enter(self, stage: Stage) -> None:
        """Note the stage here and on the page that outlives a crash."""
        self.stage = stage
        self.progress.enter(stage)

    def answer(self, header: dict[str, Any], blobs: Sequence[memoryview]) -> Reply:
        """The reply to a request, whatever the runtime raises."""
        started = time.monotonic()
        self.progress.begin(started, header["serial"])
        reply: dict[str, Any] = {"serial": header["serial"], "started_at": time.time()}
        outputs: list[bytes] = []
        try:
            outputs = self._ask(header, blobs, reply)
        except Refused as refused:
            reply.update(_failure(refusal_outcome(refused.stage), refused.stage, refused.message))
        except NotApplicable as reason:
            reply.update(_failure(Outcome.UNAVAILABLE, self.stage, str(reason)))
        except MemoryError as error:
            reply.update(_failure(Outcome.OUT_OF_MEMORY, self.stage, describe(error)))
        except SystemExit as error:
            text = f"The runtime asked the process to exit ({error.code})."
            reply.update(_failure(refusal_outcome(self.stage), self.stage, text))
        except Exception as error:  # noqa: BLE001 - not a refusal, so ours: never blame the runtime
            reply.update(_failure(Outcome.HARNESS_ERROR, self.stage, describe(error)))
        reply["seconds"] = time.monotonic() - started
        return reply, outputs

    def _ask(
        self, header: dict[str, Any], blobs: Sequence[memoryview], reply: dict[str, Any]
    ) -> list[bytes]:
        inputs = unpack_values(header["inputs"], blobs, first=1)
        self.enter(Stage.LOAD)
        if header.get("timed"):
            reset_peak()
        session = self.adapter.load(bytes(blobs[0]), inputs, self.enter)
        try:
            reply["placement"] = session.placement.value
            if session.placement_detail:
                reply["placement_detail"] = session.placement_detail[:MAX_MESSAGE]
            if self.compile_only:
                reply["outcome"] = Outcome.COMPILED.value
                return []
            session.feed(inputs)
            return self._run(session, header, reply)
        finally:
            session.close()

    def _run(self, session: Session, header: dict[str, Any], reply: dict[str, Any]) -> list[bytes]:
        self.enter(Stage.RUN)
        raw = _run_once(session)
        described, outputs = pack_values(session.outputs(raw))
        reply["outputs"] = described
        if session.reference is not None:
            reply["reference_at"] = len(outputs)
            reply["reference"], blobs = pack_values(session.reference)
            outputs += blobs
        if session.steps:
            reply["steps"] = list(session.steps)
        if header.get("timed"):
            latency = measure(lambda: _run_once(session), threads=self.threads)
            latency.conditions.update(session.conditions())
            reply["latency"] = dict(vars(latency))
            reply["peak_memory_bytes"] = session.memory_bytes or peak_bytes()
        return outputs


def refusal_outcome(stage: Stage) -> Outcome:
    """A runtime's own error is a rejection until it has accepted the model."""
    return Outcome.RUN_ERROR if stage is Stage.RUN else Outcome.REJECTED


def describe(error: BaseException) -> str:
    """Type and text of an exception, even one whose text is not UTF-8."""
    try:
        text = str(error)
    except UnicodeError:
        text = "(text that is not UTF-8)"
    return f"{type(error).__name__}: {text}"


def _run_once(session: Session) -> Any:
    try:
        return session.run()
    except (Refused, HarnessError, NotApplicable, MemoryError):
        raise
    except Exception as error:
        raise Refused(Stage.RUN, describe(error)) from error


def _failure(outcome: Outcome, stage: Stage, message: str) -> dict[str, Any]:
    text = output.clean(message[:MAX_MESSAGE].encode("utf-8", "replace"))
    return {"outcome": outcome.value, "stage": stage.value, "message": text}


if __name__ == "__main__":
    main(sys.argv[1:])
