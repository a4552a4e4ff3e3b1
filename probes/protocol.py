"""What an agent and a server must agree on before they talk."""

from __future__ import annotations

AGENT_SCHEMA = 1
RESULTS_TYPE = "application/x-ndjson"
CASE_TYPE = "application/octet-stream"
WAKE_TASK = "opatlas.wake"
MOST_IN_A_BATCH = 256
# Refusals that pass by themselves, so that an agent tries again; any other one ends it.
PASSING = frozenset({"device_maintenance", "second_agent", "clock_skew"})


def wake_names(device: str) -> tuple[str, str]:
    """The queue that wakes a device's agent, and the prefix of every Redis key it may touch."""
    return f"opatlas-{device}", f"opatlas-wake:{device}:"
