"""Names of choices: each value short, told apart by its dimension where it is a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Said only where it is not the plain thing.
SILENT: dict[str, tuple[Any, ...]] = {
    "sizes": ("static",),
    "inputs": ("variable",),
    "values": ("plain",),
    "out": ("float",),
    "outputs": (1,),
    "zero": (1,),
}


def label_of(dims: Mapping[str, Sequence[Any]], values: Mapping[str, Any]) -> str:
    """float-rank4-axis-1: the values in the order of the dimensions, lone ones unsaid."""
    parts = [
        _part(name, values[name])
        for name in dims
        if values[name] not in SILENT.get(name, ()) and values[name] is not None
    ]
    return "-".join(part for part in parts if part) or "plain"


def _part(name: str, value: Any) -> str:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, (list, tuple)):
        return name + "x".join(str(each) for each in value)
    return f"{name}{int(value) if isinstance(value, bool) else value}"


def _clean(text: str) -> str:
    """Only what a name may hold."""
    table = {",": "+", ">": "to", " ": "", ".": "_"}
    return "".join(table.get(letter, letter) for letter in text.replace("->", "to"))
