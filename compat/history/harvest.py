"""How many nodes of real models pass in a column, each weighted by how often it occurs."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Q

from compat.history.parts import latest_probes
from compat.models import Column, Occurrence
from probes.cases import origins
from probes.judge.rates import Node, Rate, rate_nodes


@dataclass(frozen=True)
class HarvestView:
    """`models` real models were cut; the rate is that of the newest version that has results."""

    models: int
    runtime_version: str
    rate: Rate


def load_harvest_rate(column: Column) -> HarvestView | None:
    """One query where no node of a real model was probed, else two."""
    probes = latest_probes(
        # Without a signature: a pattern, whose nodes are counted by themselves.
        Q(target__column=column, case__origin=origins.HARVEST) & ~Q(case__signature_key="")
    ).order_by("-target__version_key")
    outcomes: dict[str, list[str]] = {}
    newest: tuple[int, str] | None = None
    fields = ("target_id", "target__runtime_version", "case_id", "outcome")
    for target, version, case, outcome in probes.values_list(*fields):
        newest = newest or (target, version)
        if target == newest[0]:
            outcomes.setdefault(case, []).append(outcome)
    if newest is None:
        return None
    counts: Counter[str] = Counter()
    models = set()
    nodes = Occurrence.objects.filter(case__retired=False).exclude(case__signature_key="")
    rows = nodes.values_list("case_id", "model", "count")
    for case, model, count in rows:
        counts[case] += count
        models.add(model)
    # What was cut for its own sake occurs nowhere and has no weight.
    rate = rate_nodes(
        Node(tuple(found), counts[case]) for case, found in outcomes.items() if case in counts
    )
    return HarvestView(len(models), newest[1], rate) if rate else None
