"""The latency protocol: enough samples, never more time than its cap allows."""

import os
import time

import pytest

from probes.run.latency import Protocol, measure, percentile


def test_every_sample_is_kept_with_its_conditions():
    found = measure(lambda: None, threads=1, protocol=Protocol(samples=20))
    assert found.count == len(found.samples_ms) == 20
    assert found.min_ms <= found.p50_ms <= found.p95_ms <= max(found.samples_ms)
    assert found.warmup >= 1
    assert found.conditions["threads"] == 1
    assert len(found.conditions["pinned_cores"]) == 1


def test_a_slow_model_ends_at_the_cap_but_has_a_few_samples():
    slow = Protocol(warmup_seconds=0.0, samples=1000, fewest=3, seconds=0.01)
    found = measure(lambda: time.sleep(0.02), threads=2, protocol=slow)
    assert found.count == 3
    assert found.warmup == 1
    assert found.p50_ms >= 20


def test_the_cores_are_given_back():
    before = os.sched_getaffinity(0)
    with pytest.raises(ZeroDivisionError):
        measure(lambda: 1 / 0, threads=1)
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize(("percent", "value"), [(50, 2), (95, 4), (1, 1), (100, 4)])
def test_a_percentile_is_a_value_that_was_measured(percent, value):
    assert percentile([1, 2, 3, 4], percent) == value
