"""What is measured, what is only claimed, and how the colours come about."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from probes.judge.words import RUNGS
from probes.run.outcome import OUTCOMES
from webui.glossary import GLOSSARY


def about(request: HttpRequest) -> HttpResponse:
    outcomes = [(code.value, row.support, row.fault.value) for code, row in OUTCOMES.items()]
    context = {"rungs": RUNGS, "outcomes": outcomes, "glossary": GLOSSARY}
    return render(request, "webui/about.html", context)
