"""Responses that a client may keep: the tag changes when the content does."""

import hashlib

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response


def tagged(request: HttpRequest, body: bytes, content_type: str) -> HttpResponseBase:
    """The body with an ETag, or 304 when the client has it already."""
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    response = HttpResponse(body, content_type=content_type)
    response["ETag"] = etag
    response["Cache-Control"] = "no-cache"  # keep it, and ask whether it changed
    answer = get_conditional_response(request, etag=etag, response=response)
    return response if answer is None else answer
