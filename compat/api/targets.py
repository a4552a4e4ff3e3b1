"""Targets: the columns of the matrix, and one of them with its device, versions and sweeps."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from compat.api.documents import document, serializer_of
from compat.api.pages import PART, listed, part_of
from compat.api.problems import ProblemSerializer
from compat.columns import ColumnHead, load_counted_heads
from compat.history import ColumnPage, load_column


class Targets(APIView):
    @extend_schema(
        operation_id="list_targets",
        parameters=PART,
        responses=serializer_of(ColumnHead)(many=True),
    )
    def get(self, request: Request) -> Response:
        """Every column that something is known of, this machine's first."""
        part, headers = part_of(request, load_counted_heads())
        return listed(document(part), headers)


class OneTarget(APIView):
    @extend_schema(
        operation_id="get_target",
        responses={200: serializer_of(ColumnPage), 404: ProblemSerializer},
    )
    def get(self, request: Request, slug: str) -> Response:
        """One column; the slug of a version ("<column>@<version>") gives its column."""
        return Response(document(load_column(slug.partition("@")[0])))
