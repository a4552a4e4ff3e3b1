"""Template tags for what every page says the same way: levels, kinds, reasons, numbers."""

import re
from collections.abc import Mapping
from typing import Any

from django import template
from django.template.defaultfilters import filesizeformat
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext

from compat.runtimes import runtime_title as title_of_runtime
from probes.judge.words import LEVELS
from webui import device_words, drawings, glossary, table, words

RECORDED_TITLE = re.compile(r"(?P<device>.*) \(recorded sweep (?P<date>[\d-]+)\)")

register = template.Library()
for _drawing in (
    drawings.bar,
    drawings.tally,
    drawings.supports,
    drawings.samples,
    drawings.samples_text,
):
    register.simple_tag(_drawing)
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


@register.filter
def own_text(text: str) -> str:
    """A text of this program in the page's language; any other as it is."""
    return str(device_words.OWN_TEXTS.get(text, text))


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
