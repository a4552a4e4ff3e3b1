"""One cell with everything that it rests on."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from compat.api.documents import document, serializer_of
from compat.api.problems import ProblemSerializer
from compat.history import CellDetail, load_cell


class OneCell(APIView):
    @extend_schema(
        operation_id="get_cell",
        responses={200: serializer_of(CellDetail), 404: ProblemSerializer},
    )
    def get(self, request: Request, domain: str, name: str, column: str) -> Response:
        """An operator on a column: the verdict, its probes, claims, and older versions."""
        return Response(document(load_cell(domain, name, column)))
