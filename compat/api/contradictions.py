"""Where vendors' lists and probes disagree, both sides side by side."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from compat.api.documents import document, serializer_of
from compat.api.pages import PART, listed, part_of
from compat.contradictions import (
    EVERY,
    PROBED_KINDS,
    Contradiction,
    ContradictionFilters,
    directions_of,
    load_contradictions,
)
from probes.judge.contradiction import DIRECTIONS, HARD, RELATIONS


class Contradictions(APIView):
    @extend_schema(
        operation_id="list_contradictions",
        parameters=[
            OpenApiParameter("search", str, description="Part of an operator's name."),
            OpenApiParameter(
                "column",
                str,
                many=True,
                description="Columns by slug. When left out: all with evidence of their own, but "
                "no recording of a column that this machine has too.",
            ),
            OpenApiParameter("device_class", str, many=True),
            OpenApiParameter("kind", str, many=True, enum=list(PROBED_KINDS)),
            OpenApiParameter(
                "direction",
                str,
                many=True,
                enum=[*DIRECTIONS, EVERY],
                description=f"When left out: {' and '.join(HARD)}.",
            ),
            OpenApiParameter(
                "versions",
                str,
                many=True,
                enum=list(RELATIONS),
                description="How the version of the list stands to the probed one.",
            ),
            *PART,
        ],
        responses=serializer_of(Contradiction)(many=True),
    )
    def get(self, request: Request) -> Response:
        """Operators for which a vendor's list and the probes disagree, Top 20 operators first."""
        query = request.query_params
        filters = ContradictionFilters(
            search=query.get("search", ""),
            columns=tuple(query.getlist("column")),
            device_classes=tuple(query.getlist("device_class")),
            kinds=tuple(query.getlist("kind")),
            versions=tuple(query.getlist("versions")),
            directions=directions_of(query.getlist("direction")),
        )
        part, headers = part_of(request, load_contradictions(filters).rows)
        return listed(document(part), headers)
