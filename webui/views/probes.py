"""The evidence page of one probe, and its model as a file."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from compat.history import NotKnown, Reproducer, load_probe, load_reproducer, reproducer_zip
from probes.run.outcome import OUTCOMES
from webui.signatures import tensor_text

FAULTS = {outcome.value: row.fault.value for outcome, row in OUTCOMES.items()}


def probe(request: HttpRequest, probe_id: int) -> HttpResponse:
    try:
        page = load_probe(probe_id)
    except NotKnown as error:
        raise Http404(str(error)) from error
    context = {
        "page": page,
        "fault": FAULTS.get(page.outcome, ""),
        "inputs": [tensor_text(tensor) for tensor in page.case.signature.get("inputs", ())],
    }
    return render(request, "webui/probe.html", context)


def model_file(request: HttpRequest, probe_id: int) -> HttpResponse:
    """The exact model that the runtime was given."""
    found = _reproducer(probe_id)
    return _download(found.model, found.file_name, "application/octet-stream")


def archive(request: HttpRequest, probe_id: int) -> HttpResponse:
    """The model with its inputs and expected outputs."""
    found = _reproducer(probe_id)
    name = found.file_name.removesuffix(".onnx") + ".zip"
    return _download(reproducer_zip(found), name, "application/zip")


def _reproducer(probe_id: int) -> Reproducer:
    try:
        return load_reproducer(probe_id)
    except NotKnown as error:
        raise Http404(str(error)) from error


def _download(content: bytes, name: str, content_type: str) -> HttpResponse:
    response = HttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
