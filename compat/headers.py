"""The head of a results document: a stranger's words, checked before anything is made of them."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from probes.cases.forms import FORMS
from probes.run.adapter import Capabilities
from probes.run.outcome import RESULTS_KIND, SCHEMA, ProbeResult
from probes.run.tolerances import ARITHMETIC

Header = dict[str, Any]

LONGEST_NAME = 80
LONGEST_TITLE = 120
LONGEST_ENVIRONMENT = 200  # facts
DEEPEST = 20
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_CLAIM = re.compile("[0-9a-f]{32}")
_Check = Callable[[Any], bool]


class ExchangeError(ValueError):
    """A file that is not a results document, or one that this catalogue cannot take."""


def _text(pattern: str, longest: int) -> _Check:
    form = re.compile(pattern)
    return lambda value: (
        isinstance(value, str) and len(value) <= longest and form.fullmatch(value) is not None
    )


def _is(*kinds: type) -> _Check:
    """Of one of these types; True is no number."""
    return lambda value: type(value) in kinds


SLUG = r"[-a-zA-Z0-9_]+"
# field of the target -> what it must be, and whether it must be there
TARGET: dict[str, tuple[_Check, bool]] = {
    "device": (_text(SLUG, LONGEST_NAME), True),
    "runtime": (_text(SLUG, 40), True),
    "runtime_version": (_text(r"[A-Za-z0-9_.+:-]+", LONGEST_NAME), True),
    "config_name": (_text(SLUG, 40), True),
    "config": (_is(dict), True),
    "device_title": (_text(r"[^\n]+", LONGEST_TITLE), False),
    "device_class": (_text(SLUG, 40), False),
    "device_facts": (_is(dict), False),
    "capabilities": (_is(dict, type(None)), False),
}
CAPABILITIES: dict[str, _Check] = {
    "max_opset": _is(int, type(None)),
    "max_ir": _is(int, type(None)),
    "dtypes": lambda value: type(value) is list and all(type(each) is str for each in value),
    "min_opset": _is(int, type(None)),
    "static_shapes": _is(bool),
    "constant_inputs": _is(bool),
    "explicit_attributes": _is(bool),
    "arithmetic": lambda value: value in ("", *ARITHMETIC),
    "intended_unit": _text(r"[^\n]*", LONGEST_NAME),
    "placement_known": _is(bool),
    "numbers_meaningful": _is(bool),
    "latency_meaningful": _is(bool),
    "evidence": lambda value: value in ("measured", "simulated"),
}


def check_header(header: Header, name: str) -> None:
    """Raises ExchangeError, which begins with the document's name, for a head of another kind."""
    schema = header.get("schema")
    if header.get("kind") != RESULTS_KIND or type(schema) is not int or schema != SCHEMA:
        raise ExchangeError(f"{name} is not a results document of schema {SCHEMA}")
    check_storable(header, name)
    target, environment = header.get("target"), header.get("environment")
    if not isinstance(target, dict) or not isinstance(environment, dict):
        raise ExchangeError(f"{name} does not say of which target and environment it is")
    if len(environment) > LONGEST_ENVIRONMENT:
        raise ExchangeError(f"{name} has more than {LONGEST_ENVIRONMENT} facts of its environment")
    _check_fields(target, TARGET, f"{name} names no {{}}, or one that cannot be")
    check_capabilities(target.get("capabilities") or {}, name)
    claim = header.get("claim")
    if claim is not None and not is_claim(claim):
        raise ExchangeError(f"{name} names a claim that cannot be")


def check_capabilities(told: Mapping[str, Any], name: str) -> None:
    """Raises ExchangeError for a capability that this release knows otherwise."""
    known = {field: (check, False) for field, check in CAPABILITIES.items()}
    _check_fields(told, known, f"{name} has a broken capability {{}}")


def is_claim(name: object) -> bool:
    """Whether an agent's claim can have this name."""
    return isinstance(name, str) and _CLAIM.fullmatch(name) is not None


def _check_fields(
    found: Mapping[str, Any], table: Mapping[str, tuple[_Check, bool]], sentence: str
) -> None:
    for field, (check, needed) in table.items():
        if (needed or field in found) and not check(found.get(field)):
            raise ExchangeError(sentence.format(field))


def check_storable(document: Any, name: str, depth: int = 0) -> None:
    """Raises ExchangeError for what no database takes: NUL, half characters, infinity, depths."""
    if depth > DEEPEST:
        raise ExchangeError(f"{name} is nested more than {DEEPEST} deep")
    if isinstance(document, str) and _UNSTORABLE.search(document):
        raise ExchangeError(f"{name} holds a character that is no text")
    if isinstance(document, float) and not math.isfinite(document):
        raise ExchangeError(f"{name} holds a number that is not finite")
    if isinstance(document, (dict, list)):
        parts: Iterable[Any] = document
        if isinstance(document, dict):
            parts = [*document, *document.values()]
        for part in parts:
            check_storable(part, name, depth + 1)


def check_result(result: ProbeResult, name: str) -> None:
    """Raises ExchangeError for a result that is well formed, but cannot have come about."""
    if not all(part in FORMS for part in result.form.split("+")):
        raise ExchangeError(f"{name} has a broken result: there is no form {result.form}")
    if result.latency is not None:
        check_storable(result.latency.conditions, name)


def known_capabilities(header: Header) -> dict[str, Any] | None:
    """What this release knows of the document's capabilities; a newer one may say more."""
    told = header["target"].get("capabilities")
    return pick_capabilities(told) if told else None


def pick_capabilities(told: Mapping[str, Any]) -> dict[str, Any]:
    """The capabilities of this release among those told."""
    known = {each.name: told[each.name] for each in fields(Capabilities) if each.name in told}
    return Capabilities.from_dict({"dtypes": (), **known}).to_dict()


def document_date(header: Header) -> datetime:
    """When the results were taken; raises ExchangeError for a header that does not say."""
    try:
        return datetime.fromisoformat(str(header.get("date", ""))).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ExchangeError(f"a results document without a date: {error}") from error
