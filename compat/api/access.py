"""Who asks, and what they may: bearer tokens, and scopes that an installation leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from compat.models import Token
from compat.tokens import allows, find_token

if TYPE_CHECKING:
    from rest_framework.views import APIView


class BearerToken(BaseAuthentication):
    """`Authorization: Bearer opa_...`; the token is `request.auth`."""

    def authenticate(self, request: Request) -> tuple[None, Token] | None:
        """None without a token; raises AuthenticationFailed for one that is not valid."""
        kind, _, secret = get_authorization_header(request).partition(b" ")
        if kind.lower() != b"bearer":
            return None
        token = find_token(secret.strip().decode("latin-1"))
        if token is None:
            raise AuthenticationFailed(
                "This token is unknown or revoked; ask whoever runs the site for a new one."
            )
        return None, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class HasScope(BasePermission):
    """The view's `scope`, by token or because the installation leaves it open."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        scope = str(getattr(view, "scope", "read"))
        if isinstance(request.auth, Token):
            self.message = f'This token lacks the scope "{scope}".'
            return allows(request.auth, scope)
        if scope in settings.OPEN_SCOPES:
            return True
        raise NotAuthenticated(f'Send a token with the scope "{scope}" as "Authorization: Bearer".')
