"""What rknn-toolkit2 prints and raises: where each layer went, and what was wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from probes.run.outcome import Placement

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# "D RKNN: [20:41:26.914] 1    Conv    FLOAT16  NPU    (1,16,32,32) ...", in the layer table only.
ROW = re.compile(r"D RKNN: (?:\[[\d:.]+\])? *\d+ +(\w+) +\w+ +(NPU|CPU|GPU) ")
EDGES = ("InputOperator", "OutputOperator")
# Nine tenths of the log: pass by pass, rulers, progress bars, addresses, what we left unset.
NOISE = re.compile(
    r"D RKNN: .*(?:>>>>>> start|<<<<<<<< end|-{9}|Export RKNN model|Tensor Information Table"
    r"|\| +(?:0x|\[Start))|I? ?\w+ : +\d+%\||D *$|W .*config\.(?:mean|std)_values is None"
)
# When and where on this machine: neither belongs to a result.
WHEN = re.compile(r"(?<=RKNN: )\[[\d:.]+\] |^\d{4}-\d\d-\d\d [\d:.]+ ", re.MULTILINE)
WHERE = re.compile(r"/[^\s\"']*/site-packages/")
FRAME = re.compile(r'\s+(?:File ".*", line \d+|\^+\s*$)')
TRACEBACK = "Traceback (most recent call last):"
NAMED = re.compile(r"(?:[\w.]+\.)?(\w*(?:Error|Exception|Fail|Argument|Graph|Implemented)): *(.*)")
# Every "E" line of the toolkit that stands beside the reason, or in logs of models that pass.
ASIDES = re.compile(r"rknn-toolkit2 version|Unkown op target|Traceback \(most recent|\s*$")
ERROR = re.compile(r"E (?:RKNN: \[[\d:.]+\] |\w+: )?(.*)")
# inference() checks what it is fed before anything runs: these complaints are about us.
FED_WRONG = ("Unsupport inputs[", "Inputs are invalid", "The input(ndarray) shape",
             "The input shape (")  # fmt: skip
# init_runtime() of a board that nobody can reach: no word about the model.
UNREACHABLE = ("Get board target failed", "no devices", "device offline", "unauthorized",
               "device not found")  # fmt: skip
SHOWN = 60  # operators in a placement's text


def layers(log: str) -> list[tuple[str, str]]:
    """(operator, "NPU" | "CPU" | "GPU") of each layer of the verbose table, without the graph's
    edges."""
    rows = (ROW.match(line) for line in COLOUR.sub("", log).splitlines())
    return [(row[1], row[2]) for row in rows if row and row[1] not in EDGES]


def placement(found: Sequence[tuple[str, str]]) -> tuple[Placement, str]:
    """Where the layers are, and each operator with its unit: "Conv:NPU GridSample:CPU"."""
    units = {unit for _, unit in found}
    counts = Counter(f"{operator}:{unit}" for operator, unit in found)
    texts = [name if count == 1 else f"{name} x{count}" for name, count in counts.items()]
    if len(texts) > SHOWN:
        texts[SHOWN:] = [f"and {len(texts) - SHOWN} more"]
    if not units:
        return Placement.UNKNOWN, ""
    if units == {"NPU"}:
        return Placement.ACCELERATOR, " ".join(texts)
    return Placement.MIXED if "NPU" in units else Placement.FALLBACK, " ".join(texts)


def telling(log: str) -> str:
    """The log without colours, times and paths, and without the lines that every model has."""
    lines = COLOUR.sub("", log).replace("\r", "\n").splitlines()
    kept = "".join(f"{line}\n" for line in lines if line.strip() and not NOISE.match(line))
    return WHERE.sub("", WHEN.sub("", kept))


def message(raised: str, log: str) -> str:
    """What is wrong on the first line, then the toolkit's words: what it raised, or the lines of
    its log that are marked as errors."""
    said = complaints(log)
    first = reason(raised) or next(iter(said), "") or "The toolkit gave no reason."
    raw = COLOUR.sub("", raised).strip() or "\n".join(said)
    return WHERE.sub("", f"{first}\n{raw}").rstrip()


def reason(raised: str) -> str:
    """The last exception of a traceback on one line; its type where it is not the toolkit's own."""
    lines = COLOUR.sub("", raised).strip().splitlines()
    inside = [i for i, line in enumerate(lines) if FRAME.match(line) or line == TRACEBACK]
    after = lines[inside[-1] + 1 :] if inside else lines
    start = next((i for i, line in enumerate(after) if not line.startswith("    ")), 0)
    text = " ".join(" ".join(after[start:]).split())
    named = NAMED.match(text)
    if not named:
        return "" if text.isidentifier() else text
    return named[2] if named[1] == "ValueError" and named[2] else f"{named[1]}: {named[2]}"


def complaints(log: str) -> list[str]:
    """What the lines marked "E" say, in order, without asides."""
    found = (ERROR.match(line) for line in COLOUR.sub("", log).splitlines())
    texts = [match[1].strip() for match in found if match]
    return list(dict.fromkeys(text for text in texts if not ASIDES.match(text)))


def is_fed_wrong(text: str) -> bool:
    """Whether the toolkit complains of what it was fed."""
    return any(mark in text for mark in FED_WRONG)


def is_unreachable(text: str) -> bool:
    """Whether the toolkit did not get as far as the board."""
    return any(mark in text for mark in UNREACHABLE)
