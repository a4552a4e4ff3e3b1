"""The agent of a device: claims probes from a server, runs them here, posts what they found."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from probes.cases.case import Case, CaseError
from probes.cases.pack import CaseStore
from probes.client import BadAddress, Client, ClientError, Refused
from probes.outbox import Outbox, ResultsFile, results_header
from probes.protocol import (
    AGENT_SCHEMA,
    MOST_IN_A_BATCH,
    PASSING,
    RESULTS_TYPE,
    WAKE_TASK,
    wake_names,
)
from probes.run.environment import machine_facts
from probes.run.outcome import Outcome, ProbeResult
from probes.run.registry import RUNTIMES
from probes.run.sandbox import ProbeRequest, Sandbox
from probes.run.slot import StartError

logger = logging.getLogger("opatlas.agent")

FLUSH_S = 1.0
RENEWALS = 4  # a lease; never more seldom than the device counts as online
LONGEST_RENEWAL_S = 20.0
FIRST_DELAY_S, LONGEST_DELAY_S = 1.0, 60.0
MALFORMED = frozenset({400, 413, 415, 422})  # a document that no waiting makes better
NOT_FOUND = 404
OURS_AGAIN = 500  # from here on the server failed, not we
WAKER_REST_S = 60.0
Welcome = dict[str, Any]


class AgentError(Exception):
    """The agent cannot go on; the message says what to do."""


@dataclass
class Runtime:
    """A runtime of this device, kept warm, and what the server calls it."""

    sandbox: Sandbox
    offer: dict[str, Any]
    environment: dict[str, Any]
    target: dict[str, Any] = field(default_factory=dict)


class Agent:
    """One device's agent. `instance` names it across restarts; `cache` holds cases and results."""

    def __init__(
        self,
        client: Client,
        runtimes: Sequence[str],
        *,
        cache: Path,
        instance: str,
        once: bool = False,
    ) -> None:
        self.client, self.slugs, self.instance, self.once = client, runtimes, instance, once
        self.store = CaseStore(cache / "cases")
        self.outbox = Outbox(cache / "results")
        self.awake = threading.Event()
        self.waker: str = ""
        self.poll_s, self.lease_s = 10.0, 300.0

    def run(self) -> int:
        """Until SIGTERM (or, with `once`, until nothing waits); returns how many were probed.

        Raises AgentError for what no waiting heals.
        """
        done, delay = 0, FIRST_DELAY_S
        told = ""
        with ExitStack() as stack:
            runtimes = self._start(stack)
            while True:
                try:
                    for count in self._session(runtimes):
                        done += count
                        if told:
                            logger.info("%s takes our calls again.", self.client.server)
                        told, delay = "", FIRST_DELAY_S
                    return done
                except ClientError as error:
                    self._raise_if_final(error)
                    if str(error) != told:
                        told = str(error)
                        logger.warning("%s The agent tries again until it is stopped.", error)
                    time.sleep(delay)
                    delay = min(delay * 2, LONGEST_DELAY_S)

    def _start(self, stack: ExitStack) -> list[Runtime]:
        """Every runtime that starts here; raises AgentError when none does."""
        found, reasons = [], []
        for slug in self.slugs:
            row = RUNTIMES[slug]
            sandbox = stack.enter_context(Sandbox(slug, row.config))
            try:
                version, environment = sandbox.describe()
            except StartError as error:
                reasons.append(f"{slug} does not start here: {error}")
                logger.warning(reasons[-1])
                continue
            offer = {
                "runtime": slug,
                "runtime_version": version,
                "config_name": row.config_name,
                "config": dict(row.config),
                "capabilities": sandbox.capabilities().to_dict(),
            }
            found.append(Runtime(sandbox, offer, environment))
        if not found:
            raise AgentError(" ".join(reasons))
        return found

    def _session(self, runtimes: Sequence[Runtime]) -> Iterator[int]:
        """From hello to the first failure: what waits is probed, what does not is waited for."""
        self._greet(runtimes)
        self._send_left()
        yield 0
        sizes = [1] * len(runtimes)
        while True:
            self.awake.clear()
            idle = True
            for at, runtime in enumerate(runtimes):
                count = self._work(runtime, sizes[at])
                # Begun small: if this device dies of a probe, few others are lost with it.
                sizes[at] = min(sizes[at] * 2, MOST_IN_A_BATCH // 2)
                idle = idle and not count
                yield count
            if idle and self.once:
                return
            if idle:
                self.awake.wait(self.poll_s)

    def _greet(self, runtimes: Sequence[Runtime]) -> None:
        document = {
            "schema": AGENT_SCHEMA,
            "agent": self.instance,
            "clock": time.time(),
            "device": machine_facts(),
            "targets": [runtime.offer for runtime in runtimes],
        }
        welcome = self.client.post_json("agent/hello/", document).json()
        self.poll_s, self.lease_s = float(welcome["poll_s"]), float(welcome["lease_s"])
        for runtime, target in zip(runtimes, welcome["targets"], strict=True):
            capabilities = runtime.offer["capabilities"]
            runtime.target = {**target, "capabilities": capabilities}
        slugs = ", ".join(target["slug"] for target in welcome["targets"])
        logger.info("%s knows this device as %s: %s", self.client.server, welcome["device"], slugs)
        self._listen(welcome)

    def _listen(self, welcome: Welcome) -> None:
        wake = welcome.get("wake")
        if wake and wake["url"] != self.waker:
            self.waker = wake["url"]
            listen(wake["url"], wake["queue"], welcome["device"], self.awake)

    def _send_left(self) -> None:
        """What an earlier life found and could not post; what it did not do is given back."""
        for path, header, document in list(self.outbox.left()):
            self._deliver(path, document)
            self._release(str(header.get("claim", "")), lost=True)
            self.outbox.discard(path)

    def _work(self, runtime: Runtime, size: int) -> int:
        """One batch of a target; returns how many of its probes were done."""
        asked = {"agent": self.instance, "target": runtime.target["slug"], "size": size}
        with _HeldSignals() as held:
            batch = self.client.post_json("agent/claims/", asked).json()
            if not batch["probes"]:
                return 0
            claim = str(batch["claim"])
            header = results_header(runtime.target, runtime.environment, claim=claim)
            file = self.outbox.begin(claim, header)
            with ExitStack() as stack:
                stack.callback(file.close)
                stack.enter_context(_Renewal(self, claim))
                try:
                    held.let_go()
                    count = self._probe(runtime, batch["probes"], file)
                    held.hold()
                except BaseException:
                    held.hold()
                    self._leave(claim, file)
                    raise
            self._deliver(file.path, file.unsent)
            self.outbox.discard(file.path)
        return count

    def _probe(
        self, runtime: Runtime, probes: Sequence[Mapping[str, str]], file: ResultsFile
    ) -> int:
        requests = []
        slug = runtime.target["slug"]
        for probe in probes:
            try:
                requests.append(ProbeRequest(self._case(probe["case"]), probe["form"]))
            except CaseError as error:
                file.append(_unreadable(probe, slug, error))
        flushed = time.monotonic()
        for result in runtime.sandbox.run_many(requests):
            try:
                runtime.sandbox.check(result)
            except StartError as error:
                raise AgentError(f"{slug} is here no more: {error}") from error
            file.append(replace(result, target=slug))
            if time.monotonic() - flushed > FLUSH_S:
                flushed = time.monotonic()
                with suppress(ClientError):  # it is on disk, and is posted at the end
                    self._post(file)
        return len(probes)

    def _deliver(self, path: Path, document: bytes) -> None:
        """Post a document; one that the server can never take is kept for people."""
        if not document:
            return
        try:
            self.client.post("results/", document, RESULTS_TYPE)
        except Refused as error:
            if error.status not in MALFORMED:
                raise
            logger.error("The server cannot take the results in %s: %s", path, error)
            self.outbox.set_aside(path)

    def _post(self, file: ResultsFile) -> None:
        if file.unsent:
            self.client.post("results/", file.unsent, RESULTS_TYPE)
            file.sent()

    def _leave(self, claim: str, file: ResultsFile) -> None:
        """Stopped in the middle: post what is done, give back the rest, if the server answers."""
        with suppress(ClientError):
            self._post(file)
            self._release(claim, lost=False)
            self.outbox.discard(file.path)

    def _release(self, claim: str, *, lost: bool) -> None:
        if claim:
            document = {"agent": self.instance, "lost": lost}
            self.client.post_json(f"agent/claims/{claim}/release/", document)

    def _case(self, case_id: str) -> Case:
        """From the cache, else from the server; either way its content has this id."""
        with suppress(KeyError, CaseError):
            return self.store.get(case_id)
        try:
            body = self.client.get(f"cases/{case_id}/").body
        except Refused as error:
            if error.status == NOT_FOUND:
                raise CaseError(str(error)) from error
            raise
        self.store.put_bytes(case_id, body)
        return self.store.get(case_id)

    def _raise_if_final(self, error: ClientError) -> None:
        """A refusal that does not pass by itself ends the agent; with `once`, anything does."""
        passes = not isinstance(error, (Refused, BadAddress))
        if isinstance(error, Refused):
            passes = error.code in PASSING or error.status >= OURS_AGAIN
        if self.once or not passes:
            raise AgentError(str(error)) from error


class _HeldSignals:
    """What would end the agent waits: a claim that the server has made has to be known here, and
    what was found delivered, or the probes are nobody's until the lease ends."""

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._caught: list[int] = []

    def __enter__(self) -> _HeldSignals:
        self.hold()
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go()

    def _note(self, number: int, _: object) -> None:
        self._caught.append(number)

    def hold(self) -> None:
        """From here on they wait; only the main thread may say so."""
        if self._before or threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGTERM, signal.SIGINT):
            self._before[number] = signal.signal(number, self._note)

    def let_go(self) -> None:
        """Give the signals back to whom they belong, and what came meanwhile with them."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
        if self._caught:
            signal.raise_signal(self._caught.pop())


class _Renewal(threading.Thread):
    """Renews a lease while its probes run: one probe may take longer than the lease."""

    def __init__(self, agent: Agent, claim: str) -> None:
        super().__init__(daemon=True)
        self.client = replace(agent.client, tries=1)
        self.path, self.document = f"agent/claims/{claim}/renew/", {"agent": agent.instance}
        self.every = min(agent.lease_s / RENEWALS, LONGEST_RENEWAL_S)
        self.over = threading.Event()

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *_: object) -> None:
        self.over.set()

    def run(self) -> None:
        while not self.over.wait(self.every):
            with suppress(ClientError):  # the next call tells; a lost lease costs a second probe
                self.client.post_json(self.path, self.document)


def _unreadable(probe: Mapping[str, str], target: str, error: Exception) -> ProbeResult:
    return ProbeResult(
        case_id=probe["case"],
        form=probe["form"],
        target=target,
        outcome=Outcome.HARNESS_ERROR,
        message=f"The case cannot be read: {error}",
        started_at=time.time(),
    )


def listen(url: str, queue: str, device: str, awake: threading.Event) -> None:
    """Set `awake` whenever a message comes, in a thread; without Celery the agent only polls."""
    try:
        import redis  # noqa: F401
        from celery import Celery
    except ImportError:
        logger.info("Without Celery and redis the agent is not woken: it asks every few seconds.")
        return
    app = Celery("opatlas-agent", broker=url, set_as_current=False)
    app.conf.update(
        task_ignore_result=True,
        task_default_queue=queue,
        accept_content=["json"],
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_cancel_long_running_tasks_on_connection_loss=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "global_keyprefix": wake_names(device)[1],
            "socket_connect_timeout": 5,
        },
    )
    app.task(name=WAKE_TASK)(awake.set)
    for chatty in ("celery", "kombu"):  # Redis that is away is no news: the agent polls besides
        logging.getLogger(chatty).setLevel(logging.CRITICAL + 1)
    threading.Thread(target=_hear_forever, args=(app, queue), daemon=True).start()


def _hear_forever(app: Any, queue: str) -> None:
    """A worker of one process for one queue; Redis may go and come as it likes."""
    app.set_current()  # of this thread: here its tasks are looked up
    while True:
        worker = app.WorkController(
            app=app,
            pool="solo",
            concurrency=1,
            queues=[queue],
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
        )
        worker.start()  # returns when something is wrong for good, such as a missing right
        logger.warning("Redis wakes the agent no more; it asks every few seconds.")
        time.sleep(WAKER_REST_S)
