"""What QNN's own words mean: why a graph was refused, how much of it was taken, for which chip."""

from __future__ import annotations

import re
from typing import NamedTuple

from probes.run.outcome import MAX_MESSAGE

PROVIDER = "QNNExecutionProvider"
# The provider's verdict on one node unit: its operator, then, where it failed, the reason.
VERDICT = re.compile(
    r"Validation (?P<verdict>PASSED|FAILED) for (?P<nodes>\d+) nodes in OrtNodeUnit \("
    r"(?P<operator>[^)]*)\)(?:[^\[]*?REASON : (?P<reason>[^\n]*))?"
)
# The back end's own refusal comes just before the provider's verdict on the same node.
BACK_END = re.compile(r"backendValidateOpConfig\(\) failed for node .* with error code (\d+)")
DTYPE = re.compile(r"dataType=QNN_DATATYPE_(\w+)")
# What the provider says of a refusal that is not its own.
PASSED_ON = re.compile(r"Failed to (?:add|create) (?:[\w ]+ )?node\.")
# A graph is looked at in rounds, as functions are inlined, and in each round twice.
ROUND = re.compile(r"GetCapability pass 1\b")
PASS = re.compile(r"GetCapability pass \d+")
COLOUR = re.compile(r"\x1b\[[\d;]*m")
# Time, thread and place in the source: what is left is what was said.
PREFIX = re.compile(r"^\S+ \S+ \[([VIWEF]):[^\]]*\] ?")
ERROR_CODE = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ")
REPEATED = re.compile(r"\s*\w+ node `[^`]*` will not be assigned to QNN EP\.$")
# Said of every session, or of what was disabled on purpose.
IDLE = ("File mapped weights feature", "EPContext encryption config", "fallback to CPU EP has been",
        "Unable to get producer node", "Transpose optimizer failed",
        "ONNX Runtime only *guarantees* support", "Removing initializer",
        "Error merging shape info")  # fmt: skip
TELLING = ("REASON : ", "error code")
TARGET = {
    "soc": re.compile(rb"[;\x00]soc_type=(\w+);"),
    "arch": re.compile(rb";arch=(\d+);"),
    "relaxed_precision": re.compile(rb";relaxed_precision_flag=(\w+);"),
}
BUILD = re.compile(r"Backend build version: v?([\w.]+)")


class Verdict(NamedTuple):
    """What became of a node unit: the provider's reason; the back end's code and input types."""

    operator: str
    nodes: int
    passed: bool
    reason: str
    code: str = ""
    dtypes: str = ""


def verdicts(log: str) -> list[Verdict]:
    """The provider's verdicts on a graph's own nodes in a verbose log, in order."""
    matches = list(VERDICT.finditer(log))
    starts = [0, *(match.end() for match in matches)]
    return [
        _verdict(match, log[start : match.start()])
        for match, start in zip(matches, starts, strict=False)
        if not match["operator"].startswith(PROVIDER)  # a part of the graph that it took before
    ]


def _verdict(match: re.Match[str], before: str) -> Verdict:
    """`before`: what was said since the verdict on the unit before."""
    refused = BACK_END.search(before) if PASSED_ON.match(match["reason"] or "") else None
    return Verdict(
        operator=match["operator"],
        nodes=int(match["nodes"]),
        passed=match["verdict"] == "PASSED",
        reason=REPEATED.sub("", (match["reason"] or "").strip()),
        code=refused[1] if refused else "",
        dtypes=_dtypes(before) if refused else "",
    )


def _dtypes(before: str) -> str:
    """Types of the inputs of the node that was offered last, each once."""
    offered = before[before.rfind("node_inputs:") : before.rfind("node_outputs:")]
    return ", ".join(dict.fromkeys(DTYPE.findall(offered)))


def refusal(log: str, error: str) -> str:
    """First who does not take what and why, then the raw words, bounded."""
    beginning = "\n".join([_first_line(log, error), *_told(log)])
    return f"{beginning[: MAX_MESSAGE - len(error) - 1]}\n{error}"[:MAX_MESSAGE]


def _first_line(log: str, error: str) -> str:
    failed = [verdict for verdict in verdicts(log) if not verdict.passed]
    if failed:
        return _share(log) + _who(failed[0])
    lines = [*_told(log), *ERROR_CODE.sub("", error.strip()).splitlines(), "refused without a word"]
    who = "QNN" if "qnn" in f"{lines[0]} {error}".lower() else "ONNX Runtime"
    return f"{who}: {lines[0]}"


def _who(verdict: Verdict) -> str:
    if verdict.code:
        what = f"{verdict.operator} of {verdict.dtypes}" if verdict.dtypes else verdict.operator
        return f"The HTP back end does not take {what}: error {verdict.code}."
    return f"The QNN provider does not take {verdict.operator}: {verdict.reason}"


def _share(log: str) -> str:
    """How much of the graph was accepted in the end; "" where nothing was."""
    rounds = [verdicts(PASS.split(part)[-1]) for part in ROUND.split(log)]
    taken = sum(verdict.nodes for part in rounds for verdict in part if verdict.passed)
    left = sum(verdict.nodes for verdict in rounds[-1] if not verdict.passed)
    return f"{taken} of {taken + left} nodes on the HTP. " if taken else ""


def _told(log: str) -> list[str]:
    """Reasons, warnings and errors without their time and place, each once."""
    lines: dict[str, None] = {}
    for raw in COLOUR.sub("", log).splitlines():
        level = PREFIX.match(raw)
        line = PREFIX.sub("", raw).strip()
        loud = level is not None and level[1] in "WEF" and not any(mark in line for mark in IDLE)
        if loud or any(mark in raw for mark in TELLING):
            lines[line] = None
    return list(lines)


def target(binary: bytes) -> dict[str, str]:
    """Chip, architecture and arithmetic that a context binary was prepared for."""
    found = {name: pattern.search(binary) for name, pattern in TARGET.items()}
    return {name: match[1].decode() for name, match in found.items() if match}


def build(log: str) -> str:
    """Version of the back end library as it states it in a verbose log."""
    match = BUILD.search(log)
    return match[1] if match else ""
