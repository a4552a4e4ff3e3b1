"""Small pictures and counts: the shares of levels as a bar, latency samples as a row of bars."""

from collections.abc import Mapping, Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from probes.judge.words import LEVELS
from webui import table, words

SHOWN_SAMPLES = 200
BAR_ORDER = ("green", "yellow", "red", "unknown")
LEAST_SHARE = 1.5  # percent of a bar


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


def supports(counts: Mapping[str, int]) -> SafeString:
    """How many probes passed, passed with a reservation, failed, counted for nothing."""
    return tally({words.SUPPORT_COLOURS[code]: count for code, count in counts.items()})


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


def samples_text(values: Sequence[float]) -> str:
    """How many samples the picture shows and between which times they lie."""
    taken = [float(value) for value in values[:SHOWN_SAMPLES]]
    return gettext("%(n)s samples, from %(low)s to %(high)s (the tallest bar).") % {
        "n": len(taken),
        "low": table.milliseconds(min(taken, default=0)),
        "high": table.milliseconds(max(taken, default=0)),
    }
