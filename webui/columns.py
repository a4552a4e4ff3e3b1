"""Columns as people choose them: grouped by the class of their device."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from compat.columns import ColumnHead
from webui.words import word


class ColumnChoice(NamedTuple):
    column: ColumnHead
    chosen: bool


class DeviceClass(NamedTuple):
    title: str
    choices: list[ColumnChoice]


def group_columns(heads: Iterable[ColumnHead], chosen: Collection[str] = ()) -> list[DeviceClass]:
    """Classes in the order in which the matrix shows their first column."""
    classes: dict[str, DeviceClass] = {}
    for head in heads:
        group = classes.setdefault(
            head.device_class, DeviceClass(word("device_class", head.device_class), [])
        )
        group.choices.append(ColumnChoice(head, head.slug in chosen))
    return list(classes.values())
