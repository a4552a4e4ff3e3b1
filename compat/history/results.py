"""The newest results, one of each case, form and target: a list that is read in parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import overload

from django.db.models import Q

from compat.history.parts import NotKnown, latest_probes, support_of
from compat.models import Column, Operator, Target


@dataclass(frozen=True)
class ResultRow:
    """One finished probe. `support` is what its outcome says: yes, reserved, no, none."""

    id: int
    case: str
    case_name: str
    core: bool
    domain: str
    operator: str
    target: str
    form: str
    outcome: str
    support: str
    stage: str
    kind: str
    placement: str
    message: str
    max_abs: float | None
    max_rel: float | None
    p50_ms: float | None
    p95_ms: float | None
    min_ms: float | None
    seconds: float | None
    sweep: int
    finished_at: datetime | None


_FIELDS = (
    *("id", "case_id", "case__name", "case__core", "operator__domain", "operator__name"),
    *("target__slug", "form", "outcome", "stage", "kind", "placement", "message"),
    *("max_abs", "max_rel", "p50_ms", "p95_ms", "min_ms", "seconds", "sweep_id", "finished_at"),
)
_BEFORE_SUPPORT = _FIELDS.index("outcome") + 1


class ResultList(Sequence[ResultRow]):
    """Results by number, the oldest first; the length and each slice are one query."""

    def __init__(self, which: Q) -> None:
        self._found = latest_probes(which).order_by("pk")

    @cached_property
    def _length(self) -> int:
        return self._found.count()

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int) -> ResultRow: ...
    @overload
    def __getitem__(self, at: slice) -> list[ResultRow]: ...
    def __getitem__(self, at: int | slice) -> ResultRow | list[ResultRow]:
        rows = self._found.values_list(*_FIELDS)
        return [_row(row) for row in rows[at]] if isinstance(at, slice) else _row(rows[at])


def load_results(
    *, where: Column | Target | None = None, operator: str = "", outcome: str = ""
) -> ResultList:
    """The results of a column or target, an operator ("Conv", "domain::Name"), an outcome; of all
    where nothing is named. Raises NotKnown for an operator that is not in the catalogue."""
    which = Q(outcome=outcome) if outcome else Q()
    if isinstance(where, Target):
        which &= Q(target=where)
    elif where is not None:
        which &= Q(target__column=where)
    if operator:
        which &= Q(operator__in=_operators(operator))
    return ResultList(which)


def _operators(name: str) -> list[int]:
    domain, _, op_type = name.rpartition("::")
    named = Operator.objects.filter(name=op_type, **({"domain": domain} if domain else {}))
    found = list(named.values_list("pk", flat=True))
    if not found:
        raise NotKnown("There is no operator of this name in the catalogue.")
    return found


def _row(values: Sequence[object]) -> ResultRow:
    support = support_of(str(values[_BEFORE_SUPPORT - 1]))
    fields = (*values[:_BEFORE_SUPPORT], support, *values[_BEFORE_SUPPORT:])
    return ResultRow(*fields)  # type: ignore[arg-type]
