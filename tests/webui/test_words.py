import pytest

from compat.models import Probe, Sweep
from probes.judge.words import KINDS, LEVELS
from probes.run.outcome import OUTCOMES, Fault, Outcome, Placement
from webui import words
from webui.table import breakable, milliseconds
from webui.templatetags.marks import duration, plain, tiny


@pytest.mark.parametrize(("table", "codes"), [
    (words.OUTCOMES, {each.value for each in Outcome}),
    (words.FAULTS, {each.value for each in Fault}),
    (words.PLACEMENTS, {each.value for each in Placement}),
    (words.SHORT_LEVELS, set(LEVELS)),
    (words.ADVICE, set(LEVELS)),
    (words.SHORT_KINDS, set(KINDS)),
    (words.STATES, {*Sweep.State.values, *Probe.State.values}),
    (words.SUPPORT_COLOURS, {row.support for row in OUTCOMES.values()}),
])  # fmt: skip
def test_every_code_has_a_word(table, codes):
    assert codes <= set(table)


def test_an_unknown_code_is_shown_as_it_is():
    assert words.word("outcome", "from_the_future") == "from the future"
    assert words.sentence("from_the_future", {"a": 1}) == "from_the_future a=1"


def test_numbers_are_short():
    assert [milliseconds(value) for value in (0.01234, 1.2345, 12345.6)] == [
        "12.3 µs",
        "1.23 ms",
        "12.3 s",
    ]
    assert [tiny(value) for value in (None, 0.0, 1.25e-7)] == ["–", "0", "1.2e-07"]
    assert [duration(value) for value in (40, 600, 7200)] == ["40 s", "10 min", "2.0 h"]


def test_facts_are_told_on_one_line():
    assert plain({"threads": 1, "cores": [1, 2]}) == "threads: 1, cores: 1, 2"


def test_names_may_break_inside():
    assert breakable("InstanceNormalization") == "Instance<wbr>Normalization"
    assert breakable("<b>/x") == "&lt;b&gt;/<wbr>x"
