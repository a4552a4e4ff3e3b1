"""Template tags for what every page says the same way: levels, kinds, reasons, numbers."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.template.defaultfilters import filesizeformat
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext

from compat.runtimes import runtime_title as title_of_runtime
from probes.judge.words import LEVELS
from webui import glossary, table, words

SHOWN_SAMPLES = 200
BAR_ORDER = ("green", "yellow", "red", "unknown")
LEAST_SHARE = 1.5  # percent of a bar
RECORDED_TITLE = re.compile(r"(?P<device>.*) \(recorded sweep (?P<date>[\d-]+)\)")

register = template.Library()
register.filter("ms", table.milliseconds)
register.filter("size", filesizeformat)
register.filter("breakable", table.breakable)
register.filter("glossed", glossary.glossed)
register.filter("runtime_title", title_of_runtime)


@register.filter
def word(code: Any, table_name: str) -> str:
    """`{{ probe.outcome|word:"outcome" }}`: the word for a code."""
    return words.word(table_name, str(code or ""))


@register.filter
def reason(thing: Any) -> str:
    """The sentence of anything with reason_code and reason_params, or of a stored reason."""
    if hasattr(thing, "reason_code"):
        return words.sentence(thing.reason_code, thing.reason_params)
    if isinstance(thing, Mapping):
        return words.sentence(str(thing.get("code", "")), thing.get("params") or {})
    return ""


@register.filter
def ended(text: str) -> str:
    """A sentence with its full stop; one that trails off has its end already."""
    return text if text.endswith("…") else text + pgettext("end of a sentence", ".")


@register.filter
def tiny(value: float | None) -> str:
    """An error size: 0, 1.2e-07, 0.0031."""
    return "–" if value is None else f"{value:.2g}" if value else "0"


@register.simple_tag
def chip(level: str, kind: str = "measured", size: str = "") -> SafeString:
    """Symbol and word; measured is filled, simulated hollow, a claim hollow and dashed."""
    classes = (
        f"chip {table.LEVEL_CLASSES.get(level, 'u')} {table.KIND_CLASSES.get(kind, 'n')} {size}"
    )
    symbol = LEVELS[level].symbol if level in LEVELS else "?"
    return format_html(
        '<span class="{}"><span class="mark" aria-hidden="true">{}</span> {}</span>',
        classes.strip(),
        symbol,
        words.level_word(level, kind),
    )


@register.simple_tag
def level_text(level: str, kind: str) -> str:
    """The level in full: "does not work", or "listed as unsupported" where nothing was run."""
    return words.level_word(level, kind, short=False)


@register.simple_tag
def claim_chip(level: str) -> SafeString:
    """What a document says of an operator, hollow and dashed as a claim."""
    colour = words.CLAIM_COLOURS.get(level, "unknown")
    return format_html(
        '<span class="chip {} d"><span class="mark" aria-hidden="true">{}</span> {}</span>',
        table.LEVEL_CLASSES[colour],
        LEVELS[colour].symbol,
        words.word("claim", level),
    )


@register.simple_tag
def outcome_chip(outcome: str, support: str) -> SafeString:
    """How a probe ended, in the colour of what that says of the operator."""
    level = words.SUPPORT_COLOURS.get(support, "unknown")
    return format_html(
        '<span class="chip outcome {} s"><span class="mark" aria-hidden="true">{}</span> {}</span>',
        table.LEVEL_CLASSES[level],
        LEVELS[level].symbol,
        words.word("outcome", outcome),
    )


@register.simple_tag
def bar(counts: Mapping[str, int], claimed: bool = False) -> SafeString:
    """The shares of the levels as one line, paler for claims; the numbers stand beside it."""
    shares = [(level, counts[level]) for level in BAR_ORDER if counts.get(level)]
    total = sum(count for _, count in shares) or 1
    # Nothing that is there may be too thin to be seen.
    widths = [max(100 * count / total, LEAST_SHARE) for _, count in shares]
    scale = 100 / sum(widths, start=0.0) if widths else 1
    rects = format_html_join(
        "",
        '<rect class="{}" x="{}" width="{}" height="6"/>',
        (
            (
                table.LEVEL_CLASSES[level],
                f"{sum(widths[:place]) * scale:.1f}",
                f"{widths[place] * scale:.1f}",
            )
            for place, (level, _) in enumerate(shares)
        ),
    )
    return format_html(
        '<svg class="{}" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        "{}</svg>",
        "bar pale" if claimed else "bar",
        rects,
    )


@register.simple_tag
def tally(counts: Mapping[str, int], claimed: bool = False) -> SafeString:
    """The counts with their symbols, the words for screen readers."""
    kind = "documented" if claimed else "measured"
    parts = (
        (
            table.LEVEL_CLASSES[level],
            LEVELS[level].symbol if level != "unknown" else "·",
            counts[level],
            words.level_word(level, kind),
        )
        for level in BAR_ORDER
        if counts.get(level)
    )
    return format_html(
        '<span class="tally">{}</span>',
        format_html_join(
            " ",
            '<span class="{}"><span aria-hidden="true">{}</span> {}'
            '<span class="sr"> {}</span></span>',
            parts,
        ),
    )


@register.simple_tag
def supports(counts: Mapping[str, int]) -> SafeString:
    """How many probes passed, passed with a reservation, failed, counted for nothing."""
    return tally({words.SUPPORT_COLOURS[code]: count for code, count in counts.items()})


@register.simple_tag
def samples(values: Sequence[float]) -> SafeString:
    """Latency samples in the order in which they were taken, as a small picture."""
    taken = [float(value) for value in values[:SHOWN_SAMPLES]]
    top = max(taken, default=0) or 1
    width = 300 / max(len(taken), 1)
    bars = format_html_join(
        "",
        '<rect x="{}" y="{}" width="{}" height="{}"/>',
        (
            (
                f"{i * width:.1f}",
                f"{40 - 40 * v / top:.1f}",
                f"{width * 0.8:.1f}",
                f"{40 * v / top:.1f}",
            )
            for i, v in enumerate(taken)
        ),
    )
    return format_html(
        '<svg class="samples" viewBox="0 0 300 40" preserveAspectRatio="none" role="img" '
        'aria-label="{}">{}</svg>',
        samples_text(taken),
        bars,
    )


@register.simple_tag
def samples_text(values: Sequence[float]) -> str:
    """How many samples the picture shows and between which times they lie."""
    taken = [float(value) for value in values[:SHOWN_SAMPLES]]
    return gettext("%(n)s samples, from %(low)s to %(high)s (the tallest bar).") % {
        "n": len(taken),
        "low": table.milliseconds(min(taken, default=0)),
        "high": table.milliseconds(max(taken, default=0)),
    }


@register.filter
def own_text(text: str) -> str:
    """A text of this program in the page's language; any other as it is."""
    return str(words.OWN_TEXTS.get(text, text))


