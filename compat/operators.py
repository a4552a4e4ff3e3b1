"""Operators by their names."""

from collections.abc import Iterable

from django.db.models import Q, QuerySet

from compat.models import Case, Operator

OperatorName = tuple[str, str]  # domain, name
GRAPH_KINDS = ("pattern", "module")  # rows that are a graph of several nodes


def named_operators(names: Iterable[OperatorName]) -> QuerySet[Operator]:
    """The operators of the catalogue that have one of these names: what a node of a model can be,
    so neither a pattern nor a module."""
    by_domain: dict[str, list[str]] = {}
    for domain, name in names:
        by_domain.setdefault(domain, []).append(name)
    wanted = Q(pk__in=[])
    for domain, domain_names in by_domain.items():
        wanted |= Q(domain=domain, name__in=domain_names)
    return Operator.objects.filter(wanted).exclude(kind__in=GRAPH_KINDS)


def with_core() -> frozenset[OperatorName]:
    """One query: operators with a form from a model; of the others node tests decide."""
    found = Case.objects.filter(core=True, retired=False).order_by()
    return frozenset(found.values_list("operator__domain", "operator__name").distinct())
