"""Results documents on disk: written line by line, so that a killed agent loses no result."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from probes.run.outcome import RESULTS_KIND, SCHEMA, Environment, ProbeResult

Header = dict[str, Any]
SUFFIX = ".jsonl"
REFUSED = ".refused"


def results_header(target: Mapping[str, Any], environment: Environment, **more: Any) -> Header:
    """The first line of a document; `target` has the names that the server gave."""
    return {
        "schema": SCHEMA,
        "kind": RESULTS_KIND,
        "date": datetime.now(timezone.utc).isoformat(),
        "environment": environment,
        "target": dict(target),
        **more,
    }


class ResultsFile:
    """One document. `unsent` is what was added since the last `sent`."""

    def __init__(self, path: Path, header: Header) -> None:
        """Begin the document, or go on with the one that lies there."""
        self.path, self.header = path, header
        if path.exists():
            _cut_torn_line(path)
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if os.fstat(self._fd).st_size == 0:
            self._write(header)
        self._lines: list[bytes] = []

    def append(self, result: ProbeResult) -> None:
        """Add a result; what was written survives the end of this process."""
        self._lines.append(self._write(result.to_dict()))

    @property
    def unsent(self) -> bytes:
        """A document of its own; empty when there is nothing new."""
        if not self._lines:
            return b""
        return b"".join([_line(self.header), *self._lines])

    def sent(self) -> None:
        self._lines = []

    def close(self) -> None:
        os.close(self._fd)

    def _write(self, document: Mapping[str, Any]) -> bytes:
        line = _line(document)
        os.write(self._fd, line)
        return line


class Outbox:
    """The documents that a server has not yet taken completely, one a claim."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def begin(self, claim: str, header: Header) -> ResultsFile:
        return ResultsFile(self.folder / f"{claim}{SUFFIX}", header)

    def left(self) -> Iterator[tuple[Path, Header, bytes]]:
        """What an earlier life left behind, oldest first: path, header, whole document."""
        for path in sorted(self.folder.glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime):
            header, lines = read_document(path)
            if not header:
                path.unlink()
                continue
            yield path, header, b"".join([_line(header), *lines])

    def discard(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def set_aside(self, path: Path) -> None:
        """Keep for people what the server will never take."""
        path.replace(path.with_suffix(REFUSED))


def read_document(path: Path) -> tuple[Header, list[bytes]]:
    """Header and result lines; what a power cut tore is left out. Empty for no document."""
    found: list[tuple[dict[str, Any], bytes]] = []
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            document = json.loads(line)
        except ValueError:
            continue
        if isinstance(document, dict) and line.endswith(b"\n"):
            found.append((document, line))
    if not found or found[0][0].get("kind") != RESULTS_KIND:
        return {}, []
    return found[0][0], [line for document, line in found[1:] if "kind" not in document]


def _cut_torn_line(path: Path) -> None:
    whole = path.read_bytes().rpartition(b"\n")
    os.truncate(path, len(whole[0]) + len(whole[1]))


def _line(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode() + b"\n"
