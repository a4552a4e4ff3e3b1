"""Reports: ask about a model file, and read the answer again by its token."""

from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from compat.api.problems import ProblemSerializer
from compat.models import Report
from compat.reports import ReportError, load_report, submit_model
from probes.judge.told import told_result

FORM_BYTES = 100_000  # what the other fields may add to the file


class ReportRequestSerializer(serializers.Serializer[Any]):
    """`target` may be repeated; without one every shown column is asked."""

    model = serializers.FileField()
    target = serializers.ListField(child=serializers.CharField(), required=False)
    keep = serializers.BooleanField(required=False)


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


class Reports(APIView):
    scope = "reports"
    parser_classes = [MultiPartParser]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """A body that is too large is refused before it is read."""
        super().initial(request, *args, **kwargs)
        size = int(request.META.get("CONTENT_LENGTH") or 0)
        if size > settings.UPLOAD_LIMIT_BYTES + FORM_BYTES:
            raise ReportError("too_large", "The file is too large to be read here.")

    @extend_schema(
        operation_id="create_report",
        request={"multipart/form-data": ReportRequestSerializer},
        responses={201: ReportSerializer, 400: ProblemSerializer, 422: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        """Which operators of a model are risky on the targets; the same question, one report."""
        file = request.FILES.get("model")
        if not isinstance(file, UploadedFile):
            raise ValidationError({"model": "Send an ONNX file in the field model."})
        form = QueryDict() if not isinstance(request.data, QueryDict) else request.data
        report = submit_model(
            file=file,
            file_name=file.name or "",
            target_names=form.getlist("target"),
            keep=form.get("keep", "").lower() in ("1", "true", "yes", "on"),
        )
        return Response(report_document(request, report), status=201)


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
