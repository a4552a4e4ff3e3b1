"""What a search found of an operator on a target: how large and how small it may be."""

from django.db import models

from compat.models.catalogue import Operator, Target
from compat.models.evidence import Environment


class Limit(models.Model):
    """One operator on one target: its parameters with both edges, data types and operands, as
    probes.run.limits describes them."""

    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="limits")
    operator = models.ForeignKey(Operator, on_delete=models.CASCADE, related_name="limits")
    since_version = models.IntegerField()
    parameters = models.JSONField(default=list)
    dtypes = models.JSONField(default=list)
    operands = models.JSONField(default=dict)
    unanswered = models.JSONField(default=dict)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT)
    found_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["target", "operator"], name="limit_once")]

    def __str__(self) -> str:
        return f"limits of {self.operator_id} on {self.target_id}"
