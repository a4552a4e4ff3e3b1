"""What can be asked about: operators, devices, columns and targets, cases, documented claims."""

from django.db import models


class Operator(models.Model):
    """A row of the matrix; since-versions fold inside it."""

    domain = models.CharField(max_length=64)  # "ai.onnx" spelled out
    name = models.CharField(max_length=128)
    kind = models.CharField(max_length=16, default="onnx")  # onnx, contrib, pattern, module
    since_versions = models.JSONField(default=list)
    deprecated_at = models.IntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["domain", "name"], name="operator_once")]
        ordering = ["domain", "name"]

    def __str__(self) -> str:
        return self.name if self.domain == "ai.onnx" else f"{self.domain}::{self.name}"


class Device(models.Model):
    """A piece of hardware; `facts` holds memory, bandwidth, compute capability and the like."""

    class Standing(models.TextChoices):
        ACTIVE = "active"
        MAINTENANCE = "maintenance"
        RETIRED = "retired"

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=120)
    vendor = models.CharField(max_length=60, blank=True)
    device_class = models.SlugField(max_length=40)
    origin = models.CharField(max_length=16, default="catalogue")  # local, recorded, registered
    facts = models.JSONField(default=dict)
    confidence = models.CharField(max_length=60, blank=True)
    source = models.TextField(blank=True)

    # Of a registered device: what its owner set, what it may probe, and who speaks for it.
    standing = models.CharField(max_length=12, choices=Standing, default=Standing.ACTIVE)
    runtimes = models.JSONField(default=list)  # slugs that its agent may offer; empty: any
    agent = models.CharField(max_length=36, blank=True)  # the instance that was heard last
    seen_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["device_class", "title"]

    def __str__(self) -> str:
        return self.title


class Column(models.Model):
    """Device x runtime x configuration, versions folded: what the matrix shows."""

    device = models.ForeignKey(Device, on_delete=models.CASCADE, related_name="columns")
    runtime = models.SlugField(max_length=40)
    config_name = models.SlugField(max_length=40, default="default")
    config = models.JSONField(default=dict)
    slug = models.CharField(max_length=180, unique=True)  # "rk3588.rknn.default"
    position = models.IntegerField(default=100)
    shown = models.BooleanField(default=True)

    class Meta:
        ordering = ["position", "slug"]

    def __str__(self) -> str:
        return self.slug


class Target(models.Model):
    """A column at one runtime version. Every probe belongs to exactly one."""

    column = models.ForeignKey(Column, on_delete=models.CASCADE, related_name="targets")
    runtime_version = models.CharField(max_length=80)
    version_key = models.CharField(max_length=80)  # digits only: text order is version order
    slug = models.CharField(max_length=260, unique=True)  # "<column>@<version>"
    capabilities = models.JSONField(default=dict)  # probes.run.adapter.Capabilities, as it answered

    class Meta:
        ordering = ["column", "-version_key"]

    def __str__(self) -> str:
        return self.slug


class Case(models.Model):
    """A runnable probe model with fixed inputs; the bytes lie in the case store by id."""

    id = models.CharField(max_length=32, primary_key=True)
    name = models.CharField(max_length=200, unique=True)
    aliases = models.JSONField(default=list)  # other names of the same content
    operator = models.ForeignKey(Operator, on_delete=models.PROTECT, related_name="cases")
    since_version = models.IntegerField()
    core = models.BooleanField()
    origin = models.CharField(max_length=16)  # node, mainstream, variant, harvest
    timed = models.BooleanField(default=False)
    retired = models.BooleanField(default=False)  # a newer release has another one in its place
    opset = models.IntegerField()
    ir_version = models.IntegerField()
    oracle = models.CharField(max_length=80)
    oracles_agree = models.CharField(max_length=8, blank=True)
    citation = models.TextField(blank=True)
    dtypes = models.JSONField(default=list)
    folds = models.BooleanField(default=False)  # nothing in its graph is left to run
    traits = models.JSONField(default=dict)  # what decides which forms apply
    signature = models.JSONField(default=dict)
    signature_key = models.CharField(max_length=16, blank=True)
    class_key = models.CharField(max_length=16, blank=True)
    dtype_key = models.CharField(max_length=16, blank=True)

    class Meta:
        ordering = ["name"]
        indexes = [models.Index(fields=["operator"])]

    def __str__(self) -> str:
        return self.name


class Occurrence(models.Model):
    """How often the node of a harvested case stands in one real model."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="occurrences")
    model = models.CharField(max_length=200)  # "<package>==<version>/<path>", or a digest
    count = models.IntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["case", "model"], name="occurrence_once")]

    def __str__(self) -> str:
        return f"{self.case_id} x {self.count} in {self.model}"


class Source(models.Model):
    """A document that claims support: title, version, date, where it was read."""

    slug = models.SlugField(max_length=40, primary_key=True)
    title = models.TextField()
    version = models.CharField(max_length=120)
    date = models.CharField(max_length=80)
    place = models.TextField()  # repository@commit:path, never a host
    note = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.title


class Claim(models.Model):
    """One documented row. It joins every column of the same runtime and device class."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="claims")
    operator = models.ForeignKey(Operator, on_delete=models.CASCADE, related_name="claims")
    runtime = models.SlugField(max_length=40)
    device_class = models.SlugField(max_length=40, blank=True)
    runtime_version = models.CharField(max_length=120)
    rank = models.IntegerField(default=0)  # the highest speaks first among equal versions
    level = models.CharField(max_length=8)  # full, partial, none
    opset_min = models.IntegerField(null=True)
    opset_max = models.IntegerField(null=True)
    dtypes = models.TextField(blank=True)
    restriction = models.TextField(blank=True)
    unit = models.CharField(max_length=60, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["runtime", "device_class", "operator"]),
            models.Index(fields=["operator"]),
        ]

    def __str__(self) -> str:
        return f"{self.source_id}: {self.operator} {self.level}"


class Loaded(models.Model):
    """What was last read from files, by the digest of those files: an unchanged load is skipped."""

    name = models.CharField(max_length=120, primary_key=True)
    digest = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.name} {self.digest[:12]}"
