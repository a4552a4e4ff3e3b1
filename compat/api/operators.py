"""Operators: the catalogue, and one operator with its cells, claims and cases."""

from dataclasses import asdict

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from compat.api.documents import document, serializer_of
from compat.api.pages import PART, listed, part_of
from compat.api.problems import ProblemSerializer
from compat.history import OperatorHead, OperatorPage, load_operator, load_operators


class Operators(APIView):
    @extend_schema(
        operation_id="list_operators",
        parameters=[
            OpenApiParameter("search", str, description="Part of the name."),
            OpenApiParameter("domain", str, many=True),
            *PART,
        ],
        responses=serializer_of(OperatorHead)(many=True),
    )
    def get(self, request: Request) -> Response:
        """Every operator of the catalogue, or a part of the list."""
        query = request.query_params
        heads = load_operators(search=query.get("search", ""), domains=query.getlist("domain"))
        part, headers = part_of(request, heads)
        return listed([asdict(head) for head in part], headers)


class OneOperator(APIView):
    @extend_schema(
        operation_id="get_operator",
        responses={200: serializer_of(OperatorPage), 404: ProblemSerializer},
    )
    def get(self, request: Request, domain: str, name: str) -> Response:
        """One operator: its cell in every column, all claims, its cases and how they ended."""
        return Response(document(load_operator(domain, name)))
