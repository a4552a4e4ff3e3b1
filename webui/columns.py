"""Columns as people choose them: by the class of their device, or by what they rest on."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from compat.columns import ColumnHead, is_recorded
from webui.words import EVIDENCE_GROUPS, word


class ColumnChoice(NamedTuple):
    column: ColumnHead
    chosen: bool


class Choices(NamedTuple):
    title: str
    choices: list[ColumnChoice]


def group_columns(heads: Iterable[ColumnHead], chosen: Collection[str] = ()) -> list[Choices]:
    """Classes in the order in which the matrix shows their first column."""
    classes: dict[str, Choices] = {}
    for head in heads:
        group = classes.setdefault(
            head.device_class, Choices(word("device_class", head.device_class), [])
        )
        group.choices.append(ColumnChoice(head, head.slug in chosen))
    return list(classes.values())


def group_by_evidence(heads: Iterable[ColumnHead], chosen: Collection[str]) -> list[Choices]:
    """Measured columns first, then recorded ones, then those with claims only."""
    groups = {code: Choices(word("evidence_group", code), []) for code in EVIDENCE_GROUPS}
    for head in heads:
        groups[_evidence(head)].choices.append(ColumnChoice(head, head.slug in chosen))
    return [group for group in groups.values() if group.choices]


def _evidence(head: ColumnHead) -> str:
    if head.claimed_only:
        return "claimed"
    return "recorded" if is_recorded(head) else "live"
