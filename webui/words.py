"""The words of the pages for codes that stand in the database: tables, translated when shown."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from probes.judge.reasons import ADVICE as ADVICE_SENTENCES
from probes.judge.reasons import Reason, render
from probes.judge.way_words import HELD, WAYS
from probes.judge.words import FORMS, KINDS, LEVELS, RUNGS, STAGES, joined_word
from probes.model.refusals import REFUSALS, WARNINGS
from webui.device_words import FACTS
from webui.device_words import Word as Word  # pages name the type by this module

LEVEL_ORDER = ("red", "yellow", "green", "unknown")
KIND_ORDER = ("measured", "simulated", "documented")

# One short word fits a cell of the matrix; the sentence stands in the legend.
SHORT_LEVELS: dict[str, Word] = {
    "green": _("works"),
    "yellow": _("limits"),
    "red": _("fails"),
    "unknown": _("unknown"),
}
# What nobody has run is not said to work or to fail: these words only repeat a document.
CLAIMED_SHORT_LEVELS: dict[str, Word] = {
    "green": _("listed"),
    "yellow": _("listed, limits"),
    "red": _("unsupported"),
}
CLAIMED_LEVELS: dict[str, Word] = {
    "green": _("listed as supported"),
    "yellow": _("listed with limits"),
    "red": _("listed as unsupported"),
}
ADVICE: dict[str, Word] = {
    "green": _("Safe on all chosen targets"),
    "yellow": _("Verify before you rely on it"),
    "red": _("Avoid"),
    "unknown": _("Nobody knows yet"),
}
FINDING_GROUPS: dict[str, Word] = {
    "red": _("Does not work"),
    "yellow": _("Works with limits"),
    "green": _("Works"),
    "unknown": _("Not known"),
}
CLAIMED_FINDING_GROUPS: dict[str, Word] = {
    "red": _("Listed as unsupported; nothing was run"),
    "yellow": _("Listed with limits; nothing was run"),
    "green": _("Listed as supported; nothing was run"),
}
EVIDENCE_GROUPS: dict[str, Word] = {
    "live": _("Measured"),
    "recorded": _("Measured, recorded elsewhere"),
    "claimed": _("Only claimed in documents"),
}
SHORT_KINDS: dict[str, Word] = {
    "measured": _("measured"),
    "simulated": _("simulated"),
    "documented": _("claimed"),
    "none": _("no evidence"),
}
CLAIM_LEVELS: dict[str, Word] = {
    "full": _("supported"),
    "partial": _("supported with limits"),
    "none": _("not supported"),
}
CLAIM_COLOURS = {"full": "green", "partial": "yellow", "none": "red"}
DEVICE_CLASSES: dict[str, Word] = {
    "jetson_orin": "Jetson Orin",
    "rk3588": "RK3588",
    "snapdragon_8_gen_2": _("Snapdragon 8 Gen 2"),
    "x86_gpu": _("x86 host with a GPU"),
    "x86_cpu": _("x86 CPU"),
}
OUTCOMES: dict[str, Word] = {
    "passed": _("passed"),
    "close": _("passed, inside the tolerance band"),
    "wrong_dtype": _("right values in a wrong data type"),
    "mismatch": _("wrong values"),
    "wrong_shape": _("wrong output shape"),
    "unstable": _("not repeatable"),
    "compiled": _("compiled, nothing run"),
    "rejected": _("refused"),
    "run_error": _("error while running"),
    "crashed": _("crashed"),
    "timed_out": _("timed out"),
    "out_of_memory": _("out of memory"),
    "unavailable": _("the runtime was not available"),
    "harness_error": _("error of the probing itself"),
    "lost_agent": _("the worker was lost"),
    "": _("waiting"),
}
FAULTS: dict[str, Word] = {
    "none": _("nobody's"),
    "runtime": _("the runtime's"),
    "harness": _("ours; it counts for nothing"),
}
SUPPORT_COLOURS = {"yes": "green", "reserved": "yellow", "no": "red", "none": "unknown"}
PLACEMENTS: dict[str, Word] = {
    "accelerator": _("on the intended unit"),
    "fallback": _("fell back to the CPU"),
    "mixed": _("partly on the CPU"),
    "unknown": _("the runtime does not say"),
    "": _("the runtime does not say"),
}
STATES: dict[str, Word] = {
    "queued": _("waiting"),
    "running": _("running"),
    "stopped": _("stopped"),
    "done": _("done"),
    "claimed": _("running"),
    "ready": _("ready"),
    "failed": _("failed"),
}
DEVICE_STATES: dict[str, Word] = {
    "online": _("online"),
    "offline": _("offline: its agent is not heard"),
    "maintenance": _("in maintenance: it gets no work"),
    "retired": _("retired"),
}
ORIGINS: dict[str, Word] = {
    "node": _("node test of ONNX"),
    "node-expanded": _("node test of ONNX, function body"),
    "mainstream": _("mainstream form"),
    "alternative": _("another way to compute it"),
    "variant": _("variant"),
    "pattern": _("pattern of several nodes"),
    "module": _("module of torch as it is exported"),
    "harvest": _("from a real model"),
    "local": _("probed on this machine"),
    "recorded": _("recorded elsewhere"),
    "registered": _("its agent reports"),
    "agent": _("by its agent"),
    "catalogue": _("from the catalogue"),
}
EXPORTERS: dict[str, Word] = {
    "torchscript": "torch.onnx.export(dynamo=False)",
    "dynamo": "torch.onnx.export(dynamo=True)",
}
AGREEMENTS: dict[str, Word] = {
    "both": _("both oracles agree"),
    "one": _("only one oracle agrees"),
    "disputed": _("the oracles give different answers, so another answer counts for nothing"),
    "none": _("no oracle agrees: the case counts for nothing"),
    "": _("not checked against a second oracle"),
}

OWN_REFUSALS: dict[str, Word] = {
    "no_room": _("There is no room for another upload here at the moment. Try again later."),
}

# Parameters of a refusal that hold words of this program: what a file is, what is counted.
OWN_PARAMS = ("found", "what")

_TABLES: dict[str, Mapping[str, Word]] = {
    "short": SHORT_LEVELS,
    "advice": ADVICE,
    "finding_group": FINDING_GROUPS,
    "claimed_finding_group": CLAIMED_FINDING_GROUPS,
    "evidence_group": EVIDENCE_GROUPS,
    "claimed_short": CLAIMED_SHORT_LEVELS,
    "claimed_level": CLAIMED_LEVELS,
    "kind": SHORT_KINDS,
    "claim": CLAIM_LEVELS,
    "device_class": DEVICE_CLASSES,
    "outcome": OUTCOMES,
    "fault": FAULTS,
    "placement": PLACEMENTS,
    "state": STATES,
    "device_state": DEVICE_STATES,
    "fact": FACTS,
    "origin": ORIGINS,
    "agreement": AGREEMENTS,
    "exporter": EXPORTERS,
}
# Tables of the engine hold plain English that is translated here.
_ENGINE_TABLES: dict[str, Mapping[str, str]] = {
    "level": {code: row.word for code, row in LEVELS.items()},
    "kinds": KINDS,
    "rung": {code: row.word for code, row in RUNGS.items()},
    "confidence": {code: row.confidence for code, row in RUNGS.items()},
    "form": FORMS,
    "stage": STAGES,
    "way": WAYS,
    "held": HELD,
}


def word(table: str, code: str) -> str:
    """The word for a code in the page's language; an unknown code is shown as it is."""
    if table in _ENGINE_TABLES:
        return joined_word(_ENGINE_TABLES[table], code, gettext)
    return str(_TABLES[table].get(code, code.replace("_", " ")))


