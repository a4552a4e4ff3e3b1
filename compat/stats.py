"""Counts of what is known: operators, and cells by kind of evidence for each column."""

from typing import Any

from django.db.models import Count, Q

from compat.models import Column, Operator

KINDS = ("measured", "simulated", "documented")


def load_stats() -> dict[str, Any]:
    """`{"operators": n, "targets": [{"id", "device_class", and cells by kind}]}`, two queries."""
    counts = {kind: Count("cells", filter=Q(cells__kind=kind)) for kind in KINDS}
    columns = Column.objects.select_related("device").annotate(**counts)
    return {
        "operators": Operator.objects.count(),
        "targets": [
            {
                "id": column.slug,
                "device_class": column.device.device_class,
                **{kind: getattr(column, kind) for kind in KINDS},
            }
            for column in columns
        ],
    }
