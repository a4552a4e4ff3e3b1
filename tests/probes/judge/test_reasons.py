"""Every code has its words, every word its place: tables that must agree with each other."""

import json

import pytest

from probes.cases.forms import FORMS
from probes.judge import words
from probes.judge.account import PARAMS
from probes.judge.advice import ADVICE_FOR, ADVICE_FROM_AFAR
from probes.judge.reasons import ADVICE, REASONS, Reason, first_line, parameter_names, render
from probes.judge.support import RULE, judge
from probes.judge.tally import FORM_RESERVATIONS, STANDINGS
from probes.judge.verdict import verdict_from_json, verdict_to_json
from probes.run.outcome import OUTCOMES, Outcome, Placement, Stage
from tests.probes.judge.make import claim, core, rest


def test_every_row_of_the_rule_can_be_told():
    for row in RULE:
        assert set(parameter_names(REASONS[row.code])) <= set(PARAMS), row.code


def test_every_rung_and_level_can_be_told():
    rungs = [rung for rung in words.RUNGS if rung != "none"]
    wanted = {f"{rung}_{level}" for rung in rungs for level in ("green", "yellow", "red")}
    assert wanted <= REASONS.keys()


def test_every_deciding_reason_has_an_advice_that_its_parameters_fill():
    decided = {row.code for row in RULE if row.level in ("green", "yellow", "red")}
    claims = {code for code in REASONS if code.startswith("claim_") and code != "claim_unit"}
    assert decided | claims == set(ADVICE_FOR)
    assert set(ADVICE_FROM_AFAR) <= set(ADVICE_FOR)
    for code, advice in ADVICE_FOR.items():
        wanted = parameter_names(ADVICE[advice]) if advice else ()
        assert set(wanted) <= set(parameter_names(REASONS[code])), code


def test_the_judge_reads_outcomes_as_the_engine_defines_them():
    assert {outcome.value for outcome, row in OUTCOMES.items() if row.is_evidence} == set(STANDINGS)
    for outcome, standing in STANDINGS.items():
        support = OUTCOMES[Outcome(outcome)].support
        assert (support != "no", support == "reserved") == (
            standing.passes,
            standing.passes and bool(standing.code),
        )


def test_every_failing_outcome_and_stage_has_a_word():
    assert {name for name, standing in STANDINGS.items() if not standing.passes} == set(
        words.OUTCOMES
    )
    assert {stage.value for stage in Stage} | {""} == set(words.STAGES)


def test_every_form_of_a_case_has_a_word_and_a_reservation():
    assert set(FORMS) == set(words.FORMS) == set(FORM_RESERVATIONS)


@pytest.mark.parametrize("placement", [each.value for each in Placement] + ["", "npu and cpu"])
@pytest.mark.parametrize("kind", ["measured", "simulated"])
def test_simulated_is_green_only_on_the_accelerator(kind, placement):
    level = judge([core("a", kind=kind, placement=placement)], []).level
    lowered = placement in ("fallback", "mixed")
    if kind == "simulated":
        lowered = placement != "accelerator"
    assert (level == "yellow") is lowered


def test_a_sentence_is_translated_with_its_words():
    dutch = {"refused at %(stage)s: %(message)s": "geweigerd bij %(stage)s: %(message)s"}
    dutch |= {"conversion": "conversie"}
    reason = Reason("refused", {"stage": "convert", "message": "50% of X"})
    assert render(reason, lambda text: dutch.get(text, text)) == (
        "geweigerd bij conversie: 50% of X"
    )


def test_a_code_from_a_newer_version_is_still_shown():
    assert render(Reason("melted", {"at": 90})) == "melted at=90"


def test_a_message_is_cut_to_its_first_line_and_made_printable():
    assert first_line("\n \x1b[31m error\x00: bad\x07\nsecond") == "[31m error: bad"
    assert len(first_line("x" * 5000)) == 160


def test_a_verdict_survives_json():
    evidence = [core("a", "rejected"), core("a", kind="simulated"), rest("b", oracles_agree="one")]
    verdict = judge(evidence, [claim("partial", unit="DLA")])
    assert verdict.contradiction
    assert verdict.notes
    document = json.loads(json.dumps(verdict_to_json(verdict)))
    assert verdict_from_json(document) == verdict
    with pytest.raises(ValueError, match="schema 1"):
        verdict_from_json(document | {"schema": 9})
