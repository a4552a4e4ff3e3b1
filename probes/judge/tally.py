"""Evidence of one kind, counted: the best form of each case, its reservations, core and rest."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from probes.cases import origins
from probes.judge.verdict import Evidence


class Standing(NamedTuple):
    """What an outcome says of support; `code` is the reservation or the kind of wrongness."""

    passes: bool
    code: str = ""
    silent: bool = False


# An outcome without a row (unavailable, harness_error, lost_agent) is not evidence.
STANDINGS: dict[str, Standing] = {
    "passed": Standing(True),
    "close": Standing(True, "close"),
    "wrong_dtype": Standing(True, "wrong_dtype"),
    "unstable": Standing(True, "unstable"),
    "compiled": Standing(True, "unseen"),
    "mismatch": Standing(False, "wrong_values", silent=True),
    "wrong_shape": Standing(False, "wrong_shape", silent=True),
    "rejected": Standing(False, "refused"),
    "run_error": Standing(False, "run_error"),
    "crashed": Standing(False, "crashed"),
    "timed_out": Standing(False, "timed_out"),
    "out_of_memory": Standing(False, "out_of_memory"),
}

# Where a passing probe ran: what that holds back. Any other word counts as not known.
PLACEMENTS: dict[str, str] = {"accelerator": "", "fallback": "fallback", "mixed": "mixed"}
PLACEMENT_NOT_KNOWN: dict[str, str] = {
    "measured": "placement_unreported",
    "simulated": "placement_unproven",
}

FORM_RESERVATIONS: dict[str, str] = {
    "as_is": "",
    "constant": "only_constant",
    "restamped": "only_restamped",
    "static": "only_form",
    "defaults": "only_form",
    "cast": "only_form",
}

# Worst first. The best form of a case is the one whose worst reservation is the mildest.
RESERVATIONS: tuple[str, ...] = (
    "unseen",
    "fallback",
    "mixed",
    "wrong_dtype",
    "unstable",
    "wrong_in_form",
    "only_constant",
    "only_form",
    "only_restamped",
    "close",
    "placement_unproven",
    "placement_unreported",
)
SEVERITY = {code: len(RESERVATIONS) - i for i, code in enumerate(RESERVATIONS)}


# How names of nodes that were cut from a model, and of variants from a schema, begin.
CUT, VARIANT = f"{origins.HARVEST}/", f"{origins.VARIANT}/"


class CaseView(NamedTuple):
    """One case on one target, all its forms considered."""

    name: str
    best: Evidence
    passes: bool
    codes: frozenset[str]  # reservations of a passing case, the way of failing of another
    silent: bool
    forms: frozenset[str]


class Tally(NamedTuple):
    kind: str
    core: list[CaseView]
    rest: list[CaseView]
    promoted: bool  # no mainstream case: node tests stand in for the core


def is_evidence(row: Evidence) -> bool:
    """Not our own failures, nor another answer than one that the oracles dispute, nor the refusal
    of a graph that is all constants: in a model such nodes are folded away."""
    standing = STANDINGS.get(row.outcome)
    if standing is None or row.oracles_agree == "none":
        return False
    if row.folds and standing.code == "refused":
        return False
    return not (standing.silent and row.oracles_agree == "disputed")


def count(kind: str, rows: Iterable[Evidence], declared_dtypes: frozenset[str] | None) -> Tally:
    """Counts attributable rows of one kind, by case; promotes node tests where no core is."""
    by_case: dict[tuple[bool, str], list[Evidence]] = {}
    for row in rows:
        by_case.setdefault((row.core, row.case_name), []).append(row)
    core: list[CaseView] = []
    rest: list[CaseView] = []
    for key in sorted(by_case):
        (core if key[0] else rest).append(_view(by_case[key]))
    if core or not rest:
        return Tally(kind, core, rest, False)
    core, rest = _promote(rest, declared_dtypes)
    return Tally(kind, _forgive_stamps(core), rest, True)


def largest_error(cases: Sequence[CaseView]) -> float | None:
    """The largest finite absolute error; None where nothing was compared."""
    errors = [case.best.max_abs for case in cases if case.best.max_abs is not None]
    return max((error for error in errors if math.isfinite(error)), default=None)


def _promote(
    rest: list[CaseView], declared: frozenset[str] | None
) -> tuple[list[CaseView], list[CaseView]]:
    """The node tests that stand in for a core, and the others: nodes cut from models among them,
    unless there is nothing else, and variants always.

    A case without data types holds no node of its operator (its body in other operators), so it
    stands in only where no case is better.
    """
    ranked = [case for case in rest if not case.name.startswith(VARIANT)]
    tests = [case for case in ranked if not case.name.startswith(CUT)] or ranked
    names = {case.name for case in tests}
    others = [case for case in rest if case.name not in names]
    typed = any(case.best.dtypes for case in tests)
    core: list[CaseView] = []
    for case in tests:
        dtypes = case.best.dtypes
        stands_in = not typed or (
            bool(dtypes) and (declared or frozenset(dtypes)).issuperset(dtypes)
        )
        (core if stands_in else others).append(case)
    return core, others


def _forgive_stamps(core: list[CaseView]) -> list[CaseView]:
    """A node test stamped newer than the runtime knows says nothing where others pass as is."""
    if not any(case.passes and "only_restamped" not in case.codes for case in core):
        return core
    return [case._replace(codes=case.codes - {"only_restamped"}) for case in core]


def _view(rows: list[Evidence]) -> CaseView:
    if len(rows) == 1:
        best = rows[0]
    else:
        best = min(rows, key=_preference)
    standing = STANDINGS[best.outcome]
    codes = _codes(best)
    silent_elsewhere = (
        standing.passes and len(rows) > 1 and any(STANDINGS[row.outcome].silent for row in rows)
    )
    if silent_elsewhere:
        codes |= {"wrong_in_form"}
    forms = frozenset(row.form for row in rows)
    return CaseView(best.case_name, best, standing.passes, codes, standing.silent, forms)


_NO_CODES: frozenset[str] = frozenset()


def _codes(row: Evidence) -> frozenset[str]:
    standing = STANDINGS[row.outcome]
    if not standing.passes:
        return frozenset((standing.code,))
    placement = PLACEMENTS.get(row.placement)
    if placement is None:
        placement = PLACEMENT_NOT_KNOWN[row.kind]
    form = _form_reservation(row.form)
    if not (standing.code or placement or form):
        return _NO_CODES
    return frozenset((standing.code, placement, form)) - {""}


def _form_reservation(form: str) -> str:
    """Of joined forms the one that all share; restamping is the mildest and does not count."""
    parts = [part for part in form.split("+") if part != "restamped"] or ["restamped"]
    found = {FORM_RESERVATIONS.get(part, "only_form") for part in parts}
    return found.pop() if len(found) == 1 else "only_form"


def _preference(row: Evidence) -> tuple[bool, int, bool, str, str, str, str]:
    """Passing before failing, mild before severe; a silent wrong before an honest refusal."""
    standing = STANDINGS[row.outcome]
    severity = max((SEVERITY.get(code, 0) for code in _codes(row)), default=0)
    return (
        not standing.passes,
        severity if standing.passes else 0,
        not standing.silent,
        row.form if row.form != "as_is" else "",
        row.outcome,
        str(row.ref),
        repr(row.max_abs),
    )
