"""Results posted to the API as an agent posts them, until stored and judged in cells."""

import json
import lzma
import statistics
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.test import Client

from compat.catalogue import load_catalogue
from compat.devices import register_device
from compat.models import Cell, Probe, Target
from probes.protocol import RESULTS_TYPE
from tests.bench.conditions import machine
from tests.bench.figure import Figure

RECORDED = "onnxruntime-cpu-1.32.0.jsonl.xz"
DEVICE = "bench-board"
COPIES = 3  # documents of one body: each a whole column, of a configuration of its own
ROUNDS = 5
GOAL = 5000


def recorded() -> tuple[dict[str, Any], list[str]]:
    """The header of a recorded sweep and its result lines, as they were measured."""
    path = settings.FIXTURES_DIR / "evidence" / RECORDED
    with lzma.open(path, "rt", encoding="utf-8") as file:
        header, *lines = file.read().splitlines()
    return json.loads(header), [line for line in lines if '"case_id"' in line]


def body_of(header: dict[str, Any], lines: list[str], number: int) -> bytes:
    """COPIES documents that nobody has sent before."""
    documents = []
    for copy in range(COPIES):
        date = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
        target = {**header["target"], "device": DEVICE, "config_name": f"set{copy}"}
        documents.append(json.dumps({**header, "date": date.isoformat(), "target": target}))
        documents += lines
    return "\n".join(documents).encode()


def post(client: Client, body: bytes, secret: str) -> tuple[float, float, int]:
    """Seconds on the clock and of this process's CPU, and how many results were new."""
    clock, cpu = time.perf_counter(), time.process_time()
    answer = client.post(
        "/api/v1/results/", body, RESULTS_TYPE, headers={"Authorization": f"Bearer {secret}"}
    )
    seconds = time.perf_counter() - clock, time.process_time() - cpu
    if answer.status_code != 200:
        raise SystemExit(f"the API answered {answer.status_code}: {answer.content[:300]!r}")
    return *seconds, answer.json()["new"]


def measure() -> Figure:
    load_catalogue()
    header, lines = recorded()
    _, secret = register_device(slug=DEVICE, title="A board", device_class="x86_cpu")
    client = Client(SERVER_NAME="127.0.0.1")
    post(client, body_of(header, lines, 0), secret)
    posted = [
        post(client, body_of(header, lines, number), secret) for number in range(1, ROUNDS + 1)
    ]
    wanted = len(lines) * COPIES
    if any(new != wanted for *_, new in posted):
        raise SystemExit(f"not every result was new: {[new for *_, new in posted]} of {wanted}")
    rate = statistics.median(wanted / seconds for seconds, _, _ in posted)
    latest = Probe.objects.filter(target__column__device__slug=DEVICE, latest=True).count()
    return Figure(
        "ingest_rate",
        round(rate),
        "results/s",
        f">= {GOAL}",
        rate >= GOAL and latest == wanted,
        {
            **machine(),
            "results_a_request": wanted,
            "body_bytes": len(body_of(header, lines, 0)),
            "probes": Probe.objects.count(),
            "cells_of_the_device": Cell.objects.filter(column__device__slug=DEVICE).count(),
            "targets": Target.objects.filter(column__device__slug=DEVICE).count(),
            "seconds": [round(seconds, 3) for seconds, _, _ in posted],
            "own_cpu_seconds": [round(cpu, 3) for _, cpu, _ in posted],
            "protocol": (
                f"median of {ROUNDS} requests after one unmeasured, one client, one process, "
                "PostgreSQL: JSON lines of a recorded sweep with their messages, logs and "
                "latencies through the API, new rows, the newest marked, cells judged"
            ),
        },
    )
