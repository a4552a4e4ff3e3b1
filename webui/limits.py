"""Limits in sentences: how far a parameter works, and what its neighbour does instead."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from compat.history import LimitEdge, LimitProbe, LimitView, ParameterLimit
from webui.words import Word

PARAMETERS: dict[str, Word] = {
    "kernel": _("kernel"),
    "stride": _("stride"),
    "dilation": _("dilation"),
    "pad": _("pad"),
    "channels": _("channels"),
    "depthwise channels": _("channels, depthwise"),
    "filters": _("filters"),
    "height": _("height"),
    "width": _("width"),
    "side": _("height and width"),
    "batch": _("batch"),
    "rank": _("rank"),
    "length": _("length"),
    "inner length": _("inner length"),
    "rows": _("rows"),
    "columns": _("columns"),
    "steps": _("steps in time"),
    "hidden size": _("hidden size"),
    "k": "k",
    "inputs": _("number of inputs"),
    "outputs": _("number of outputs"),
    "picked": _("number of indices"),
    "step": _("step"),
    "nearest scale": _("scale, nearest"),
    "linear scale": _("scale, linear"),
    "block": _("block size"),
}
# What the first value beyond a limit does.
FAILS: dict[str, Word] = {
    "mismatch": _("gives wrong values"),
    "wrong_shape": _("gives a wrong shape"),
    "rejected": _("is refused"),
    "run_error": _("fails while it runs"),
    "crashed": _("crashes"),
    "timed_out": _("takes too long"),
    "out_of_memory": _("runs out of memory"),
}
RUNS: dict[str, Word] = {
    "cpu": _("runs on the CPU instead"),
    "partly": _("runs partly on the CPU"),
}
# With a limit, then without one, then where not even the usual value works.
ENDS: Mapping[str, tuple[Word, Word, Word]] = {
    "largest": (
        _("Up to %(worked)s works, %(failed)s %(fails)s"),
        _("no limit found up to %(last)s"),
        _("%(failed)s, where the search begins, %(fails)s"),
    ),
    "smallest": (
        _("Down to %(worked)s works, %(failed)s %(fails)s"),
        _("no limit found down to %(last)s"),
        _("%(failed)s, where the search begins, %(fails)s"),
    ),
}
FIRST_LINE = 200


class EndLine(NamedTuple):
    """`reason` is the runtime's own; `again` tells of values beyond that work all the same."""

    text: str
    reason: str
    again: str
    is_limit: bool


class LimitLine(NamedTuple):
    """`place`: where it runs when it works, if that is not where it should."""

    title: str
    place: str
    ends: list[EndLine]
    documented: tuple[str, ...]


class LimitBlock(NamedTuple):
    """The limits of an operator on one target; `unlimited` are the other parameters, on a line."""

    view: LimitView
    lines: list[LimitLine]
    unlimited: list[str]
    works: list[str]  # data types
    refused: list[str]


def block_of(view: LimitView) -> LimitBlock:
    """What a page shows of one target."""
    telling = [each for each in view.parameters if _is_limited(each) or each.documented]
    return LimitBlock(
        view,
        lines=[_line(each) for each in sorted(telling, key=lambda each: not _is_limited(each))],
        unlimited=[_unlimited(each) for each in view.parameters if each not in telling],
        works=[each.dtype for each in view.dtypes if each.works],
        refused=[each.dtype for each in view.dtypes if not each.works],
    )


def _is_limited(found: ParameterLimit) -> bool:
    return bool(found.largest.failed or found.smallest.failed)


def _unlimited(found: ParameterLimit) -> str:
    """Such as "stride 1–128"."""
    line = _line(found)
    place = f" ({line.place})" if line.place else ""
    return f"{line.title} {found.least}–{found.most}{place}"


def _line(found: ParameterLimit) -> LimitLine:
    title = str(PARAMETERS.get(found.parameter, found.parameter))
    worked = found.largest.worked
    place = str(RUNS.get(worked.runs, "")) if worked else ""
    return LimitLine(title, place, list(_ends(found)), found.documented)


def _ends(found: ParameterLimit) -> Iterator[EndLine]:
    """The upper end first; the lower one where there is one, and a search began."""
    yield _end("largest", found.largest, found.most)
    if found.smallest.worked is not None and found.least < found.usual:
        yield _end("smallest", found.smallest, found.least)


def _end(name: str, edge: LimitEdge, last: int) -> EndLine:
    with_limit, without, never = ENDS[name]
    failed = edge.failed
    if failed is None:
        return EndLine(str(without) % {"last": last}, "", "", is_limit=False)
    values = {
        "worked": edge.worked.value if edge.worked else "",
        "failed": failed.value,
        "fails": _fails(failed),
    }
    text = str(with_limit if edge.worked else never) % values
    return EndLine(text, _reason(failed), _again(edge), is_limit=True)


def _fails(probe: LimitProbe) -> str:
    return str(FAILS.get(probe.outcome) or RUNS.get(probe.runs) or probe.outcome)


def _reason(probe: LimitProbe) -> str:
    """The first line of the runtime's words, or which layers went where."""
    text = probe.message if probe.outcome in FAILS else probe.placement_detail
    line = text.strip().partition("\n")[0]
    return line if len(line) <= FIRST_LINE else line[:FIRST_LINE].rstrip() + "…"


def _again(edge: LimitEdge) -> str:
    if not edge.again:
        return ""
    values = ", ".join(map(str, edge.again))
    return gettext("There is more than one limit: beyond it %(values)s work again.") % {
        "values": values
    }
