"""Who may do what over the API: tokens, stored as digests."""

from django.db import models

from compat.models.catalogue import Device


class Token(models.Model):
    """A bearer token; the secret itself is shown once and never stored."""

    digest = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=80)
    scopes = models.JSONField(default=list)  # words of compat.tokens.SCOPES
    device = models.ForeignKey(
        Device, null=True, blank=True, on_delete=models.CASCADE, related_name="tokens"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name
