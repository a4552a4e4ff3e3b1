"""Many probe rows finished in one statement, in the form that each database takes fastest."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

from compat.models import Probe

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
            f"UPDATE {TABLE} AS p SET {DONE}, {assigned} "
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
        cursor.executemany(f"UPDATE {TABLE} SET {DONE}, {assigned} WHERE id = %s", prepared)
