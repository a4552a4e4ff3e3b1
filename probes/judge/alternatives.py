"""Which way to compute the same is best on a target: evidence in, a recommendation out.

A way is another graph for the case that it replaces. A form of that case other than as it is, and
another version of the operator, are ways too.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from probes.judge.tally import SEVERITY, CaseView, count, is_evidence
from probes.judge.verdict import Evidence, Ref

AS_IS = "as_is"
RANKS = {"green": 0, "yellow": 1, "red": 2, "unknown": 3}
# These hold nothing back: a runtime that reports no placement runs where it was asked to.
HARMLESS = frozenset({"placement_unreported"})

# What is to be told of one computation, and of an operator: the first that holds of any.
STATUSES = ("found", "none_works", "not_tried", "none_known", "as_is")


class Standing(NamedTuple):
    """How one way ended on the target; without `way` it is the case itself, in `form`."""

    way: str
    form: str
    level: str  # green, yellow, red; unknown where nothing attributable was tried
    codes: tuple[str, ...]  # what is held back, or how it fails
    outcome: str
    ref: Ref

    @property
    def passes(self) -> bool:
        return RANKS[self.level] <= RANKS["yellow"]


class Computation(NamedTuple):
    """A case as it is, every other way to compute it, best first, and what to do."""

    replaces: str
    own: Standing
    ways: tuple[Standing, ...]
    best: Standing | None  # it passes, and better than the case as it is

    @property
    def status(self) -> str:
        if self.own.level == "green":
            return "as_is"
        if self.best:
            return "found"
        if not any(way.way for way in self.ways):
            return "none_known"
        return "none_works" if any(way.level != "unknown" for way in self.ways) else "not_tried"


class Version(NamedTuple):
    """A version of the operator of which every tried case passes."""

    since: int
    cases: int
    level: str
    ref: Ref


def stand(
    kind: str,
    evidence: Sequence[Evidence],
    known: Mapping[str, Sequence[str]],
    way_of: Mapping[str, tuple[str, str]],
    times: Mapping[Ref, float],
) -> tuple[Computation, ...]:
    """The computations of one operator on one target.

    `known`: by the name of each case that matters, its ways, if any. `way_of`: by the name of a
    case that is a way, what it replaces and how. `times`: latency by reference, which decides among
    equals.
    """
    usable = [row for row in evidence if row.kind == kind and is_evidence(row)]
    views = _views(kind, usable)
    tried = {way_of[name]: view for name, view in views.items() if name in way_of}
    return tuple(
        _computation(case, kind, usable, [(way, tried.get((case, way))) for way in ways], times)
        for case, ways in known.items()
    )


def passing_versions(
    kind: str, evidence: Sequence[Evidence], failing: frozenset[int]
) -> tuple[Version, ...]:
    """Versions of the operator other than the failing ones of which all tried cases pass."""
    usable = [row for row in evidence if row.kind == kind and is_evidence(row)]
    by_version: dict[int, list[CaseView]] = {}
    for view in _views(kind, usable).values():
        by_version.setdefault(view.best.since_version, []).append(view)
    return tuple(
        Version(since, len(views), max(map(_level, views), key=_rank), views[0].best.ref)
        for since, views in sorted(by_version.items(), reverse=True)
        if since and since not in failing and all(view.passes for view in views)
    )


def recommend(computations: Sequence[Computation]) -> tuple[str, Computation | None]:
    """The status of the operator, and the computation whose best way is to be named first."""
    found = [each for each in computations if each.status == "found"]
    if found:
        return "found", min(found, key=lambda each: _badness(each.best or each.own, {}))
    told = {each.status for each in computations} or {"none_known"}
    return next(status for status in STATUSES if status in told), None


def _computation(
    case: str,
    kind: str,
    usable: Sequence[Evidence],
    ways: Sequence[tuple[str, CaseView | None]],
    times: Mapping[Ref, float],
) -> Computation:
    rows = [row for row in usable if row.case_name == case]
    own = _standing("", _view(kind, [row for row in rows if row.form == AS_IS]))
    forms = [_standing("", _view(kind, [row])) for row in rows if row.form != AS_IS]
    found = [*(_standing(way, view) for way, view in ways), *(each for each in forms)]
    found.sort(key=lambda each: _badness(each, times))
    best = found[0] if found else None
    if best and not (best.passes and _badness(best, {}) < _badness(own, {})):
        best = None
    return Computation(case, own, tuple(found), best)


def _views(kind: str, rows: Sequence[Evidence]) -> dict[str, CaseView]:
    """By case, all its forms considered."""
    alike = [row._replace(core=True) for row in rows]
    return {view.name: view for view in count(kind, alike, None).core}


def _view(kind: str, rows: Sequence[Evidence]) -> CaseView | None:
    return next(iter(_views(kind, rows).values()), None)


def _standing(way: str, view: CaseView | None) -> Standing:
    if view is None:
        return Standing(way, AS_IS, "unknown", (), "", None)
    codes = tuple(sorted(view.codes - HARMLESS))
    best = view.best
    return Standing(way, best.form, _level(view), codes, best.outcome, best.ref)


def _level(view: CaseView) -> str:
    if not view.passes:
        return "red"
    return "yellow" if view.codes - HARMLESS else "green"


def _badness(each: Standing, times: Mapping[Ref, float]) -> tuple[int, int, float, str, str]:
    """Level first, then the worst reservation, then time; names for a fixed order."""
    severity = max((SEVERITY.get(code, 0) for code in each.codes), default=0)
    time = times.get(each.ref, float("inf")) if times else 0.0
    return RANKS[each.level], severity if each.passes else 0, time, each.way, each.form


def _rank(level: str) -> int:
    return RANKS[level]
