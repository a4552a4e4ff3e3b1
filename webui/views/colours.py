"""The three-colour list: what is safe on all chosen targets, as a page and as CSV."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import gettext as _

from compat.columns import ColumnHead, default_heads, load_heads
from compat.history import CellName, load_recommended
from compat.operators import OperatorName, with_core
from compat.three_colours import ThreeColour, load_three_colours, three_colours_csv
from webui.columns import group_by_evidence
from webui.ways import way_text
from webui.words import LEVEL_ORDER, sentence

KINDS = ("measured", "simulated", "documented", "none")


class Choice(NamedTuple):
    """The columns to compare, and the names in the address that no column has."""

    heads: list[ColumnHead]
    unknown: list[str]
    is_default: bool

    @property
    def slugs(self) -> list[str]:
        return [head.slug for head in self.heads]

    @property
    def error(self) -> str:
        names = ", ".join(self.unknown)
        return _("There is no target of this name: %(names)s.") % {"names": names}


def colours(request: HttpRequest) -> HttpResponse:
    heads = load_heads(hidden=True)
    choice = _choose(request, heads)
    lines = [] if choice.unknown else _lines(choice, heads)
    context = {
        "choice": choice,
        "classes": group_by_evidence(heads, choice.slugs),
        "groups": [_group(level, lines) for level in LEVEL_ORDER],
    }
    return render(request, "webui/colours.html", context, status=404 if choice.unknown else 200)


def colours_file(request: HttpRequest) -> HttpResponseBase:
    """Codes and English sentences in every language of the pages: programs read them too."""
    choice = _choose(request, load_heads(hidden=True))
    if choice.unknown:
        return HttpResponse(choice.error + "\n", "text/plain; charset=utf-8", status=404)
    lines = _load(choice)
    core, ways = with_core(), load_recommended([_cell_of(line) for line in lines])
    with translation.override("en"):
        sentences = [_sentence(line, core) for line in lines]
        instead = [way_text(ways.get(_cell_of(line))) for line in lines]
    body = three_colours_csv(lines, sentences, instead)
    response = StreamingHttpResponse(body, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="opatlas-three-colours.csv"'
    return response


def _choose(request: HttpRequest, heads: Sequence[ColumnHead]) -> Choice:
    named = set(request.GET.getlist("column"))
    if not named:
        return Choice(default_heads(heads), [], True)
    chosen = [head for head in heads if head.slug in named]
    return Choice(chosen, sorted(named - {head.slug for head in chosen}), False)


def _load(choice: Choice) -> list[ThreeColour]:
    return load_three_colours(choice.slugs) if choice.heads else []


def _lines(choice: Choice, heads: Sequence[ColumnHead]) -> list[dict[str, Any]]:
    core, by_slug = with_core(), {head.slug: head for head in heads}
    lines = _load(choice)
    ways = load_recommended([_cell_of(line) for line in lines])
    return [
        asdict(line)
        | {
            "head": by_slug[line.column_slug],
            "text": _sentence(line, core),
            "more": line.columns_at_level - 1,
            "way": ways.get(_cell_of(line)),
            "instead": way_text(ways.get(_cell_of(line))),
        }
        for line in lines
    ]


def _cell_of(line: ThreeColour) -> CellName:
    return line.domain, line.name, line.column_slug


def _sentence(line: ThreeColour, core: Collection[OperatorName]) -> str:
    promoted = (line.domain, line.name) not in core
    return sentence(line.reason_code, line.reason_params, promoted=promoted)


def _group(level: str, lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The operators of a level, those that were measured before those that are claimed."""
    found = [line for line in lines if line["level"] == level]
    found.sort(key=lambda line: KINDS.index(line["kind"]))
    counts = Counter(line["kind"] for line in found)
    return {
        "level": level,
        "count": len(found),
        "kinds": [(kind, counts[kind]) for kind in KINDS if counts[kind]],
        "parts": [(kind, list(part)) for kind, part in groupby(found, itemgetter("kind"))],
    }
