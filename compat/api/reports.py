"""Reports: ask about a model file or its facts, and read the answer again by its token."""

from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from compat.api.parsers import FactsJson
from compat.api.problems import ProblemSerializer
from compat.models import Report
from compat.reports import (
    Answer,
    ReportError,
    answer_facts,
    answer_model,
    delete_report,
    load_report,
)
from probes.judge.told import told_result

FORM_BYTES = 100_000  # what the other fields may add to the file


class ReportRequestSerializer(serializers.Serializer[Any]):
    """`target` may be repeated; without one every shown column is asked."""

    model = serializers.FileField()
    target = serializers.ListField(child=serializers.CharField(), required=False)
    keep = serializers.BooleanField(required=False)


class FactsRequestSerializer(serializers.Serializer[Any]):
    """`facts`: the document that `python -m probes check` makes; no weights are in it."""

    facts = serializers.DictField()
    targets = serializers.ListField(
        child=serializers.CharField(max_length=260), max_length=200, required=False
    )
    file_name = serializers.CharField(max_length=1000, required=False, allow_blank=True)


class ReasonSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    params = serializers.DictField()


class FindingSerializer(serializers.Serializer[Any]):
    """A group of nodes with one signature, or (without nodes) the whole model."""

    level = serializers.CharField()
    kind = serializers.CharField()
    rung = serializers.CharField(help_text="How near the evidence is to the node.")
    confidence = serializers.CharField()
    operator = serializers.ListField(child=serializers.CharField(), help_text="Domain, name.")
    reason = ReasonSerializer()
    detail = ReasonSerializer(allow_null=True)
    advice = ReasonSerializer(allow_null=True)
    text = serializers.CharField()
    detail_text = serializers.CharField()
    advice_text = serializers.CharField()
    nodes = serializers.ListField(child=serializers.IntegerField())
    node_names = serializers.ListField(child=serializers.CharField())
    signature = serializers.IntegerField(allow_null=True)
    group = serializers.CharField()
    evidence_ref = serializers.JSONField(allow_null=True, help_text="A probe's number, or a claim.")
    contradiction = serializers.BooleanField()


class TargetResultSerializer(serializers.Serializer[Any]):
    """`level` is the worst known one; `totals` counts nodes, unknown ones apart."""

    schema = serializers.IntegerField()
    id = serializers.CharField()
    column = serializers.CharField()
    runtime = serializers.CharField()
    level = serializers.CharField()
    totals = serializers.DictField(child=serializers.IntegerField())
    findings = FindingSerializer(many=True)


class ReportSerializer(serializers.Serializer[Any]):
    token = serializers.CharField()
    page = serializers.CharField(help_text="Where people read it.")
    state = serializers.CharField()
    file_name = serializers.CharField()
    created_at = serializers.DateTimeField()
    kept_until = serializers.DateTimeField(allow_null=True)
    model = serializers.DictField()
    warnings = serializers.ListField(child=serializers.DictField())
    targets = TargetResultSerializer(many=True)


LOCATION = OpenApiParameter(
    "Location",
    OpenApiTypes.URI,
    OpenApiParameter.HEADER,
    description="Where the report can be read again.",
    response=[200, 202],
)


class Reports(APIView):
    scope = "reports"
    parser_classes = [MultiPartParser, FactsJson]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """A body that is too large is refused before it is read."""
        super().initial(request, *args, **kwargs)
        size = int(request.META.get("CONTENT_LENGTH") or 0)
        if size > settings.UPLOAD_LIMIT_BYTES + FORM_BYTES:
            raise ReportError("too_large", "The file is too large to be read here.")

    @extend_schema(
        operation_id="create_report",
        parameters=[LOCATION],
        request={
            "multipart/form-data": ReportRequestSerializer,
            "application/json": FactsRequestSerializer,
        },
        responses={
            200: OpenApiResponse(ReportSerializer, "The question was asked before."),
            202: OpenApiResponse(ReportSerializer, "A new report; `state` says whether it waits."),
            422: ProblemSerializer,
        },
    )
    def post(self, request: Request) -> Response:
        """Which operators of a model are risky on the targets; the same question, one report."""
        data = request.data
        form = data if isinstance(data, QueryDict) else None
        answer = _from_facts(data) if form is None else _from_form(request, form)
        response = Response(
            report_document(request, answer.report), status=202 if answer.is_new else 200
        )
        address = reverse("api:report", args=[answer.report.token])
        response["Location"] = request.build_absolute_uri(address)
        return response


def _from_form(request: Request, form: QueryDict) -> Answer:
    file = request.FILES.get("model")
    if not isinstance(file, UploadedFile):
        raise ValidationError({"model": "Send an ONNX file in the field model."})
    return answer_model(
        file=file,
        file_name=file.name or "",
        target_names=form.getlist("target"),
        keep=form.get("keep", "").lower() in ("1", "true", "yes", "on"),
    )


def _from_facts(data: Any) -> Answer:
    asked = FactsRequestSerializer(data=data)
    asked.is_valid(raise_exception=True)
    return answer_facts(
        facts=asked.validated_data["facts"],
        file_name=asked.validated_data.get("file_name", ""),
        target_names=asked.validated_data.get("targets", []),
    )


class OneReport(APIView):
    scope = "reports"

    @extend_schema(
        operation_id="get_report", responses={200: ReportSerializer, 404: ProblemSerializer}
    )
    def get(self, request: Request, token: str) -> Response:
        """A report by its token."""
        report = load_report(token)
        if report is None:
            raise NotFound("There is no report with this token.")
        response = Response(report_document(request, report))
        response["Cache-Control"] = "private, no-store"
        return response

    @extend_schema(operation_id="delete_report", responses={204: None, 404: ProblemSerializer})
    def delete(self, request: Request, token: str) -> Response:
        """Delete a report, and its file if it was kept; whoever has its token may."""
        if not delete_report(token):
            raise NotFound("There is no report with this token.")
        return Response(status=204)


def report_document(request: Request, report: Report) -> dict[str, Any]:
    facts = report.facts or {"nodes": []}
    return {
        "token": report.token,
        "page": request.build_absolute_uri(reverse("webui:report", args=[report.token])),
        "state": report.state,
        "file_name": report.file_name,
        "created_at": report.created_at,
        "kept_until": report.kept_until,
        "model": facts.get("model", {}),
        "warnings": facts.get("warnings", []),
        "targets": [told_result(result, facts) for result in report.results],
    }
