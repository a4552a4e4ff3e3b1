"""Write what probes found: rows in bulk, once each, the newest marked, cells judged again."""

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import IntegrityError
from django.utils import timezone

from compat.bulk import (
    RESULT_FIELDS,
    add_logs,
    add_probes,
    demote,
    finish_probes,
    hasty_transaction,
    new_ids,
)
from compat.cells import rebuild_cells
from compat.models import Case, Environment, Probe, ProbeLog, Sweep, Target
from probes.run.outcome import MAX_LOG, MAX_MESSAGE, ProbeResult, environment_digest

__all__ = ["Recorded", "open_record", "rebuild_cells", "record_many"]

TRIES = 3
MANY = 500  # above it, reading all rows is quicker than naming the wanted ones
Key = tuple[str, str]  # case id, form
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class Recorded(NamedTuple):
    """How many results were new, how many were known already, and which operators changed."""

    new: int
    known: int
    operators: frozenset[int] = frozenset()


class Written(NamedTuple):
    """A probe row and the result that goes into it."""

    id: int
    operator_id: int
    result: ProbeResult

    @property
    def key(self) -> Key:
        return self.result.case_id, self.result.form


def record_many(
    *,
    target: Target,
    environment: dict[str, Any],
    results: Sequence[ProbeResult],
    sweep: Sweep | None = None,
    claim: str | None = None,
) -> Recorded:
    """Store results of a target; the same results again change nothing.

    With `claim` they finish the rows that this claim holds (a result whose lease was lost is
    left to whoever holds it now). Without, they become rows of `sweep`, or of the record of
    this target and environment. Cells are not touched: `rebuild_cells` judges them.
    Raises ValueError for a result whose case is not in the catalogue.
    """
    for attempt in range(TRIES):
        try:
            with hasty_transaction():
                return _record(target, environment, results, sweep, claim)
        except IntegrityError:  # another worker marked the same case and form as newest
            if attempt == TRIES - 1:
                raise
    raise AssertionError("unreachable")


def open_record(*, target: Target, key: str, at: datetime | None = None) -> Sweep:
    """The sweep that stands for a results document; the same key gives the same sweep."""
    digest = hashlib.sha256(f"{target.slug}\0{key}".encode()).hexdigest()
    at = at or timezone.now()
    found, _ = Sweep.objects.get_or_create(
        key=digest,
        defaults={
            "target": target,
            "origin": "recorded",
            "state": Sweep.State.DONE,
            "started_at": at,
            "finished_at": at,
        },
    )
    return found


def _record(
    target: Target,
    environment: dict[str, Any],
    results: Sequence[ProbeResult],
    sweep: Sweep | None,
    claim: str | None,
) -> Recorded:
    digest = environment_digest(environment)
    _keep_environment(digest, environment)
    if claim is None:
        sweep = sweep or open_record(target=target, key=digest)
        rows = _fresh(results, sweep)
    else:
        rows = _claimed(target, results, claim)
    latest = _newest(target, rows)
    kind = target.capabilities.get("evidence", "measured")
    values = [result_values(row.result, kind, digest, row.id in latest) for row in rows]
    if sweep is None or claim is not None:
        finish_probes([(row.id, each) for row, each in zip(rows, values, strict=True)])
        _keep_logs(rows)
    else:
        own = (
            (row.id, sweep.pk, target.pk, row.result.case_id, row.operator_id, row.result.form)
            for row in rows
        )
        add_probes([[*each, *found] for each, found in zip(own, values, strict=True)])
        Sweep.objects.filter(pk=sweep.pk).update(total=sweep.probes.count())
        add_logs(list(_logs(rows)))
    operators = frozenset(row.operator_id for row in rows)
    return Recorded(len(rows), len(results) - len(rows), operators)


def _keep_environment(digest: str, facts: dict[str, Any]) -> None:
    if not Environment.objects.filter(pk=digest).exists():
        Environment.objects.bulk_create(
            [Environment(digest=digest, facts=facts)], ignore_conflicts=True
        )


def _claimed(target: Target, results: Sequence[ProbeResult], claim: str) -> list[Written]:
    """The rows that this claim holds, each with its result.

    They are locked: the same document, sent again while it is written, waits and finds none.
    """
    held: dict[Key, list[tuple[int, int]]] = {}
    rows = (
        Probe.objects.select_for_update()
        .order_by("pk")
        .filter(
            claim=claim,
            state=Probe.State.CLAIMED,
            target=target,
            case_id__in={result.case_id for result in results},
        )
        .values_list("id", "operator_id", "case_id", "form")
    )
    for pk, operator, case, form in rows:
        held.setdefault((case, form), []).append((pk, operator))
    pairs = ((held.get((result.case_id, result.form)), result) for result in results)
    return [Written(*probes.pop(), result) for probes, result in pairs if probes]


