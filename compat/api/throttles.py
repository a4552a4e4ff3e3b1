"""How often anybody may ask: a rate for each scope, counted by token, else by address."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from compat.models import Token

if TYPE_CHECKING:
    from rest_framework.views import APIView


class ScopeRate(SimpleRateThrottle):
    """The rate that settings.API_RATES has for the view's scope; none where it has none."""

    def __init__(self) -> None:
        """The rate is known when the view is."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        self.scope = str(getattr(view, "scope", "read"))
        self.rate = settings.API_RATES.get(self.scope)
        if self.rate is None:
            return True
        self.num_requests, self.duration = self.parse_rate(self.rate)
        allowed = super().allow_request(request, view)
        request._request.api_rate = self.headers()  # type: ignore[attr-defined]
        return allowed

    def get_cache_key(self, request: Request, view: APIView) -> str:
        who = f"token {request.auth.pk}" if isinstance(request.auth, Token) else ""
        return f"rate {self.scope} {who or self.get_ident(request)}".replace(" ", ":")

    def headers(self) -> dict[str, str]:
        """Of the window that slides: how many in it, how many left, seconds until one more is."""
        assert self.num_requests is not None
        oldest = self.history[-1] if self.history else self.now
        return {
            "RateLimit-Limit": str(self.num_requests),
            "RateLimit-Remaining": str(max(0, self.num_requests - len(self.history))),
            "RateLimit-Reset": str(math.ceil(oldest + (self.duration or 0) - self.now)),
        }


class RateHeaders:
    """Middleware: tells a client how much of its rate is left."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        rate: dict[str, Any] = getattr(request, "api_rate", {})
        for name, value in rate.items():
            response[name] = value
        return response
