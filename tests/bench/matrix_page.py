"""The whole matrix as a page: full catalogue x 30 columns over 1,000,000 stored probes."""

import gzip
import itertools
import statistics
import time
from collections.abc import Iterator
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from compat.models import Case, Cell, Column, Device, Operator, Probe, Sweep, Target
from tests.bench.conditions import machine
from tests.bench.figure import Figure

COLUMNS = 30
PROBES = 1_000_000
QUERIES, MILLISECONDS, BYTES = 6, 150.0, 150_000
# The full catalogue, every column, no Top 20 view.
PAGE = "/"
OUTCOMES = ("passed",) * 7 + ("rejected", "mismatch", "crashed")
LEVELS = ("green", "green", "yellow", "red", "unknown")
REASONS = {
    "green": ("core_all_passed", {"passed": 3}),
    "yellow": ("rest_shows_failures", {"failed": 2, "total": 9}),
    "red": ("core_none_passed", {"total": 3}),
    "unknown": ("nothing_attributable", {}),
}


def make_targets() -> list[Target]:
    """COLUMNS columns of ten devices and three runtimes, one version each."""
    targets = []
    for number in range(COLUMNS):
        device, _ = Device.objects.get_or_create(
            slug=f"bench-device-{number // 3}",
            defaults={"title": f"Bench Device {number // 3}", "device_class": "x86_cpu"},
        )
        column = Column.objects.create(
            device=device,
            runtime=f"runtime-{number % 3}",
            slug=f"bench-{number}.runtime-{number % 3}.default",
            position=number,
        )
        targets.append(
            Target.objects.create(
                column=column,
                runtime_version="1.0",
                version_key="00001.00000",
                slug=f"{column.slug}@1.0",
            )
        )
    return targets


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


def make_cells(targets: list[Target]) -> None:
    deciding = dict(
        Probe.objects.filter(latest=True).order_by().values_list("operator_id", "id").distinct()
    )
    operators = Operator.objects.values_list("id", flat=True)
    cells = []
    for (row, operator), target in itertools.product(enumerate(operators), targets):
        level = LEVELS[(row * 3 + target.pk) % len(LEVELS)]
        code, params = REASONS[level]
        cells.append(
            Cell(
                operator_id=operator,
                column_id=target.column_id,
                target=target,
                probe_id=deciding.get(operator),
                level=level,
                kind="none" if level == "unknown" else "measured",
                reason_code=code,
                reason_params=params,
                core_passed=2,
                core_total=3,
                rest_passed=7,
                rest_total=9,
                max_abs=1e-7,
                p50_ms=0.12,
            )
        )
    Cell.objects.bulk_create(cells, batch_size=2000)


def fill() -> None:
    call_command("load_catalogue", verbosity=0)
    Column.objects.update(shown=False)
    targets = make_targets()
    Column.objects.exclude(pk__in=[target.column_id for target in targets]).delete()
    cases = list(Case.objects.values_list("id", "operator_id"))
    rows = probe_rows(make_sweeps(targets, len(cases)), cases)
    copy_rows(Probe, PROBE_FIELDS, itertools.islice(rows, PROBES))
    make_cells(targets)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def measure() -> Figure:
    fill()
    client = Client(headers={"accept-encoding": "gzip"})
    with CaptureQueriesContext(connection) as queries:
        page = client.get(PAGE)
    text = gzip.decompress(page.content).decode()
    missing = [name for name in Operator.objects.values_list("name", flat=True) if name not in text]
    times = [timed_ms(client) for _ in range(7)]
    value = statistics.median(times)
    holds = (
        page.status_code == 200
        and not missing
        and len(queries) <= QUERIES
        and value <= MILLISECONDS
        and len(page.content) <= BYTES
    )
    return Figure(
        "matrix_page",
        round(value, 1),
        "ms",
        f"<= {MILLISECONDS:g} ms, <= {QUERIES} queries, <= {BYTES // 1000} kB",
        holds,
        {
            **machine(),
            "queries": len(queries),
            "compressed_bytes": len(page.content),
            "bytes": len(text.encode()),
            "operators": Operator.objects.count(),
            "columns": Column.objects.count(),
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
