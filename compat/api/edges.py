"""Before and beside the views: addresses that are none, requests that cannot be read."""

import json
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import (
    BadRequest,
    DisallowedHost,
    RequestDataTooBig,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.urls import Resolver404, resolve
from django.views import defaults
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.views import APIView

from compat.api.problems import ProblemRenderer, problem_body
from compat.api.responses import OneType

API = "/api/"
_TAKE_FILES = frozenset({"webui:report_new", "api:reports", "api:results"})
# What Django's own refusals come down to.
_SAID: dict[type[Exception], str] = {
    TooManyFieldsSent: "The request has more parameters or fields than are read.",
    TooManyFilesSent: "The request has more files than are read.",
    RequestDataTooBig: "The fields of the form are too long.",
    DisallowedHost: "The request names a host that is not served here.",
    BadRequest: "The address has the character NUL in it.",
}


class NoSuchAddress(APIView):
    """Whatever under /api/ is no address of the API, asked in whatever way."""

    permission_classes = ()
    authentication_classes = ()
    throttle_classes = ()
    content_negotiation_class = OneType

    @extend_schema(exclude=True)
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        self.http_method_names = [(request.method or "get").lower()]
        setattr(self, self.http_method_names[0], self.refuse)
        return super().dispatch(request, *args, **kwargs)

    def refuse(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Always raises NotFound."""
        with_slash = request.path_info + "/"
        hint = f" There is {with_slash}." if _is_address(with_slash) else ""
        raise NotFound(f"The API has no such address; see /api/v1/schema/.{hint}")


class Readable:
    """Middleware: no database holds the character NUL, so no address may have it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        query = request.META.get("QUERY_STRING", "")
        if "\0" in request.path_info or "\0" in query or "%00" in query:
            raise BadRequest("The address has the character NUL in it.")
        return self.get_response(request)


class BodyLimit:
    """Middleware: a long body is refused by its stated length, before anything parses it.

    Without a stated length nothing of a body is read. Views that take files check their own.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *args: Any) -> HttpResponse | None:
        """413 for a body that its view does not take."""
        stated = request.META.get("CONTENT_LENGTH") or ""
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        match = request.resolver_match
        takes_files = match is not None and match.view_name in _TAKE_FILES
        if takes_files or not stated.isdigit() or int(stated) <= limit:
            return None
        if request.path_info.startswith(API):
            detail = f"The body has more than {limit} bytes."
            return _problem(413, "Content Too Large", "too_large", detail)
        return HttpResponse(loader.get_template("413.html").render(), status=413)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's own refusals of a request, as everything else of the API is refused."""
    if not request.path_info.startswith(API):
        return defaults.bad_request(request, exception)
    said = next((text for kind, text in _SAID.items() if isinstance(exception, kind)), "")
    detail = said or "The request cannot be read."
    return _problem(400, "Bad Request", "bad_request", detail)


def server_error(request: HttpRequest) -> HttpResponse:
    """Our own mistakes; what happened stands in the server's log."""
    if not request.path_info.startswith(API):
        return defaults.server_error(request)
    return _problem(500, "Server Error", "internal", "The server failed; its log says how.")


def _problem(status: int, title: str, code: str, detail: str) -> HttpResponse:
    body = json.dumps(problem_body(status, title, code, detail))
    return HttpResponse(body, status=status, content_type=ProblemRenderer.media_type)


def _is_address(path: str) -> bool:
    try:
        return resolve(path).func.__name__ != NoSuchAddress.__name__
    except Resolver404:
        return False
