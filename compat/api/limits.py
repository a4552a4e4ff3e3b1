"""Limits by search: how large and how small an operator may be on a target."""

from django.db.models import Q
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from compat.api.documents import document, serializer_of
from compat.api.pages import PART, listed, part_of
from compat.history.limits import LimitView, load_limits


class Limits(APIView):
    @extend_schema(
        operation_id="list_limits",
        parameters=[
            OpenApiParameter(
                "target", str, many=True, description="Targets or columns by slug, or runtimes."
            ),
            OpenApiParameter("operator", str, many=True, description="Operators by name."),
            *PART,
        ],
        responses=serializer_of(LimitView)(many=True),
    )
    def get(self, request: Request) -> Response:
        """What searches found: of each parameter the last value that works and the first that
        does not, with their probes; data types, ranks and dimensions of each operand."""
        which = Q()
        if targets := request.query_params.getlist("target"):
            which &= (
                Q(target__slug__in=targets)
                | Q(target__column__slug__in=targets)
                | Q(target__column__runtime__in=targets)
            )
        if operators := request.query_params.getlist("operator"):
            which &= Q(operator__name__in=operators)
        part, headers = part_of(request, load_limits(which))
        return listed(document(part), headers)
