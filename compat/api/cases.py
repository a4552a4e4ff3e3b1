"""Case files by id, for agents; and what a bundle for a board without a network holds."""

from typing import Any

from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from compat.api.agent import token_device
from compat.api.problems import ProblemSerializer
from compat.api.responses import OneType
from compat.bundles import load_bundle
from compat.casebook import case_store
from probes.cases.case import CaseError
from probes.protocol import CASE_TYPE

REFUSED = dict.fromkeys((401, 403, 404), ProblemSerializer)
A_YEAR = "private, max-age=31536000, immutable"


class OneCase(APIView):
    scope = "results"
    content_negotiation_class = OneType

    @extend_schema(
        operation_id="get_case",
        responses={(200, CASE_TYPE): OpenApiTypes.BINARY, 304: None, **REFUSED},
    )
    def get(self, request: Request, case_id: str) -> HttpResponseBase:
        """The bytes of a case file; its content never changes, so the tag is the id."""
        tag = f'"{case_id}"'
        try:
            path = case_store().path(case_id)
        except CaseError as error:
            raise NotFound(str(error)) from error
        if not path.exists():
            raise NotFound("There is no case of this id here.")
        if request.headers.get("If-None-Match") == tag:
            return HttpResponse(status=304, headers={"ETag": tag})
        response = FileResponse(path.open("rb"), content_type=CASE_TYPE)
        response["ETag"], response["Cache-Control"] = tag, A_YEAR
        return response


class BundleTargetSerializer(serializers.Serializer[Any]):
    device = serializers.CharField()
    device_title = serializers.CharField()
    device_class = serializers.CharField()
    runtime = serializers.CharField()
    config_name = serializers.CharField()
    config = serializers.DictField()


class BundleSerializer(serializers.Serializer[Any]):
    target = BundleTargetSerializer()
    cases = serializers.ListField(child=serializers.CharField(), help_text="Ids.")


class OneBundle(APIView):
    scope = "results"

    @extend_schema(operation_id="get_bundle", responses={200: BundleSerializer, **REFUSED})
    def get(self, request: Request, target: str) -> Response:
        """Which cases a board needs to fill a target ("<device>.<runtime>") without a network."""
        return Response(load_bundle(target, device=token_device(request)))
