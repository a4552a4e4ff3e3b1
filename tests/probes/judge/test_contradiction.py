"""Which way a list and the probes disagree, which case shows it, and over which versions."""

import pytest

from probes.judge.contradiction import (
    DIRECTIONS,
    HARD,
    UNPROVEN,
    contradiction,
    relation,
    spans,
)
from probes.judge.support import RULE, judge
from probes.judge.tally import RESERVATIONS, count
from tests.probes.judge.make import claim, core, rest

FAIL, NODE = core("f", "rejected"), rest("n", "rejected")


def found(level, *rows, covers=lambda case: True, kind="measured"):
    verdict = judge(rows, [claim(level)])
    return contradiction(level, verdict.level, count(kind, rows, None), covers)


DISAGREEMENTS = [
    ("full", [FAIL], "listed_fails"),
    ("full", [core("a"), core("b", "mismatch")], "listed_fails"),
    ("full", [NODE], "listed_fails"),
    ("full", [core("a"), FAIL], "listed_limits"),
    ("partial", [FAIL], "limits_fails"),
    ("none", [core()], "unlisted_works"),
    ("none", [core("a"), FAIL], "unlisted_works"),
    ("none", [core(form="constant")], "unlisted_works"),
    ("none", [core(placement="fallback")], "unlisted_reserved"),
    ("none", [core(placement="mixed")], "unlisted_reserved"),
    ("none", [core("a", "compiled")], "unlisted_reserved"),
    ("none", [core("a", placement="fallback"), core("b")], "unlisted_works"),
]
AGREEMENTS = [
    ("full", [core()]),
    ("full", [core(), NODE]),  # only a case beyond the core fails
    ("full", [core(placement="fallback")]),
    ("partial", [core()]),
    ("partial", [core("a"), FAIL]),
    ("none", [FAIL]),
]


@pytest.mark.parametrize(("level", "rows", "direction"), DISAGREEMENTS)
def test_a_disagreement_has_a_direction(level, rows, direction):
    assert found(level, *rows).direction == direction


@pytest.mark.parametrize(("level", "rows"), AGREEMENTS)
def test_agreement_is_no_contradiction(level, rows):
    assert found(level, *rows) is None


def test_every_direction_is_tested_and_the_hard_ones_come_first():
    tested = {direction for _, _, direction in DISAGREEMENTS} | {"outside"}
    assert tested == set(DIRECTIONS)
    assert tuple(DIRECTIONS)[:2] == HARD


def test_in_the_simulator_an_unknown_unit_proves_nothing_against_a_list():
    row = core(kind="simulated", placement="unknown")
    assert found("none", row, kind="simulated").direction == "unlisted_reserved"
    proven = core(kind="simulated", placement="accelerator")
    assert found("none", proven, kind="simulated").direction == "unlisted_works"


def test_the_case_shown_is_the_one_that_decides_the_verdict():
    rows = [core("a", "rejected"), core("b", "wrong_shape"), core("c", "mismatch"), core("d")]
    shown = found("full", *rows).case
    assert shown.name == judge(rows, []).evidence_ref == "mainstream/Op/c"


def test_of_cases_that_pass_the_least_reserved_is_shown_and_the_core_before_the_rest():
    rows = [core("a", form="constant"), core("b", "rejected"), rest("n"), core("z")]
    assert found("none", *rows).case.name == "mainstream/Op/z"
    assert found("none", *rows[:3]).case.name == "node/test_n"


def test_a_case_that_the_list_covers_is_shown_before_one_that_it_does_not():
    rows = [core("a", "rejected"), core("b", "rejected")]
    shown = found("full", *rows, covers=lambda case: case.name.endswith("b"))
    assert (shown.direction, shown.case.name) == ("listed_fails", "mainstream/Op/b")


@pytest.mark.parametrize(
    ("level", "rows", "direction"),
    [
        ("full", [FAIL], "outside"),
        ("partial", [FAIL], "outside"),
        ("none", [core()], "outside"),
        ("full", [core("a"), FAIL], None),  # what the list says still holds inside its bounds
    ],
)
def test_what_lies_outside_of_the_list_is_not_held_against_it(level, rows, direction):
    seen = found(level, *rows, covers=lambda case: False)
    assert (seen and seen.direction) == direction


@pytest.mark.parametrize("level", ["full", "partial", "none"])
@pytest.mark.parametrize("rows", [rows for _, rows, _ in DISAGREEMENTS] + [[core()], [NODE]])
def test_whatever_the_matrix_marks_has_a_direction(level, rows):
    marked = judge(rows, [claim(level)]).contradiction
    assert found(level, *rows) is not None or not marked


def test_a_reservation_that_proves_nothing_is_one_of_the_table():
    assert set(RESERVATIONS) >= UNPROVEN
    assert {row.code for row in RULE} >= UNPROVEN


@pytest.mark.parametrize(
    ("case", "bounds", "expected"),
    [
        ((13, 17), (None, None), True),
        ((13, 17), (None, 19), True),
        ((20, 20), (None, 19), False),
        ((13, 20), (None, 19), True),  # the same operator version, stamped older
        ((13, 17), (18, None), False),
        ((7, 17), (9, 24), True),
    ],
)
def test_a_list_speaks_of_a_case_when_their_opsets_meet(case, bounds, expected):
    assert spans(*case, *bounds) is expected


@pytest.mark.parametrize(
    ("listed", "probed", "expected"),
    [
        ("2.3.2", "2.3.2", "same"),
        ("2.3", "2.3.2", "same"),
        ("2.3.2", "2.3", "list_newer"),
        ("2.3.2", "2.5.0", "list_older"),
        ("2.0.0", "2.7.0", "list_older"),
        ("2.10", "2.9", "list_newer"),
        ("1.24-dev", "1.32.0", "list_older"),
        ("2024", "2026.4.1", "list_older"),
        ("10.15", "10.15.1.29", "same"),
        ("2.5.0", "2.5.0+rk1", "same"),
        ("master (2025.4 or newer)", "2026.4.1", "unknown"),
        ("main of 2026-08-20", "3.13.0", "unknown"),
        ("80-63442-2 Rev BL", "2.5.0", "unknown"),
        ("documentation page", "2.5.0", "unknown"),
        ("", "2.5.0", "unknown"),
        ("2.3.2", "nightly", "unknown"),
    ],
)
def test_how_the_versions_stand(listed, probed, expected):
    assert relation(listed, probed) == expected
