"""Tokens of the API: made, found, revoked. A secret has 256 random bits, so its digest suffices."""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from compat.models import Device, Token

PREFIX = "opa_"
# What a token may do; "admin" includes the others.
SCOPES: dict[str, str] = {
    "read": "read the matrix, operators, targets and cells",
    "reports": "submit models or facts and read the reports",
    "results": "claim probes, fetch cases and submit results",
    "admin": "register devices, make tokens and start sweeps",
}
USED_EVERY = timedelta(minutes=1)  # a use is written down at most so often


class TokenScopeError(ValueError):
    """A scope that does not exist; the message names those that do."""


def issue_token(
    *, name: str, scopes: Sequence[str], device: Device | None = None
) -> tuple[Token, str]:
    """A new token and its secret, which nobody can read again."""
    unknown = sorted(set(scopes) - SCOPES.keys())
    if unknown or not scopes:
        raise TokenScopeError(
            f"{', '.join(unknown) or 'No scope'} is no scope; there are {', '.join(SCOPES)}."
        )
    secret = PREFIX + secrets.token_urlsafe(32)
    token = Token.objects.create(
        digest=_digest(secret), name=name[:80], scopes=sorted(set(scopes)), device=device
    )
    return token, secret


def revoke_token(*, token: Token) -> bool:
    """End a token; returns whether it was valid until now."""
    return bool(
        Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
    )


def find_token(secret: str) -> Token | None:
    """The valid token of a secret. It is looked up by digest, so timing tells nothing of it."""
    found = Token.objects.select_related("device").filter(digest=_digest(secret), revoked_at=None)
    token = found.first()
    if token is not None:
        _note_use(token)
    return token


def allows(token: Token, scope: str) -> bool:
    """Whether the token may do what the scope names."""
    return scope in token.scopes or "admin" in token.scopes


def _note_use(token: Token) -> None:
    now = timezone.now()
    stale = Q(used_at=None) | Q(used_at__lt=now - USED_EVERY)
    Token.objects.filter(stale, pk=token.pk).update(used_at=now)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
