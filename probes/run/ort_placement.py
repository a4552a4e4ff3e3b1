"""Where ONNX Runtime put the nodes: from its assignment information, or, before it had that, from
its verbose log."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from probes.run.outcome import Placement

ALL = re.compile(r" All nodes placed on \[(\w+)\]. Number of nodes: (\d+)")
SOME = re.compile(r" Node\(s\) placed on \[(\w+)\]. Number of nodes: \d+")
NODE = re.compile(r"VerifyEachNodeIsAssignedToAnEp\]   (\w+) \(")
CPU = "CPUExecutionProvider"
ANY = "all nodes"  # an older log that counts them and names none

Assigned = list[tuple[str, str]]


def from_log(log: str) -> Assigned:
    """Pairs (provider, operator); providers that compile a part of the graph name it as they do."""
    found: Assigned = []
    provider = ""
    for line in log.splitlines():
        if everything := ALL.search(line):
            return [(everything[1], ANY)] * int(everything[2])
        if some := SOME.search(line):
            provider = some[1]
        elif provider and (node := NODE.search(line)):
            found.append((provider, node[1]))
    return found


def placement(assigned: Iterable[tuple[str, str]], wanted: str) -> tuple[Placement, str]:
    """The placement for the provider `wanted`, and "Conv:CUDA Mod:CPU" beside it."""
    counts = Counter(
        (operator, provider.removesuffix("ExecutionProvider")) for provider, operator in assigned
    )
    detail = " ".join(f"{operator}:{unit}" for operator, unit in counts)
    units = {unit for _, unit in counts}
    if not units:
        return Placement.UNKNOWN, "folded into a constant, no node is left"
    if units == {wanted.removesuffix("ExecutionProvider")}:
        return Placement.ACCELERATOR, detail
    mixed = wanted.removesuffix("ExecutionProvider") in units
    return Placement.MIXED if mixed else Placement.FALLBACK, detail