def level_word(level: str, kind: str, *, short: bool = True) -> str:
    """The word for a level as its kind of evidence allows it: a claim neither works nor fails."""
    table = "short" if short else "level"
    if kind == "documented" and level in CLAIMED_SHORT_LEVELS:
        table = f"claimed_{table}"
    return word(table, level)


def sentence(code: str, params: Mapping[str, Any], *, promoted: bool = False) -> str:
    """A verdict's or finding's reason in the page's language.

    `promoted`: node tests stand in for a core that no form from a model makes up.
    """
    return render(Reason(code, params), _call_node_tests if promoted else gettext) if code else ""


def _call_node_tests(template: str) -> str:
    return gettext(template).replace(gettext("core cases"), gettext("node tests"))


def advice_sentence(reason: Mapping[str, Any] | None) -> str:
    """What to do about a finding, in the page's language."""
    if not reason:
        return ""
    return render(Reason(reason["code"], reason["params"]), gettext, ADVICE_SENTENCES)


def refusal(code: str, params: Mapping[str, Any], otherwise: str) -> str:
    """Why a model file is refused, in the page's language; `otherwise` for an unknown code."""
    template = REFUSALS.get(code) or OWN_REFUSALS.get(code)
    try:
        return gettext(str(template)) % _own_words(params) if template else otherwise
    except (KeyError, TypeError, ValueError):  # parameters of another version
        return otherwise


def _own_words(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that name something with words of ours are translated, a file's own are not."""
    found = {name: params.get(name) for name in OWN_PARAMS}
    return {**params, **{name: gettext(v) for name, v in found.items() if v and type(v) is str}}


def warning(document: Mapping[str, Any]) -> str:
    """What is odd about a model, in the page's language."""
    code, params = str(document.get("code", "")), document.get("params", {})
    template = WARNINGS.get(code)
    try:
        return gettext(template) % params if template else code.replace("_", " ")
    except (KeyError, TypeError, ValueError):
        return gettext(template or code)
