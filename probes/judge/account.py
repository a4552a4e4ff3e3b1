"""What can be said of a tally: the facts a rule row asks for and the parameters of a reason."""

from collections.abc import Callable, Iterable
from functools import cache

from probes.judge.reasons import REASONS, Param, Reason, first_line, parameter_names
from probes.judge.separation import Separation, separate
from probes.judge.tally import CaseView, Tally

NAMED = 3  # so many cases are named in a reason

# A mild reservation outside the core is not worth a note.
UNTOLD = frozenset({"only_restamped", "placement_unproven", "placement_unreported"})


class Account:
    """One tally as `facts` (what holds) and `subjects` (the cases that a reason is about)."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.subjects = _subjects(tally)
        self.core_by = self._separation("core", tally.core, ("dtype", "since", "form"))
        self.rest_by = self._separation("rest", tally.core + tally.rest, ("dtype", "since"))
        self.facts = self._facts()

    def reason(self, code: str, subject: str) -> Reason:
        """The reason `code`, its parameters taken from the cases of `subject`."""
        return Reason(code, {name: PARAMS[name](self, subject) for name in _names(code)})

    def deciding(self, subject: str) -> CaseView:
        """The case shown for all of `subject`: the first by name."""
        return self.subjects[subject][0]

    def _separation(
        self, part: str, cases: list[CaseView], facets: Iterable[str]
    ) -> Separation | None:
        failing = self.subjects[f"{part}_failing"]
        if not failing:
            return None
        return separate([case for case in cases if case.passes], failing, facets)

    def _facts(self) -> set[str]:
        subjects, tally = self.subjects, self.tally
        facts = {fact for fact, subject in WHEN_ANY.items() if subjects.get(subject)}
        facts.add(_core_fact(len(subjects["core_passing"]), len(tally.core)))
        facts.add(f"core_by:{self.core_by.facet if self.core_by else 'case'}")
        facts.add(f"rest_by:{self.rest_by.facet if self.rest_by else 'case'}")
        if not subjects["rest_passing"]:
            facts.add("rest_none")
        if tally.promoted and tally.core:
            facts.add("promoted")
        for case in subjects["core_passing"]:
            facts.update(f"reserved:{code}" for code in case.codes)
        ways = {code for case in subjects["core_failing"] for code in case.codes}
        if len(ways) == 1:
            facts.add(f"only:{ways.pop()}")
        return facts


WHEN_ANY: dict[str, str] = {
    "rest_failed": "rest_failing",
    "rest_reserved": "rest_reserved",
    "oracle_one": "oracle_one",
    "silent:wrong_values": "wrong_values",
    "silent:wrong_shape": "wrong_shape",
}


def _core_fact(passed: int, total: int) -> str:
    if total == 0:
        return "core_untried"
    if passed == 0:
        return "core_none"
    return "core_all" if passed == total else "core_some"


def _subjects(tally: Tally) -> dict[str, list[CaseView]]:
    subjects: dict[str, list[CaseView]] = {
        "core": tally.core,
        "rest": tally.rest,
        "core_passing": [case for case in tally.core if case.passes],
        "core_failing": [case for case in tally.core if not case.passes],
        "rest_passing": [case for case in tally.rest if case.passes],
        "rest_failing": [case for case in tally.rest if not case.passes],
    }
    subjects["rest_reserved"] = [c for c in subjects["rest_passing"] if c.codes - UNTOLD]
    every = tally.core + tally.rest
    subjects["oracle_one"] = [case for case in every if case.best.oracles_agree == "one"]
    for case in tally.core:
        for code in case.codes:
            subjects.setdefault(code, []).append(case)
    return subjects


@cache
def _names(code: str) -> tuple[str, ...]:
    return parameter_names(REASONS[code])


def _which(account: Account, subject: str) -> list[str]:
    names = [case.name for case in account.subjects[subject]]
    return names if len(names) <= NAMED else [*names[:NAMED], "…"]


def _outcomes(account: Account, subject: str) -> list[str]:
    return sorted({case.best.outcome for case in account.subjects[subject]})


def _separation(account: Account, subject: str) -> Separation:
    found = account.core_by if subject.startswith("core") else account.rest_by
    return found or Separation("case", [], [])


PARAMS: dict[str, Callable[[Account, str], Param]] = {
    "passed": lambda account, _: len(account.subjects["core_passing"]),
    "total": lambda account, _: len(account.tally.core),
    "rest_passed": lambda account, _: len(account.subjects["rest_passing"]),
    "rest_total": lambda account, _: len(account.tally.rest),
    "count": lambda account, subject: len(account.subjects[subject]),
    "which": _which,
    "outcomes": _outcomes,
    "good": lambda account, subject: _separation(account, subject).good,
    "bad": lambda account, subject: _separation(account, subject).bad,
    "forms": lambda account, subject: _separation(account, subject).good,
    "form": lambda account, subject: account.deciding(subject).best.form,
    "stage": lambda account, subject: account.deciding(subject).best.stage or "",
    "message": lambda account, subject: first_line(account.deciding(subject).best.message),
}
