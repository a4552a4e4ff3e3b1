"""The whole matrix as a page: full catalogue x 30 columns over 1,000,000 stored probes."""

import gzip
import itertools
import statistics
import time
from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from compat.catalogue import load_catalogue
from compat.cells import rebuild_every_column
from compat.models import Case, Cell, Column, Device, Operator, Probe, Sweep, Target
from tests.bench.conditions import machine
from tests.bench.figure import Figure

COLUMNS = 30
PROBES = 1_000_000
QUERIES, MILLISECONDS, BYTES = 6, 150.0, 150_000
PAGE = "/?view=all"
OUTCOMES = ("passed",) * 7 + ("rejected", "mismatch", "crashed")


def add_columns() -> None:
    """Devices with three runtimes each, until COLUMNS are shown beside those that ship."""
    for number in range(COLUMNS - Column.objects.filter(shown=True).count()):
        device, _ = Device.objects.get_or_create(
            slug=f"bench-device-{number // 3}",
            defaults={"title": f"Bench Device {number // 3}", "device_class": "x86_cpu"},
        )
        runtime = f"runtime-{number % 3}"
        slug = f"{device.slug}.{runtime}.default"
        Column.objects.create(device=device, runtime=runtime, slug=slug, position=200 + number)


def make_targets() -> list[Target]:
    """One version of each shown column."""
    return Target.objects.bulk_create(
        Target(
            column=column,
            runtime_version="1.0",
            version_key="00001.00000",
            slug=f"{column.slug}@1.0",
        )
        for column in Column.objects.filter(shown=True)
    )


def copy_rows(model: Any, fields: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> None:
    names = ", ".join(f'"{model._meta.get_field(name).column}"' for name in fields)
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {model._meta.db_table} ({names}) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(row)


def make_sweeps(targets: list[Target], cases: int) -> list[tuple[Sweep, bool]]:
    """Sweeps over every case until PROBES probes fit; with each, if it is the target's last."""
    rounds = -(-PROBES // (COLUMNS * cases))
    sweeps = Sweep.objects.bulk_create(
        Sweep(target=target, state=Sweep.State.DONE, total=cases)
        for _ in range(rounds)
        for target in targets
    )
    return [(sweep, turn >= len(sweeps) - COLUMNS) for turn, sweep in enumerate(sweeps)]


def probe_rows(
    sweeps: list[tuple[Sweep, bool]], cases: list[tuple[str, int]]
) -> Iterator[tuple[Any, ...]]:
    """Newest sweeps first, so that the row limit cuts history and no column."""
    finished = timezone.now()
    for sweep, latest in reversed(sweeps):
        for number, (case, operator) in enumerate(cases):
            outcome = OUTCOMES[(number * 7 + sweep.target_id) % len(OUTCOMES)]
            yield (
                *(sweep.pk, sweep.target_id, case, operator, "as_is", "done", "", 1),
                *(latest, outcome, "run", "measured", "accelerator"),
                *("" if outcome == "passed" else "NOT_IMPLEMENTED: no kernel of this type", ""),
                *(1e-7, 0.12, finished),
            )


PROBE_FIELDS = (
    *("sweep", "target", "case", "operator", "form", "state", "claim", "offers"),
    *("latest", "outcome", "stage", "kind", "placement"),
    *("message", "signal"),
    *("max_abs", "p50_ms", "finished_at"),
)


def fill() -> None:
    load_catalogue()
    add_columns()
    targets = make_targets()
    cases = list(Case.objects.values_list("id", "operator_id"))
    rows = probe_rows(make_sweeps(targets, len(cases)), cases)
    copy_rows(Probe, PROBE_FIELDS, itertools.islice(rows, PROBES))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    rebuild_every_column()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def measure() -> Figure:
    fill()
    client = Client(headers={"accept-encoding": "gzip"}, SERVER_NAME="127.0.0.1")
    with CaptureQueriesContext(connection) as captured:
        page = client.get(PAGE)
    queries = len(captured)  # now: the next request empties the log
    if page.status_code != 200:
        raise SystemExit(f"{PAGE} answered {page.status_code}")
    text = gzip.decompress(page.content).decode()
    missing = [name for name in Operator.objects.values_list("name", flat=True) if name not in text]
    times = [timed_ms(client) for _ in range(7)]
    value = statistics.median(times)
    holds = (
        not missing and queries <= QUERIES and value <= MILLISECONDS and len(page.content) <= BYTES
    )
    return Figure(
        "matrix_page",
        round(value, 1),
        "ms",
        f"<= {MILLISECONDS:g} ms, <= {QUERIES} queries, <= {BYTES // 1000} kB",
        holds,
        {
            **machine(),
            "queries": queries,
            "compressed_bytes": len(page.content),
            "bytes": len(text.encode()),
            "operators": Operator.objects.count(),
            "columns": Column.objects.filter(shown=True).count(),
            "cells": Cell.objects.count(),
            "probes": Probe.objects.count(),
            "operators_missing_from_page": len(missing),
            "times_ms": [round(value, 1) for value in times],
            "protocol": "median of 7 warm requests through Django's test client, PostgreSQL",
        },
    )


def timed_ms(client: Client) -> float:
    started = time.perf_counter()
    client.get(PAGE)
    return (time.perf_counter() - started) * 1000
