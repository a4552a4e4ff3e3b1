"""Pass rates over the nodes of real models: floored, weighted, and honest about what is unseen."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from probes.judge.rates import Node, Rate, floor_percent, rate_nodes
from probes.judge.tally import STANDINGS


@pytest.mark.parametrize(
    ("part", "whole", "percent"),
    [(0, 0, 0), (0, 7, 0), (999, 1000, 99), (1000, 1000, 100), (1, 1000, 0), (2, 3, 66)],
)
def test_percentages_are_cut_off(part, whole, percent):
    assert floor_percent(part, whole) == percent


def test_a_node_counts_once_and_as_often_as_it_occurs():
    nodes = [Node(("passed",), 90), Node(("mismatch", "close"), 5), Node(("rejected",), 5)]
    rate = rate_nodes(nodes)
    assert rate == Rate(passed=2, total=3, passing=95, occurrences=100, unseen=0)
    assert (rate.percent, rate.weighted_percent) == (66, 95)


def test_what_was_only_accepted_does_not_pass():
    assert rate_nodes([Node(("compiled",), 3), Node(("passed",), 1)]) == Rate(1, 2, 1, 4, 1)


def test_our_own_failures_are_in_no_total():
    assert rate_nodes([Node(("harness_error",), 3), Node(("unavailable",), 1)]) is None
    assert rate_nodes([Node(("harness_error", "passed"), 3)]) == Rate(1, 1, 3, 3, 0)


WORDS = some.sampled_from([*STANDINGS, "harness_error"])
NODES = some.builds(Node, some.lists(WORDS, min_size=1).map(tuple), some.integers(1, 10**6))


@given(some.lists(NODES))
def test_all_is_said_of_all_only(nodes):
    rate = rate_nodes(nodes)
    if rate is not None:
        assert (rate.weighted_percent == 100) == (rate.passing == rate.occurrences)
        assert (rate.percent == 100) == (rate.passed == rate.total)
        assert rate.passed + rate.unseen <= rate.total