def _fresh(results: Sequence[ProbeResult], sweep: Sweep) -> list[Written]:
    """The results that the sweep does not have yet, each with the id of its row to be."""
    known = set(
        Probe.objects.filter(sweep=sweep, state=Probe.State.DONE).values_list("case_id", "form")
    )
    fresh = {
        (result.case_id, result.form): result
        for result in results
        if (result.case_id, result.form) not in known
    }
    cases = Case.objects.values_list("pk", "operator_id")
    if len(fresh) < MANY:
        cases = cases.filter(pk__in={case for case, _ in fresh})
    operators = dict(cases)
    unknown = sorted({case for case, _ in fresh} - operators.keys())
    if unknown:
        raise ValueError(f"{len(unknown)} cases are not in the catalogue, the first {unknown[0]}")
    return [
        Written(pk, operators[result.case_id], result)
        for pk, result in zip(new_ids(len(fresh)), fresh.values(), strict=True)
    ]


def _newest(target: Target, rows: Sequence[Written]) -> set[int]:
    """Ids of the rows that are now the newest of their case and form; older ones are demoted."""
    best: dict[Key, Written] = {}
    for row in rows:
        if row.key not in best or _finished(best[row.key].result) <= _finished(row.result):
            best[row.key] = row
    demoted = []
    standing = Probe.objects.filter(target=target, latest=True)
    if len(best) < MANY:
        standing = standing.filter(case_id__in={case for case, _ in best})
    rows_of = standing.values_list("id", "case_id", "form", "finished_at")
    for pk, case, form, finished_at in rows_of:
        challenger = best.get((case, form))
        if challenger is None:
            continue
        if finished_at is not None and finished_at > _finished(challenger.result):
            del best[case, form]
        else:
            demoted.append(pk)
    if demoted:
        demote(demoted)
    return {row.id for row in best.values()}


def _finished(result: ProbeResult) -> datetime:
    return datetime.fromtimestamp(result.started_at + result.seconds, UTC)


def result_values(result: ProbeResult, kind: str, environment: str, latest: bool) -> list[Any]:
    """A result in the order of RESULT_FIELDS; what is not finite is not a size and is left out."""
    latency = result.latency
    values: dict[str, Any] = {
        "outcome": result.outcome.value,
        "stage": result.stage.value if result.stage else "",
        "kind": kind,
        "placement": result.placement.value,
        "message": _text(result.message)[:MAX_MESSAGE],
        "bit_exact": result.bit_exact,
        "p50_ms": latency.p50_ms if latency else None,
        "p95_ms": latency.p95_ms if latency else None,
        "min_ms": latency.min_ms if latency else None,
        "peak_memory_bytes": result.peak_memory_bytes,
        "signal": result.signal,
        "confirmed": result.confirmed,
        "seconds": result.seconds,
        "environment_id": environment,
        "finished_at": _finished(result),
        "latest": latest,
    }
    for name in ("max_abs", "max_rel", "max_ulp", "cosine"):
        value = getattr(result, name)
        values[name] = value if value is not None and math.isfinite(value) else None
    return [values[name] for name in RESULT_FIELDS]


def _keep_logs(rows: Iterable[Written]) -> None:
    """Logs of rows that may have been finished, and queued again, before."""
    logs = [
        ProbeLog(probe_id=pk, text=text, latency=latency, placement_detail=detail)
        for pk, text, latency, detail in _logs(rows)
    ]
    ProbeLog.objects.bulk_create(logs, batch_size=500, ignore_conflicts=True)


def _logs(rows: Iterable[Written]) -> Iterator[tuple[int, str, dict[str, Any] | None, str]]:
    """Id, printed text, latency and placement detail of those that have any."""
    for pk, _, result in rows:
        if result.log or result.latency or result.placement_detail:
            latency = {**vars(result.latency)} if result.latency else None
            yield pk, _text(result.log)[:MAX_LOG], latency, _text(result.placement_detail)


def _text(text: str) -> str:
    """PostgreSQL keeps no NUL in a text, and UTF-8 no half characters."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)
