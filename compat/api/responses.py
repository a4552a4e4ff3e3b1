"""Responses that a client may keep: the tag changes when the content does."""

import hashlib
from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request


class OneType(BaseContentNegotiation):
    """For views that have one type whatever a client prefers; their problems are JSON."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        return next(iter(parsers), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[Any], format_suffix: str | None = None
    ) -> tuple[Any, str]:
        first = next(iter(renderers))
        return first, first.media_type


def tagged(request: HttpRequest, body: bytes, content_type: str) -> HttpResponseBase:
    """The body with an ETag, or 304 when the client has it already."""
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    response = HttpResponse(body, content_type=content_type)
    response["ETag"] = etag
    response["Cache-Control"] = "no-cache"  # keep it, and ask whether it changed
    answer = get_conditional_response(request, etag=etag, response=response)
    return response if answer is None else answer
