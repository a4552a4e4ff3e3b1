"""Sweeps: start one, see how far it is. Starting is open on one's own machine only."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from compat import sweeps
from compat.api.access import HasScope
from compat.api.parsers import BoundedJson
from compat.api.problems import ProblemSerializer
from compat.models import Sweep
from compat.targets import choose_probed


class MayStartSweeps(HasScope):
    """Anybody where the installation is open, else a token of an administrator."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return sweeps.are_open() or super().has_permission(request, view)


class SweepRequestSerializer(serializers.Serializer[Any]):
    """`target`: a target, a column or a runtime; `operators`: "Conv" or "domain::Name"."""

    target = serializers.CharField(max_length=260)
    operators = serializers.ListField(
        child=serializers.CharField(max_length=200), required=False, max_length=1000
    )


class SweepSerializer(serializers.Serializer[Any]):
    """`seconds_left` is null while nothing moves."""

    id = serializers.IntegerField()
    target = serializers.CharField()
    state = serializers.ChoiceField(choices=Sweep.State.choices)
    total = serializers.IntegerField()
    done = serializers.IntegerField()
    seconds_left = serializers.FloatField(allow_null=True)
    outcomes = serializers.DictField(child=serializers.IntegerField())
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class Sweeps(APIView):
    scope = "admin"
    # JSON alone: a page of another site cannot send it from a visitor's browser.
    parser_classes = [BoundedJson]
    permission_classes = [MayStartSweeps]

    @extend_schema(
        operation_id="start_sweep",
        request=SweepRequestSerializer,
        responses={
            201: SweepSerializer,
            400: ProblemSerializer,
            401: ProblemSerializer,
            403: ProblemSerializer,
            422: ProblemSerializer,
        },
    )
    def post(self, request: Request) -> Response:
        """Queue the cases of all operators, or of some, for a target."""
        asked = SweepRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        target = choose_probed(asked.validated_data["target"])
        operators = asked.validated_data.get("operators")
        sweep = sweeps.start_sweep(target=target, operators=operators)
        return Response(sweep_document(sweep), status=201)


class OneSweep(APIView):
    @extend_schema(
        operation_id="get_sweep", responses={200: SweepSerializer, 404: ProblemSerializer}
    )
    def get(self, request: Request, sweep_id: int) -> Response:
        """How far a sweep is, with an estimate."""
        sweep = get_object_or_404(Sweep.objects.select_related("target"), pk=sweep_id)
        return Response(sweep_document(sweep))


def sweep_document(sweep: Sweep) -> dict[str, Any]:
    progress = sweeps.progress(sweep)
    return {
        "id": sweep.pk,
        "target": sweep.target.slug,
        "state": sweep.state,
        "total": progress.total,
        "done": progress.done,
        "seconds_left": progress.seconds_left,
        "outcomes": progress.outcomes,
        "created_at": sweep.created_at,
        "finished_at": sweep.finished_at,
    }
