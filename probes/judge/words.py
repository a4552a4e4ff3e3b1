"""The words and symbols of a verdict: a level, a kind, a rung, a form or a stage is a row here."""

from collections.abc import Callable, Mapping
from typing import NamedTuple


def gettext_noop(text: str) -> str:
    """Marks a text for xgettext and babel; the pages translate it when they show it."""
    return text


class LevelRow(NamedTuple):
    symbol: str
    word: str
    rank: int  # how bad; unknown is kept apart and has rank 0


class RungRow(NamedTuple):
    word: str
    confidence: str


LEVELS: dict[str, LevelRow] = {
    "green": LevelRow("✓", gettext_noop("works"), 1),
    "yellow": LevelRow("!", gettext_noop("works with limits"), 2),
    "red": LevelRow("✗", gettext_noop("does not work"), 3),
    "unknown": LevelRow("?", gettext_noop("not known"), 0),
}

KINDS: dict[str, str] = {
    "measured": gettext_noop("measured on the device"),
    "simulated": gettext_noop("simulated on a host"),
    "documented": gettext_noop("documented by the vendor"),
    "none": gettext_noop("no evidence"),
}

# Nearest first: how far the evidence is from the node that it is used for.
RUNGS: dict[str, RungRow] = {
    "exact": RungRow(gettext_noop("this very node"), gettext_noop("very high")),
    "class": RungRow(gettext_noop("the same form in another size"), gettext_noop("high")),
    "dtype": RungRow(gettext_noop("the operator in these data types"), gettext_noop("medium")),
    "operator": RungRow(gettext_noop("the operator in other forms"), gettext_noop("low")),
    "documented": RungRow(gettext_noop("the vendor's list"), gettext_noop("low")),
    "none": RungRow(gettext_noop("nothing near"), gettext_noop("none")),
}

FORMS: dict[str, str] = {
    "as_is": gettext_noop("as it is"),
    "restamped": gettext_noop("restamped to an older opset or IR version"),
    "constant": gettext_noop("constant inputs"),
    "static": gettext_noop("fixed shapes"),
    "defaults": gettext_noop("default attributes written out"),
    "cast": gettext_noop("Cast around it"),
}

STAGES: dict[str, str] = {
    "convert": gettext_noop("conversion"),
    "compile": gettext_noop("compilation"),
    "load": gettext_noop("loading"),
    "run": gettext_noop("running"),
    "compare": gettext_noop("comparison"),
    "": gettext_noop("an unrecorded stage"),
}

OUTCOMES: dict[str, str] = {
    "mismatch": gettext_noop("wrong values"),
    "wrong_shape": gettext_noop("wrong shape"),
    "rejected": gettext_noop("refused"),
    "run_error": gettext_noop("error while running"),
    "crashed": gettext_noop("crash"),
    "timed_out": gettext_noop("timed out"),
    "out_of_memory": gettext_noop("out of memory"),
}

# The parameters of a reason that hold a code instead of text, each with the table of its words.
WORD_TABLES: dict[str, dict[str, str]] = {
    "form": FORMS,
    "forms": FORMS,
    "stage": STAGES,
    "outcomes": OUTCOMES,
    "level": {code: row.word for code, row in LEVELS.items()},
    "kind": KINDS,
}


def joined_word(table: Mapping[str, str], code: str, translate: Callable[[str], str]) -> str:
    """The word of a code; of codes joined by "+", as forms are, the words joined likewise."""
    parts = [code] if code in table else code.split("+")
    return " + ".join(translate(table[part]) if part in table else part for part in parts)
