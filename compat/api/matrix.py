"""The matrix as JSON and as CSV, with the filters of the page."""

import json

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.views import APIView

from compat.api.documents import document, serializer_of
from compat.api.problems import ProblemSerializer
from compat.api.responses import OneType, tagged
from compat.matrix import Matrix, MatrixFilters, load_matrix, matrix_csv
from compat.operators import OperatorName
from compat.reports import load_report, operators_of
from probes.judge.words import KINDS, LEVELS

FILTERS = [
    OpenApiParameter("search", str, description="Part of an operator's name."),
    OpenApiParameter("domain", str, many=True),
    OpenApiParameter(
        "level",
        str,
        many=True,
        enum=list(LEVELS),
        description="Operators that have one of these levels in a shown column.",
    ),
    OpenApiParameter("device_class", str, many=True),
    OpenApiParameter("kind", str, many=True, enum=list(KINDS)),
    OpenApiParameter("column", str, many=True, description="Columns by slug; all when left out."),
    OpenApiParameter("report", str, description="Only the operators of this report's model."),
    OpenApiParameter("top20", bool),
]


class MatrixJson(APIView):
    @extend_schema(
        operation_id="get_matrix",
        parameters=FILTERS,
        responses={200: serializer_of(Matrix), 304: None, 404: ProblemSerializer},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Operators x columns; a cell is null where nothing is known. Sends an ETag."""
        matrix = load_matrix(read_filters(request))
        body = json.dumps(document(matrix), separators=(",", ":")).encode()
        return tagged(_plain(request), body, "application/json")


class MatrixCsv(APIView):
    content_negotiation_class = OneType

    @extend_schema(
        operation_id="get_matrix_csv",
        parameters=FILTERS,
        responses={(200, "text/csv"): OpenApiTypes.STR, 304: None, 404: ProblemSerializer},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """The same as CSV: domain, operator, and "level kind" for each column."""
        matrix = load_matrix(read_filters(request))
        body = "".join(matrix_csv(matrix)).encode()
        response = tagged(_plain(request), body, "text/csv; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="opatlas-matrix.csv"'
        return response


def read_filters(request: Request) -> MatrixFilters:
    """The filters of a query string; raises NotFound for a report that does not exist."""
    query = request.query_params
    return MatrixFilters(
        search=query.get("search", ""),
        domains=tuple(query.getlist("domain")),
        levels=tuple(query.getlist("level")),
        device_classes=tuple(query.getlist("device_class")),
        kinds=tuple(query.getlist("kind")),
        columns=tuple(query.getlist("column")),
        operators=_report_operators(query.get("report", "")),
        top20=query.get("top20", "").lower() in ("1", "true", "yes", "on"),
    )


def _report_operators(token: str) -> tuple[OperatorName, ...] | None:
    if not token:
        return None
    report = load_report(token)
    if report is None:
        raise NotFound("There is no report with this token.")
    return operators_of(report)


def _plain(request: Request) -> HttpRequest:
    return request._request
