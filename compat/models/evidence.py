"""What was found: sweeps, probes (the rows are the queue), their logs, and the judged cells."""

from django.db import models

from compat.models.catalogue import Case, Column, Operator, Target


class Environment(models.Model):
    """The facts of the machine and software that a run had, stored once by digest."""

    digest = models.CharField(max_length=32, primary_key=True)
    facts = models.JSONField()

    def __str__(self) -> str:
        return self.digest


class Sweep(models.Model):
    """A request to probe a target; progress is counted from its rows."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        STOPPED = "stopped"
        DONE = "done"

    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="sweeps")
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    origin = models.CharField(max_length=16, default="local")  # local, recorded, agent
    key = models.CharField(max_length=64, null=True, blank=True, unique=True)  # of a loaded file
    operators = models.JSONField(default=list)  # what it was narrowed to; empty: everything
    total = models.IntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"sweep {self.pk} of {self.target_id}"


class Probe(models.Model):
    """One case in one form on one target, once. Queued rows are the work that waits."""

    class State(models.TextChoices):
        QUEUED = "queued"
        CLAIMED = "claimed"
        DONE = "done"

    # No index of their own for the foreign keys: the constraints and partial indexes below serve
    # every read, and each index costs on every recorded row.
    sweep = models.ForeignKey(
        Sweep, on_delete=models.CASCADE, related_name="probes", db_index=False
    )
    target = models.ForeignKey(
        Target, on_delete=models.CASCADE, related_name="probes", db_index=False
    )
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="probes", db_index=False)
    operator = models.ForeignKey(
        Operator, on_delete=models.PROTECT, related_name="probes", db_index=False
    )
    form = models.CharField(max_length=48)

    state = models.CharField(max_length=8, choices=State, default=State.QUEUED)
    claim = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField(null=True)
    offers = models.SmallIntegerField(default=0)
    latest = models.BooleanField(default=False)  # the newest result of this case, form and target

    outcome = models.CharField(max_length=16, blank=True)
    stage = models.CharField(max_length=8, blank=True)
    kind = models.CharField(max_length=10, blank=True)  # measured, simulated
    placement = models.CharField(max_length=12, blank=True)
    message = models.TextField(blank=True)
    max_abs = models.FloatField(null=True)
    max_rel = models.FloatField(null=True)
    max_ulp = models.FloatField(null=True)
    cosine = models.FloatField(null=True)
    bit_exact = models.BooleanField(null=True)
    p50_ms = models.FloatField(null=True)
    p95_ms = models.FloatField(null=True)
    min_ms = models.FloatField(null=True)
    peak_memory_bytes = models.BigIntegerField(null=True)
    signal = models.CharField(max_length=16, blank=True)
    confirmed = models.BooleanField(null=True)
    seconds = models.FloatField(null=True)
    environment = models.ForeignKey(
        Environment, null=True, on_delete=models.PROTECT, db_index=False
    )
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sweep", "case", "form"], name="probe_once_a_sweep"),
            models.UniqueConstraint(
                fields=["target", "case", "form"],
                name="probe_one_latest",
                condition=models.Q(latest=True),
            ),
        ]
        indexes = [
            models.Index(
                fields=["target", "id"],
                name="probe_queued",
                condition=models.Q(state="queued"),
            ),
            models.Index(
                fields=["claim"],
                name="probe_claimed",
                condition=models.Q(state="claimed"),
            ),
            models.Index(
                fields=["target", "operator"],
                name="probe_latest",
                condition=models.Q(latest=True),
            ),
        ]

    def __str__(self) -> str:
        return f"probe {self.pk}: {self.outcome or self.state}"


class ProbeLog(models.Model):
    """What is large or rare about a probe: printed log, latency samples, placement detail."""

    probe = models.OneToOneField(
        Probe, primary_key=True, on_delete=models.CASCADE, related_name="log"
    )
    text = models.TextField(blank=True)
    latency = models.JSONField(null=True)  # samples_ms, warmup, conditions
    placement_detail = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"log of probe {self.probe_id}"


class Cell(models.Model):
    """Operator x column as judged by `probes.judge.support`; rebuilt when results arrive."""

    operator = models.ForeignKey(Operator, on_delete=models.CASCADE, related_name="cells")
    column = models.ForeignKey(Column, on_delete=models.CASCADE, related_name="cells")
    target = models.ForeignKey(Target, null=True, on_delete=models.SET_NULL)  # the deciding version
    probe = models.ForeignKey(Probe, null=True, on_delete=models.SET_NULL)  # the deciding probe
    level = models.CharField(max_length=8)
    kind = models.CharField(max_length=10)
    reason_code = models.CharField(max_length=48)
    reason_params = models.JSONField(default=dict)
    core_passed = models.IntegerField(default=0)
    core_total = models.IntegerField(default=0)
    rest_passed = models.IntegerField(default=0)
    rest_total = models.IntegerField(default=0)
    max_abs = models.FloatField(null=True)
    p50_ms = models.FloatField(null=True)
    claim_level = models.CharField(max_length=8, blank=True)
    contradiction = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["operator", "column"], name="cell_once")]
        indexes = [models.Index(fields=["column", "level"])]

    def __str__(self) -> str:
        return f"{self.operator_id} x {self.column_id}: {self.level}"
