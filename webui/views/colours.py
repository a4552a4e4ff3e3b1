"""The three-colour list: what is safe on all chosen targets, as a page and as CSV."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from compat.columns import ColumnHead, load_heads
from compat.three_colours import ThreeColour, load_three_colours, three_colours_csv
from webui.columns import group_columns
from webui.words import LEVEL_ORDER, sentence


def colours(request: HttpRequest) -> HttpResponse:
    heads = load_heads()
    chosen = _chosen(request, heads)
    lines = [_line(line, heads) for line in load_three_colours(chosen)]
    context = {
        "classes": group_columns(heads, chosen),
        "chosen": chosen,
        "narrowed": len(chosen) < len(heads),
        "groups": [(lv, [line for line in lines if line["level"] == lv]) for lv in LEVEL_ORDER],
    }
    return render(request, "webui/colours.html", context)


def colours_file(request: HttpRequest) -> StreamingHttpResponse:
    lines = load_three_colours(_chosen(request, load_heads()))
    body = three_colours_csv(lines, _sentences(lines))
    response = StreamingHttpResponse(body, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="opatlas-three-colours.csv"'
    return response


def _chosen(request: HttpRequest, heads: Sequence[ColumnHead]) -> list[str]:
    """The named columns that exist; all of them when none is named."""
    named = set(request.GET.getlist("column"))
    return [head.slug for head in heads if head.slug in named] or [head.slug for head in heads]


def _line(line: ThreeColour, heads: Sequence[ColumnHead]) -> dict[str, Any]:
    head = next(head for head in heads if head.slug == line.column_slug)
    text = sentence(line.reason_code, line.reason_params)
    return asdict(line) | {"head": head, "text": text, "more": line.columns_at_level - 1}


def _sentences(lines: Sequence[ThreeColour]) -> list[str]:
    return [sentence(line.reason_code, line.reason_params) for line in lines]
