"""Many probe rows written in one statement, in the form that each database takes fastest."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from compat.models import Probe, ProbeLog

# Every field that a result fills, with the type that PostgreSQL is told.
RESULT_FIELDS: dict[str, str] = {
    "outcome": "text",
    "stage": "text",
    "kind": "text",
    "placement": "text",
    "message": "text",
    "max_abs": "float8",
    "max_rel": "float8",
    "max_ulp": "float8",
    "cosine": "float8",
    "bit_exact": "bool",
    "p50_ms": "float8",
    "p95_ms": "float8",
    "min_ms": "float8",
    "peak_memory_bytes": "int8",
    "signal": "text",
    "confirmed": "bool",
    "seconds": "float8",
    "environment_id": "text",
    "finished_at": "timestamptz",
    "latest": "bool",
}
OWN_FIELDS = ("id", "sweep_id", "target_id", "case_id", "operator_id", "form")
STATE_FIELDS = {"state": "done", "claim": "", "offers": 0}
# The statements below are put together from these constants only; values are always parameters.
TABLE = Probe._meta.db_table
DONE = "state = 'done', claim = '', lease_until = NULL"


@contextmanager
def hasty_transaction() -> Iterator[None]:
    """A transaction that does not wait for the disk.

    What a power cut takes is a claim or a result, and a lost one is simply probed again.
    """
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL synchronous_commit = off")
        yield


def new_ids(count: int) -> list[int]:
    """Ids that no other probe has or gets; SQLite needs to be in a transaction that writes."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            sequence = "nextval(pg_get_serial_sequence(%s, 'id'))"
            asked = f"SELECT {sequence} FROM generate_series(1, %s)"  # nosec B608
            cursor.execute(asked, [TABLE, count])
            return [number for (number,) in cursor.fetchall()]
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [TABLE])
        last = (cursor.fetchone() or (0,))[0]
        return list(range(last + 1, last + 1 + count))


def add_probes(rows: Sequence[Sequence[Any]]) -> None:
    """Insert finished probes: the values of OWN_FIELDS, then those of RESULT_FIELDS.

    Raises IntegrityError when a row of the sweep, or a newest one, is there already.
    """
    if not rows:
        return
    names = ", ".join([*OWN_FIELDS, *STATE_FIELDS, *RESULT_FIELDS])
    split = len(OWN_FIELDS)
    state = list(STATE_FIELDS.values())
    full = ([*row[:split], *state, *row[split:]] for row in rows)
    with connection.wrap_database_errors, connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {TABLE} ({names}) FROM STDIN") as copy:
                copy.write("".join(map(_copy_line, full)))
            return
        adapt = connection.ops.adapt_datetimefield_value
        plain = [[adapt(v) if isinstance(v, datetime) else v for v in row] for row in full]
        marks = ", ".join(["%s"] * len(plain[0]))
        insert = f"INSERT INTO {TABLE} ({names}) VALUES ({marks})"  # nosec B608
        cursor.executemany(insert, plain)


_SPECIAL = re.compile(r"[\\\t\n\r\x08\f\v]")
_ESCAPED = {
    "\\": r"\\",
    "\t": r"\t",
    "\n": r"\n",
    "\r": r"\r",
    "\b": r"\b",
    "\f": r"\f",
    "\v": r"\v",
}
_COPIED: dict[type, Callable[[Any], str]] = {
    type(None): lambda value: r"\N",
    str: lambda value: _SPECIAL.sub(lambda found: _ESCAPED[found[0]], value),
    bool: lambda value: "t" if value else "f",
    int: str,
    float: repr,
    datetime: datetime.isoformat,
}


def _copy_line(values: Sequence[Any]) -> str:
    """One row in COPY's text format; quicker than the driver's own, value by value."""
    return "\t".join([_COPIED[type(value)](value) for value in values]) + "\n"


def add_logs(rows: Sequence[tuple[int, str, dict[str, Any] | None, str]]) -> None:
    """Logs of probes that were just added: id, printed text, latency, placement detail."""
    if connection.vendor != "postgresql":
        names = ("probe_id", "text", "latency", "placement_detail")
        logs = [ProbeLog(**dict(zip(names, row, strict=True))) for row in rows]
        ProbeLog.objects.bulk_create(logs, batch_size=500)
        return
    plain = (
        (pk, text, latency and json.dumps(latency), detail) for pk, text, latency, detail in rows
    )
    with (
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy(
            f"COPY {ProbeLog._meta.db_table} (probe_id, text, latency, placement_detail) FROM STDIN"
        ) as copy,
    ):
        copy.write("".join(map(_copy_line, plain)))


def demote(ids: Sequence[int]) -> None:
    """These probes are the newest of their case and form no longer."""
    update = f"UPDATE {TABLE} SET latest = false WHERE id = "  # nosec B608
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(update + "ANY(%s)", [list(ids)])
        else:
            cursor.executemany(update + "%s", [(pk,) for pk in ids])


def finish_probes(rows: Sequence[tuple[int, Sequence[Any]]]) -> None:
    """Write results (in the order of RESULT_FIELDS) to probes by id and close these probes."""
    if not rows:
        return
    write = _finish_arrays if connection.vendor == "postgresql" else _finish_each
    write(rows)


def _finish_arrays(rows: Sequence[tuple[int, Sequence[Any]]]) -> None:
    """One UPDATE from one array a column."""
    types = ["int8", *RESULT_FIELDS.values()]
    columns = list(zip(*((pk, *values) for pk, values in rows), strict=True))
    assigned = ", ".join(f"{name} = r.{name}" for name in RESULT_FIELDS)
    arrays = ", ".join(f"%s::{kind}[]" for kind in types)
    names = ", ".join(["id", *RESULT_FIELDS])
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {TABLE} AS p SET {DONE}, {assigned} "  # nosec B608
            f"FROM unnest({arrays}) AS r({names}) WHERE p.id = r.id",
            [list(column) for column in columns],
        )


def _finish_each(rows: Sequence[tuple[int, Sequence[Any]]]) -> None:
    """One prepared UPDATE, run for each row inside the caller's transaction."""
    assigned = ", ".join(f"{name} = %s" for name in RESULT_FIELDS)
    adapt = connection.ops.adapt_datetimefield_value
    at = list(RESULT_FIELDS).index("finished_at")
    prepared = [[*values[:at], adapt(values[at]), *values[at + 1 :], pk] for pk, values in rows]
    with connection.cursor() as cursor:
        update = f"UPDATE {TABLE} SET {DONE}, {assigned} WHERE id = %s"  # nosec B608
        cursor.executemany(update, prepared)
