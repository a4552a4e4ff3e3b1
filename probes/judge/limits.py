"""Which words of a document speak of a parameter whose limit is searched."""

from __future__ import annotations

import re

# Parameter of probes.cases.limits -> the words by which lists of vendors mean it.
WORDS: dict[str, str] = {
    "kernel": r"kernel",
    "stride": r"stride",
    "dilation": r"dilat",
    "pad": r"\bpad",
    "channels": r"channel",
    "depthwise channels": r"group|depthwise",
    "filters": r"output channel|filter|\bW\b",
    "height": r"height|width|spatial|\bH\b",
    "width": r"height|width|spatial|\bW\b",
    "side": r"height|width|spatial",
    "batch": r"batch",
    "rank": r"\brank|\b\d-?d\b|dimension|\bdims?\b",
    "length": r"axis|axes|length|dimension size",
    "inner length": r"\bK\b|inner|reduction",
    "rows": r"\brows?\b",
    "columns": r"column",
    "steps": r"sequence|time step",
    "hidden size": r"hidden",
    "k": r"\bk\b",
    "inputs": r"\binputs?\b.*\b\d",
    "outputs": r"\boutputs?\b.*\b\d|num_outputs",
    "picked": r"indices",
    "step": r"\bsteps?\b",
    "nearest scale": r"scale|nearest",
    "linear scale": r"scale|linear",
    "block": r"block",
}


PARTS = re.compile(r"(?<=[.;])\s+|\n+")


def spoken(restriction: str, parameter: str) -> str:
    """Those parts of a documented restriction that speak of this parameter; "" where none does."""
    words = WORDS.get(parameter)
    if not words:
        return ""
    parts = (part.strip() for part in PARTS.split(restriction))
    return " ".join(part for part in parts if re.search(words, part, re.IGNORECASE))
