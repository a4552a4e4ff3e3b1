"""System checks: each says what is wrong with this installation and what to do."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError, connections

from compat import casebook


@register(Tags.files)
def check_data_folder(**_: Any) -> list[CheckMessage]:
    """The data folder takes files."""
    folder: Path = settings.DATA_DIR
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if os.access(nearest, os.W_OK):
        return []
    return [
        Error(
            f"{folder} cannot be written: cases, uploads and the embedded database lie there.",
            hint="Change its owner, or set OPATLAS_DATA_DIR to a folder that takes files.",
            id="compat.E001",
        )
    ]


@register(Tags.files)
def check_case_pack(**_: Any) -> list[CheckMessage]:
    """The node tests of exactly this onnx ship with this release."""
    if casebook.PACK.exists():
        return []
    return [
        Error(
            f"{casebook.PACK.name} does not ship: the installed onnx is not the release's.",
            hint="pip install -r requirements.txt",
            id="compat.E002",
        )
    ]


@register(Tags.security, deploy=True)
def check_production_servers(**_: Any) -> list[CheckMessage]:
    """Production runs on PostgreSQL; without Redis, somebody has to run the local worker."""
    found: list[CheckMessage] = []
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        found.append(
            Warning(
                "Production runs on SQLite: one writer at a time, one machine.",
                hint="Set DATABASE_URL=postgres://user:password@host:5432/opatlas.",
                id="compat.W001",
            )
        )
    if settings.REDIS_URL and not settings.REDIS_URL.startswith(("redis://", "rediss://")):
        found.append(
            Warning(
                "REDIS_URL is no address of a Redis server.",
                hint="Set REDIS_URL=redis://host:6379/0, or unset it and run manage.py worker.",
                id="compat.W002",
            )
        )
    return found


@register(Tags.database)
def check_cases(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Every case that has a row lies in the case folder (`manage.py check --database default`)."""
    if not databases:
        return []
    tables = _tables(databases[0])
    if tables is None or "compat_case" not in tables or casebook.is_complete():
        return []
    return [
        Warning(
            f"Cases are missing from {settings.CASE_DIR}: sweeps would end in harness errors.",
            hint="manage.py load_catalogue puts them back.",
            id="compat.W003",
        )
    ]


def _tables(alias: str) -> list[str] | None:
    try:
        return list(connections[alias].introspection.table_names())
    except DatabaseError:
        return None
