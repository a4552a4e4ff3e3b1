"""Strangers' text made harmless: what a database stores and a terminal or a page shows."""

from __future__ import annotations

import re
from typing import Any

FILE_NAME_LENGTH = 200
NAME_LENGTH = 300  # of a node or a tensor, as it is stored
# Control characters, line ends, what turns the direction of the text behind it, half characters.
_NOT_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_HARMLESS = (int, float, bool, type(None))


def plain_file_name(name: str) -> str:
    """A file's name without folders and control characters; shown only, never opened."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return _NOT_TEXT.sub("", last).strip()[:FILE_NAME_LENGTH]


def plain_text(text: str, length: int) -> str:
    """At most `length` characters on one line, each of them printable."""
    return _NOT_TEXT.sub("\ufffd", text[:length])


def plain_document(value: Any, length: int = NAME_LENGTH) -> Any:
    """A JSON document with bounded strings and no control characters in them."""
    if isinstance(value, str):
        return plain_text(value, length)
    if isinstance(value, dict):
        return {
            plain_document(name, length): plain_document(item, length)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [item if type(item) in _HARMLESS else plain_document(item, length) for item in value]
    return value
