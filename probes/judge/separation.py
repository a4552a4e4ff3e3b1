"""What separates the cases that pass from those that fail: a data type, a version or a form."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from probes.judge.tally import CaseView


class Separation(NamedTuple):
    facet: str
    good: list[str]
    bad: list[str]


def _dtypes(case: CaseView) -> frozenset[str]:
    return frozenset(case.best.dtypes)


def _since(case: CaseView) -> frozenset[str]:
    return frozenset({str(case.best.since_version)}) if case.best.since_version else frozenset()


def _forms(case: CaseView) -> frozenset[str]:
    return frozenset({case.best.form}) if case.passes else case.forms


# The first facet that explains every failure is the one told.
FACETS: dict[str, Callable[[CaseView], frozenset[str]]] = {
    "dtype": _dtypes,
    "since": _since,
    "form": _forms,
}


def separate(
    passing: Sequence[CaseView], failing: Sequence[CaseView], facets: Iterable[str] = FACETS
) -> Separation | None:
    """A facet separates when every failing case has a value that no passing case has; a form, when
    no failing case was tried in one in which others pass."""
    if not passing or not failing:
        return None
    for facet in facets:
        values = FACETS[facet]
        good = frozenset().union(*(values(case) for case in passing))
        own = [values(case) - good for case in failing]
        tried = facet == "form" and any(values(case) & good for case in failing)
        if all(own) and not tried:
            return Separation(facet, _ordered(good), _ordered(frozenset().union(*own)))
    return None


def _ordered(values: frozenset[str]) -> list[str]:
    """Versions by number, everything else by name."""
    return sorted(values, key=lambda value: value.zfill(6) if value.isdigit() else value)
