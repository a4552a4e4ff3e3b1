"""A model that somebody asked about, and what was found."""

import secrets

from django.db import models


def new_token() -> str:
    """128 bits for the unguessable link."""
    return secrets.token_urlsafe(16)


class Report(models.Model):
    """The facts of one model judged for chosen columns or targets."""

    class State(models.TextChoices):
        QUEUED = "queued"
        READY = "ready"
        FAILED = "failed"

    token = models.CharField(max_length=32, unique=True, default=new_token)
    question = models.CharField(max_length=64, unique=True)  # digest of model, targets, knowledge
    file_name = models.CharField(max_length=200, blank=True)
    model_sha256 = models.CharField(max_length=64)
    model_bytes = models.BigIntegerField()
    targets = models.JSONField(default=list)  # slugs as asked
    state = models.CharField(max_length=8, choices=State, default=State.QUEUED)
    error_code = models.CharField(max_length=48, blank=True)
    error = models.TextField(blank=True)
    facts = models.JSONField(null=True)
    results = models.JSONField(default=list)  # one document a target: level, totals, findings
    kept_until = models.DateTimeField(null=True)  # null: the upload is already deleted
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"report of {self.file_name or self.model_sha256[:12]}"
