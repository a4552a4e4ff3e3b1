"""The page of one operator: its cell in every column and its cases."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from compat.history import NotKnown, load_operator


def operator(request: HttpRequest, domain: str, name: str) -> HttpResponse:
    try:
        page = load_operator(domain, name)
    except NotKnown as error:
        raise Http404(str(error)) from error
    return render(request, "webui/operator.html", {"page": page})
