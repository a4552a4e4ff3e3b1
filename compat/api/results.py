"""Results: the newest as a list, and the documents of what an agent or a board found."""

import codecs
from collections.abc import Iterator
from typing import IO, Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import BaseParser
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from compat.api.access import HasScope
from compat.api.agent import token_device
from compat.api.documents import document, serializer_of
from compat.api.pages import PART, listed, part_of
from compat.api.problems import ProblemSerializer
from compat.exchange import ExchangeError, parse_documents
from compat.history import ResultRow, load_results
from compat.models import Token
from compat.submissions import submit
from compat.targets import resolve
from compat.tokens import allows
from probes.protocol import RESULTS_TYPE
from probes.run.outcome import Outcome

USUAL = 100  # results in an answer where no limit is asked for
LONGEST_LINE = 1 << 20
LARGEST = 256 << 20
STEP = 1 << 16
REFUSED = dict.fromkeys((400, 401, 403, 409, 415, 422), ProblemSerializer)


class JsonLines(BaseParser):
    """The lines of a body, read as they are needed; raises ExchangeError over a limit."""

    media_type = RESULTS_TYPE

    def parse(self, stream: IO[bytes], media_type: Any = None, context: Any = None) -> Any:
        return _lines(stream)


class RecordedSerializer(serializers.Serializer[Any]):
    """`known`: results that were stored before, or that another agent gave meanwhile."""

    new = serializers.IntegerField()
    known = serializers.IntegerField()


class ReadOrSubmit(HasScope):
    """Reading is for whoever may read the matrix, submitting for devices."""

    def has_permission(self, request: Request, view: Any) -> bool:
        view.scope = "results" if request.method == "POST" else "read"
        return super().has_permission(request, view)


class FilterSerializer(serializers.Serializer[Any]):
    """Which results: of a target, a column or a runtime; of "Conv" or "domain::Name"."""

    target = serializers.CharField(max_length=260, required=False)
    operator = serializers.CharField(max_length=200, required=False)
    outcome = serializers.ChoiceField(choices=[each.value for each in Outcome], required=False)


class Results(APIView):
    parser_classes = [JsonLines]
    permission_classes: list[type[BasePermission]] = [ReadOrSubmit]

    @extend_schema(
        operation_id="list_results",
        parameters=[FilterSerializer, *PART],
        responses={
            200: serializer_of(ResultRow)(many=True),
            404: ProblemSerializer,
            422: ProblemSerializer,
        },
    )
    def get(self, request: Request) -> Response:
        """The newest result of each case, form and target; 100 of them without a limit."""
        asked = FilterSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        filters = dict(asked.validated_data)
        if "target" in filters:
            (filters["where"],) = resolve([filters.pop("target")])
        part, headers = part_of(request, load_results(**filters), usual=USUAL)
        return listed(document(part), headers)

    @extend_schema(
        operation_id="submit_results",
        request={RESULTS_TYPE: OpenApiTypes.STR},
        responses={200: RecordedSerializer, **REFUSED},
    )
    def post(self, request: Request) -> Response:
        """Store a results document; sending it again changes nothing."""
        new = known = documents = 0
        is_admin = isinstance(request.auth, Token) and allows(request.auth, "admin")
        try:
            for header, results in parse_documents(request.data, "The body"):
                done = submit(
                    device=token_device(request), header=header, results=results, is_admin=is_admin
                )
                new, known, documents = new + done.new, known + done.known, documents + 1
        except UnicodeDecodeError as error:
            raise ExchangeError("The body is not UTF-8.") from error
        except ExchangeError:
            raise
        except ValueError as error:  # a case or a configuration that this server does not know
            raise ExchangeError(str(error)) from error
        if not documents:
            raise ExchangeError("The body holds no results document.")
        return Response({"new": new, "known": known})


def _lines(stream: IO[bytes]) -> Iterator[str]:
    decode = codecs.getincrementaldecoder("utf-8")().decode
    rest, size = "", 0
    while chunk := stream.read(STEP):
        size += len(chunk)
        *whole, rest = (rest + decode(chunk)).split("\n")
        if size > LARGEST or len(rest) > LONGEST_LINE:
            raise ExchangeError("The body, or one of its lines, is too long: send it in parts.")
        yield from filter(str.strip, whole)
    if (rest + decode(b"", final=True)).strip():
        yield rest
