"""The shape of a stranger's JSON document as a table of checks, each with a sentence."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any, str], None]
LARGEST = 2**64


class ShapeError(ValueError):
    """A document of another shape; the message is a sentence that says where."""


def refuse(where: str, wanted: str) -> None:
    raise ShapeError(f"{where or 'The document'} must be {wanted}.")


def text(length: int, pattern: str = "") -> Check:
    """A string of at most so many characters."""
    form = re.compile(pattern)

    def check(value: Any, where: str) -> None:
        if not isinstance(value, str) or len(value) > length:
            refuse(where, f"text of at most {length} characters")
        elif pattern and not form.fullmatch(value):
            refuse(where, f"text like {pattern}")

    return check


def number(least: int = -LARGEST, most: int = LARGEST) -> Check:
    """A whole number in a range; true and false are none."""

    def check(value: Any, where: str) -> None:
        if type(value) is not int or not least <= value <= most:
            refuse(where, f"a whole number from {least} to {most}")

    return check


def real(value: Any, where: str) -> None:
    """A number that JSON has."""
    if type(value) not in (int, float) or not math.isfinite(value) or abs(value) > 1e300:
        refuse(where, "a number")


def flag(value: Any, where: str) -> None:
    if type(value) is not bool:
        refuse(where, "true or false")


def absent(value: Any, where: str) -> None:
    if value is not None:
        refuse(where, "null")


def any_of(wanted: str, **checks: Check) -> Check:
    """By the type of the value; names are those of Python's types, and `none`."""

    def check(value: Any, where: str) -> None:
        found = checks.get("none" if value is None else type(value).__name__)
        if found is None:
            refuse(where, wanted)
        else:
            found(value, where)

    return check


def maybe(check: Check) -> Check:
    """The same, or null."""

    def check_maybe(value: Any, where: str) -> None:
        if value is not None:
            check(value, where)

    return check_maybe


def many(check: Check, most: int) -> Check:
    """A list of at most so many."""

    def check_all(value: Any, where: str) -> None:
        if not isinstance(value, list) or len(value) > most:
            refuse(where, f"a list of at most {most}")
        for at, item in enumerate(value):
            check(item, f"{where}[{at}]")

    return check_all


def named(name: Check, check: Check, most: int) -> Check:
    """An object with free names."""

    def check_all(value: Any, where: str) -> None:
        if not isinstance(value, dict) or len(value) > most:
            refuse(where, f"an object of at most {most} members")
        for key, item in value.items():
            name(key, f"a name in {where}")
            check(item, f"{where}.{key[:40]}")

    return check_all


def record(members: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with these members and no others."""
    known = {**members, **(optional or {})}

    def check_all(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            refuse(where, "an object")
        if missing := members.keys() - value.keys():
            raise ShapeError(f"{where or 'The document'} lacks {', '.join(sorted(missing))}.")
        if value.keys() - known.keys():
            refuse(where, f"an object of {', '.join(known)} and nothing else")
        for name, item in value.items():
            known[name](item, f"{where}.{name}".lstrip("."))

    return check_all
