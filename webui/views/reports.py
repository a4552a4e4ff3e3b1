"""Checking a model: the upload, and the report behind its unguessable link."""

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from compat.columns import load_heads
from compat.rates import upload_wait_s
from compat.reports import KEEP, ReportError, delete_report, load_report, submit_model
from compat.targets import TargetError
from webui.columns import group_columns
from webui.findings import read_report
from webui.words import refusal

FORM_BYTES = 100_000  # what the form's other fields may add to the file


@csrf_exempt  # the inner view checks the token; a body that is too large is refused before it
def upload(request: HttpRequest) -> HttpResponse:
    size = int(request.META.get("CONTENT_LENGTH") or 0)
    if request.method == "POST" and size > settings.UPLOAD_LIMIT_BYTES + FORM_BYTES:
        return _form(request, error=_("The file is too large to be read here."), sent=False)
    if request.method == "POST" and (seconds := upload_wait_s(request)):
        error = _("Too many files in a short time: try again in %(seconds)s s.")
        page = _form(request, error=error % {"seconds": seconds}, sent=False)
        page.status_code = 429
        page["Retry-After"] = str(seconds)
        return page
    return _upload(request)


@csrf_protect
def _upload(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _form(request)
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile):
        return _form(request, error=_("Choose an ONNX file first."))
    try:
        report = submit_model(
            file=file,
            file_name=file.name or "",
            target_names=request.POST.getlist("target"),
            keep="keep" in request.POST,
        )
    except ReportError as error:
        return _form(request, error=refusal(error.code, getattr(error, "params", {}), str(error)))
    except TargetError as error:
        return _form(request, error=str(error))
    return redirect("webui:report", report.token)


def report(request: HttpRequest, token: str) -> HttpResponse:
    found = load_report(token)
    if found is None:
        raise Http404("There is no report at this address.")
    page = read_report(found, request.GET.get("target", ""))
    response = render(request, "webui/report.html", {"report": found, "page": page})
    response["Cache-Control"] = "private, no-store"
    response["X-Robots-Tag"] = "noindex"
    return response


@require_POST
def delete(request: HttpRequest, token: str) -> HttpResponse:
    """Whoever has the link may delete what is behind it."""
    if not delete_report(token):
        raise Http404("There is no report at this address.")
    messages.success(request, _("The report is deleted, and so is its file if it was kept."))
    return redirect("webui:report_new")


def _form(request: HttpRequest, error: str = "", sent: bool = True) -> HttpResponse:
    """The form, with what was chosen; `sent`: whether the request's body may be read."""
    fields = request.POST if sent and request.method == "POST" else request.GET
    context = {
        "classes": group_columns(load_heads(hidden=True), fields.getlist("target")),
        "keep": "keep" in fields,
        "keep_days": KEEP.days,
        "limit": settings.UPLOAD_LIMIT_BYTES,
        "error": error,
    }
    return render(request, "webui/upload.html", context, status=422 if error else 200)
