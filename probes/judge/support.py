"""From evidence to a level: a table of rows, first match decides, and the small reader of it."""

from collections.abc import Sequence
from typing import NamedTuple

from probes.judge.account import Account
from probes.judge.claims import choose_claim, claim_verdict
from probes.judge.reasons import Reason
from probes.judge.tally import RESERVATIONS, count, is_evidence, largest_error
from probes.judge.verdict import Claim, Evidence, Side, Verdict, disagree

__all__ = ["RULE", "Claim", "Evidence", "Verdict", "judge"]

KINDS = ("measured", "simulated")  # the first decides over the second, both over claims


class Row(NamedTuple):
    """When all of `needs` hold: the level ("" is a note only), the code, the cases meant."""

    needs: frozenset[str]
    level: str
    code: str
    subject: str
    note: bool = False  # also told beside a decision that came earlier


def _row(needs: str, level: str, code: str, subject: str, note: bool = False) -> Row:
    return Row(frozenset(needs.split()), level, code, subject, note)


# The first row with a level decides; rows marked as notes are told beside it.
RULE: tuple[Row, ...] = (
    _row("core_untried rest_none", "unknown", "undeclared_only", "rest"),
    _row("core_untried", "yellow", "rest_only", "rest_passing"),
    _row("silent:wrong_values", "red", "wrong_values", "wrong_values"),
    _row("silent:wrong_shape", "red", "wrong_shape", "wrong_shape"),
    _row("core_none only:refused", "red", "refused", "core_failing"),
    _row("core_none only:run_error", "red", "run_error", "core_failing"),
    _row("core_none only:crashed", "red", "crashed", "core_failing"),
    _row("core_none only:timed_out", "red", "timed_out", "core_failing"),
    _row("core_none only:out_of_memory", "red", "out_of_memory", "core_failing"),
    _row("core_none", "red", "core_none", "core_failing"),
    _row("core_some core_by:dtype", "yellow", "core_some_dtype", "core_failing"),
    _row("core_some core_by:since", "yellow", "core_some_since", "core_failing"),
    _row("core_some core_by:form", "yellow", "core_some_form", "core_failing"),
    _row("core_some", "yellow", "core_some", "core_failing"),
    *(
        _row(f"reserved:{code}", "yellow", code, code, note=True)
        for code in RESERVATIONS
        if code != "placement_unreported"
    ),
    _row("rest_failed rest_by:dtype", "yellow", "rest_failed_dtype", "rest_failing", note=True),
    _row("rest_failed rest_by:since", "yellow", "rest_failed_since", "rest_failing", note=True),
    _row("rest_failed rest_by:case", "yellow", "rest_failed", "rest_failing", note=True),
    _row("core_all", "green", "core_pass", "core"),
    _row("reserved:placement_unreported", "", "placement_unreported", "core", note=True),
    _row("rest_reserved", "", "rest_reserved", "rest_reserved", note=True),
    _row("oracle_one", "", "oracle_one", "oracle_one", note=True),
    _row("promoted", "", "promoted", "core", note=True),
)


def judge(
    evidence: Sequence[Evidence],
    claims: Sequence[Claim],
    declared_dtypes: frozenset[str] | None = None,
) -> Verdict:
    """The verdict on one operator on one target.

    Measured decides over simulated over documented; what the others say is kept in `sides`.
    `declared_dtypes` (None: any) matters only where no mainstream case exists: it says which
    node tests stand in for the core.
    """
    usable = [row for row in evidence if is_evidence(row)]
    found = [_judge_kind(kind, usable, declared_dtypes) for kind in KINDS]
    claim = choose_claim(claims)
    found.append(claim_verdict(claim) if claim else None)
    verdicts = [verdict for verdict in found if verdict is not None]
    if not verdicts:
        return _nothing(len(evidence))
    decides = next((each for each in verdicts if each.level != "unknown"), verdicts[0])
    if len(verdicts) == 1:
        return decides
    return _with_sides(decides, [each for each in verdicts if each is not decides])


def _nothing(attempts: int) -> Verdict:
    if attempts:
        return Verdict("unknown", "none", Reason("not_attributable", {"count": attempts}))
    return Verdict("unknown", "none", Reason("not_tried", {}))


def _with_sides(verdict: Verdict, others: list[Verdict]) -> Verdict:
    return verdict._replace(
        contradiction=any(disagree(verdict.level, other.level) for other in others),
        claim_level=max([verdict, *others], key=lambda each: bool(each.claim_level)).claim_level,
        sides=tuple(Side(o.level, o.kind, o.reason, o.evidence_ref) for o in others),
    )


def _judge_kind(
    kind: str, usable: list[Evidence], declared_dtypes: frozenset[str] | None
) -> Verdict | None:
    rows = [row for row in usable if row.kind == kind]
    if not rows:
        return None
    told = Account(count(kind, rows, declared_dtypes))
    matching = [row for row in RULE if row.needs <= told.facts]
    decides = next(row for row in matching if row.level)
    noted = [row for row in matching if row.note and row is not decides]
    return Verdict(
        decides.level,
        kind,
        told.reason(decides.code, decides.subject),
        core_passed=len(told.subjects["core_passing"]),
        core_total=len(told.tally.core),
        rest_passed=len(told.subjects["rest_passing"]),
        rest_total=len(told.tally.rest),
        max_abs=largest_error(told.tally.core),
        evidence_ref=told.deciding(decides.subject).best.ref,
        notes=tuple(told.reason(row.code, row.subject) for row in noted),
    )