@register.filter
def device_title(title: str) -> str:
    """A device's title in the page's language, as far as OpAtlas has made it."""
    found = RECORDED_TITLE.fullmatch(title)
    if found is None:
        return title
    return gettext("%(device)s (recorded sweep %(date)s)") % found.groupdict()


@register.filter
def duration(seconds: float | None) -> str:
    """Roughly: 40 s, 5 min, 2 h."""
    left = seconds or 0
    if left < 90:
        return f"{left:.0f} s"
    return f"{left / 60:.0f} min" if left < 5400 else f"{left / 3600:.1f} h"


@register.filter
def plain(value: Any) -> str:
    """A fact as people write it: lists and mappings on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {plain(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value))
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    return f"{value:g}" if isinstance(value, float) else str(value)


@register.filter
def at(mapping: Mapping[str, Any], key: str) -> Any:
    """`{{ counts|at:level }}`"""
    return mapping.get(key, "")


@register.filter
def level_class(level: str) -> str:
    return table.LEVEL_CLASSES.get(level, "u")


@register.simple_tag
def yes_no(value: bool | None) -> str:
    """Yes, no, or a dash where it is not known."""
    return {True: gettext("yes"), False: gettext("no"), None: "–"}[value]


@register.simple_tag(takes_context=True)
def theme(context: template.Context) -> str:
    """The chosen theme: "light", "dark", or "" to follow the system."""
    request = context.get("request")
    chosen = request.COOKIES.get("theme", "") if request else ""
    return chosen if chosen in ("light", "dark") else ""


@register.simple_tag(takes_context=True)
def here(context: template.Context, *names: str) -> str:
    """`aria-current` of a navigation link, when the page is one of the named."""
    match = getattr(context.get("request"), "resolver_match", None)
    return "page" if match and match.url_name in names else ""
