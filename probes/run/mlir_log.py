"""What a compiler built on MLIR prints on descriptor 2: which of its lines says what is wrong."""

from __future__ import annotations

import re

ERROR = re.compile(r"^\S.*?: error: (?P<text>.*)$", re.MULTILINE)
PLACE = re.compile(r"^loc\(.*?\): ")
# The stage that failed around what is wrong, with a page of facts about the target.
FRAMING = re.compile(r"failed to run translation of source executable|One or more operations with")
# After this comes the operation's whole text, with names of values that differ every time.
OPERATION = re.compile(r"(?: that was explicitly marked illegal)?: (?=[%\"])")
ONNX_NAME = re.compile(r'name = "(onnx\.\w+)"')
SILENT = "The compiler gave no reason."


def telling(log: str) -> str:
    """What is wrong on the first line, then the log as it came."""
    errors = [PLACE.sub("", found["text"]) for found in ERROR.finditer(log)]
    causes = [text for text in errors if not FRAMING.match(text)] or errors
    return "\n".join([_short(causes[0]) if causes else SILENT, log]).rstrip()


def _short(error: str) -> str:
    text, *operation = OPERATION.split(error, maxsplit=1)
    name = ONNX_NAME.search(operation[0]) if operation else None
    return f"{text} {name[1]}" if name else text
