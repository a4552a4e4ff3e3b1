"""A PostgreSQL database of its own for one bench, dropped afterwards."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from tests.servers import DATABASE_URL


@contextmanager
def scratch_database(name: str) -> Iterator[str]:
    """Yields the URL of an empty database; `psycopg.OperationalError` when no server answers."""
    database = f"opatlas_bench_{name}_{os.getpid()}"
    named = sql.Identifier(database)
    with psycopg.connect(DATABASE_URL, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(named))
        try:
            yield urlsplit(DATABASE_URL)._replace(path=f"/{database}").geturl()
        finally:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(named))
