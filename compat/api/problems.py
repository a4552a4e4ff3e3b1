"""Errors as problem documents (RFC 9457): status, a title, and a sentence that says what to do."""

from collections.abc import Mapping
from typing import Any

from django.db import DataError
from django.http import Http404
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import exception_handler

from compat.agents import AgentRefusal
from compat.devices import DeviceError
from compat.exchange import ExchangeError
from compat.history import NotKnown
from compat.reports import ReportError
from compat.sweeps import SweepError
from compat.targets import TargetError


class ProblemRenderer(JSONRenderer):
    media_type = "application/problem+json"


class ProblemSerializer(serializers.Serializer[Any]):
    """What went wrong; `code` is for programs, `detail` for people."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()


# status, title and code of what our functions raise
_KNOWN: dict[type[Exception], tuple[int, str, str]] = {
    NotKnown: (404, "Not found", "not_known"),
    TargetError: (422, "No such target", "unknown_target"),
    SweepError: (422, "The sweep cannot be started", "no_sweep"),
    ReportError: (422, "The file cannot be judged", ""),
    DataError: (400, "The request cannot be stored", "unstorable"),
    DeviceError: (422, "The device cannot be registered or changed so", "no_device"),
    ExchangeError: (422, "The results cannot be stored", "not_results"),
    AgentRefusal: (409, "The agent is refused", ""),
}


def handle(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """The response to an exception of a view; None for our own mistakes, which stay a 500."""
    for kind, (status, title, code) in _KNOWN.items():
        if isinstance(error, kind):
            status = getattr(error, "status", status)
            return problem(status, title, getattr(error, "code", code), _sentence(error))
    response = exception_handler(error, dict(context))
    if response is None:
        return None
    code = "not_found" if isinstance(error, Http404) else _code(error)
    answer = problem(response.status_code, response.status_text, code, _detail(response.data))
    for name, value in response.headers.items():
        answer.headers.setdefault(name, value)
    return answer


def problem(status: int, title: str, code: str, detail: str) -> Response:
    """A problem document."""
    body = problem_body(status, title, code, detail)
    return Response(body, status=status, content_type=ProblemRenderer.media_type)


def problem_body(status: int, title: str, code: str, detail: str) -> dict[str, Any]:
    """The members of a problem document."""
    body = {"type": "about:blank", "title": title, "status": status, "code": code}
    return {**body, "detail": detail}


def _sentence(error: Exception) -> str:
    if isinstance(error, DataError):  # the database's words would tell of its tables
        return "A text is too long or holds NUL or half a character, or a number is too large."
    return str(error.args[0]) if error.args else ""


def _code(error: Exception) -> str:
    codes = error.get_codes() if isinstance(error, APIException) else "error"
    return codes if isinstance(codes, str) else "invalid"


def _detail(data: Any) -> str:
    """DRF's error tree on one line."""
    if isinstance(data, Mapping):
        told = [(name, _detail(item)) for name, item in data.items()]
        return " ".join(text if name == "detail" else f"{name}: {text}" for name, text in told)
    return " ".join(map(_detail, data)) if isinstance(data, list) else str(data)
