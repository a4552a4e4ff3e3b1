"""Documents of limits (`python -m probes limits`), checked and stored."""

import hashlib
import json
import lzma
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction

from compat.exchange import ExchangeError, recorded_target
from compat.headers import Header, check_header, check_storable, document_date
from compat.models import Column, Environment, Limit, Loaded, Operator, Target
from compat.shapes import ShapeError, flag, many, maybe, named, number, record, text
from probes.run.limits import LIMITS_KIND, SCHEMA
from probes.run.outcome import RESULTS_KIND, environment_digest
from probes.run.outcome import SCHEMA as RESULTS_SCHEMA

DAMAGES = (lzma.LZMAError, EOFError, UnicodeDecodeError, RecursionError, ValueError)
MANY = 1000
VALUE = number(0, 2**40)
WORD, LINE = text(80), text(600)


def _anything(value: Any, where: str) -> None:
    """check_storable looks at it."""


PROBE = record(
    {
        "case_id": text(32, "[0-9a-f]{32}"),
        "case": text(200),
        "node": named(WORD, _anything, 8),
        "form": text(48),
        "outcome": text(16),
        "stage": text(16),
        "runs": text(16),
        "placement": text(16),
        "placement_detail": LINE,
        "message": LINE,
    },
    optional={"value": VALUE, "dtype": WORD, "works": flag},
)
EDGE = record(
    {
        "worked": maybe(PROBE),
        "failed": maybe(PROBE),
        "again": many(VALUE, MANY),
        "tried": many(_anything, MANY),
    }
)
PARAMETER = record(
    {
        "parameter": WORD,
        "kind": WORD,
        "operand": WORD,
        "least": VALUE,
        "usual": VALUE,
        "most": VALUE,
        "smallest": EDGE,
        "largest": EDGE,
    }
)
OPERATOR = record(
    {
        "domain": WORD,
        "operator": text(128),
        "since_version": number(1, 1000),
        "parameters": many(PARAMETER, MANY),
        "dtypes": many(PROBE, 100),
        "operands": named(WORD, _anything, 100),
        "unanswered": named(WORD, LINE, 100),
    }
)
OPERATORS = many(OPERATOR, MANY)


class LoadedLimits(NamedTuple):
    """`unknown` operators are none of this catalogue."""

    target: Target
    known: int
    unknown: int


def load_limits(path: Path) -> LoadedLimits:
    """Store a file's limits in place of what was known of these operators on its target.

    Raises ExchangeError for a file that is no such document, or whose target cannot be told.
    """
    data = path.read_bytes()
    document = _checked(_parsed(data, path), path.name)
    header = _header(document)
    environment = document["environment"]
    with transaction.atomic():
        target = recorded_target(header)
        stored, _ = Environment.objects.get_or_create(
            digest=environment_digest(environment), defaults={"facts": environment}
        )
        found = {(each["domain"], each["operator"]): each for each in document["operators"]}
        rows = [
            Limit(
                target=target,
                operator=operator,
                environment=stored,
                found_at=document_date(header),
                **{name: each[name] for name in FIELDS},
            )
            for operator in Operator.objects.filter(name__in={name for _, name in found})
            if (each := found.get((operator.domain, operator.name)))
        ]
        Limit.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["target", "operator"],
            update_fields=[*FIELDS, "environment", "found_at"],
        )
        Loaded.objects.update_or_create(name=_name(path), defaults={"digest": _digest(data)})
    return LoadedLimits(target, len(rows), len(found) - len(rows))


FIELDS = ("since_version", "parameters", "dtypes", "operands", "unanswered")


def is_loaded(path: Path) -> bool:
    """Whether exactly this file was loaded before."""
    digest = _digest(path.read_bytes())
    return Loaded.objects.filter(name=_name(path), digest=digest).exists()


def _name(path: Path) -> str:
    return f"limits {path.name}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _parsed(data: bytes, path: Path) -> Any:
    try:
        return json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)
    except DAMAGES as error:
        raise ExchangeError(f"{path.name} is damaged, or not JSON: {error}") from error


def _checked(document: Any, name: str) -> dict[str, Any]:
    if not isinstance(document, dict) or document.get("kind") != LIMITS_KIND:
        raise ExchangeError(f"{name} is not a document of limits")
    if document.get("schema") != SCHEMA:
        raise ExchangeError(f"{name} is not a document of limits of schema {SCHEMA}")
    check_storable(document, name)
    try:
        OPERATORS(document.get("operators"), "operators")
    except ShapeError as error:
        raise ExchangeError(f"{name}: {error}") from error
    check_header(
        {
            "kind": RESULTS_KIND,
            "schema": RESULTS_SCHEMA,
            "environment": document.get("environment"),
            "target": {"device": "unnamed", **_target_of(document)},
        },
        name,
    )
    return dict(document)


def _target_of(document: dict[str, Any]) -> dict[str, Any]:
    target = document.get("target")
    return target if isinstance(target, dict) else {}


def _header(document: dict[str, Any]) -> Header:
    """As that of a results document. What a simulation ran on is not the device it speaks for:
    that is the one whose column has this configuration."""
    target = dict(document["target"])
    if "device" not in target:
        column = Column.objects.filter(
            device__origin="catalogue", runtime=target["runtime"], config=target["config"]
        ).select_related("device").first()  # fmt: skip
        if column is None:
            raise ExchangeError(
                f"no device of the catalogue has {target['runtime']} in this configuration"
            )
        target |= {"device": column.device.slug, "config_name": column.config_name}
    return {"date": document.get("date"), "environment": document["environment"], "target": target}
