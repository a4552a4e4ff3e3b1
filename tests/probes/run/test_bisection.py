"""The search over values: neighbours found in few steps, and told when there is more than one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.run.bisection import edge_of, next_value

FEW = 18  # probes for thousands of values; most parameters have fewer


def search(values, works):
    tried = {}
    while (value := next_value(values, tried)) is not None:
        assert value not in tried
        tried[value] = works(value)
    return edge_of(values, tried), tried


@given(st.integers(1, 4096), st.integers(1, 16), st.integers(0, 5000))
def test_one_step_is_found_with_its_neighbour(length, usual, limit):
    values = range(usual, usual + length)
    edge, tried = search(values, lambda value: value <= limit)
    assert len(tried) <= FEW
    assert edge.again == ()
    if limit < usual:
        assert edge == (None, usual, ())
    elif limit >= values[-1]:
        assert edge == (values[-1], None, ())
    else:
        assert edge == (limit, limit + 1, ())


@given(st.integers(1, 200), st.integers(0, 250))
def test_downwards_it_is_the_same(usual, limit):
    edge, _ = search(range(usual, 0, -1), lambda value: value >= limit)
    assert edge.worked == (max(limit, 1) if limit <= usual else None)
    assert edge.failed == (limit - 1 if 1 < limit <= usual else usual if limit > usual else None)


@given(st.sets(st.integers(1, 300)), st.integers(1, 300))
def test_whatever_works_what_is_told_was_tried(working, last):
    edge, tried = search(range(1, last + 1), lambda value: value in working)
    assert edge.worked is None or tried[edge.worked] is True
    assert edge.failed is None or tried[edge.failed] is False
    if edge.worked and edge.failed:
        assert edge.failed == edge.worked + 1
    assert all(value in working and value > edge.failed for value in edge.again)


@pytest.mark.parametrize(
    ("works", "told"),
    [
        (lambda value: value != 4, (3, 4, (9, 64))),  # one of those tried between the ends
        (lambda value: value <= 3 or value == 64, (3, 4, (64,))),
        (lambda value: value % 2 == 1, (1, 2, ())),
    ],
)
def test_a_second_step_is_told(works, told):
    edge, _ = search(range(1, 65), works)
    assert (edge.worked, edge.failed) == told[:2]
    assert set(told[2]) <= set(edge.again)


def test_small_values_are_tried_before_large_ones():
    _, tried = search(range(1, 10001), lambda value: value <= 7)
    assert sorted(tried)[-3:] == [101, 1001, 10000]
