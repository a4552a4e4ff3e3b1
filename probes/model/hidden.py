"""Facts whose names are digests: who has the model can join them again, nobody else can."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

Facts = dict[str, Any]
PERSON = b"opatlas-names"
STEP = 1 << 20
DIGITS = 12
TELLING = frozenset({"domain"})  # text in a warning that is no name of the author's


def name_key(path: str | Path) -> bytes:
    """A key from the bytes of the model: the same each time, unknown to who lacks the file."""
    digest = hashlib.blake2b(digest_size=32, person=PERSON)
    with Path(path).open("rb") as file:
        while chunk := file.read(STEP):
            digest.update(chunk)
    return digest.digest()


def hide_names(facts: Facts, key: bytes) -> Facts:
    """The same facts with each name of a node, tensor or sub-graph as 12 hex digits.

    Operators, domains and attributes stay: they are what is judged. Warnings that quote a name
    are left out.
    """
    hidden: Facts = json.loads(json.dumps(facts))
    for node in hidden["nodes"]:
        node["name"] = _hide(node["name"], key)
        node["path"] = "/".join(_hide(part, key) for part in node["path"].split("/"))
    for side in ("inputs", "outputs"):
        for value in hidden[side]:
            value["name"] = _hide(value["name"], key)
    names = hidden["tensors"].get("names", [])
    hidden["tensors"]["names"] = [_hide(name, key) for name in names]
    hidden["warnings"] = [one for one in hidden["warnings"] if not _quotes(one["params"])]
    return hidden


def _hide(name: str, key: bytes) -> str:
    if not name:
        return ""
    return hmac.new(key, name.encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:DIGITS]


def _quotes(params: dict[str, Any]) -> bool:
    return any(not isinstance(value, int) and name not in TELLING for name, value in params.items())
