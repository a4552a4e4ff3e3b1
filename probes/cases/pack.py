"""Cases on disk: a compressed pack of many, and a folder of single files addressed by id."""

from __future__ import annotations

import lzma
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from probes.cases.case import (
    ID_LENGTH,
    Case,
    CaseError,
    case_id,
    case_of_frame,
    decode_case,
    encode_case,
)
from probes.model import frames

_ID = re.compile(rf"[0-9a-f]{{{ID_LENGTH}}}")


def write_pack(path: str | Path, cases: Iterable[Case]) -> int:
    """Write cases as one xz file of frames, replaced at once when complete; returns how many."""
    count = 0
    with _replacing(Path(path)) as raw, lzma.open(raw, "wb", preset=9 | lzma.PRESET_EXTREME) as out:
        for case in cases:
            out.write(encode_case(case))
            count += 1
    return count


def read_pack(path: str | Path) -> Iterator[Case]:
    """The cases of a pack, one at a time; raises CaseError for a truncated or foreign file."""
    with lzma.open(path, "rb") as pack:
        try:
            while frame := frames.read(cast(BinaryIO, pack)):
                yield case_of_frame(*frame)
        except (lzma.LZMAError, EOFError, frames.FrameError) as error:
            raise CaseError(f"{path} is no case pack, or damaged: {error}") from error


class CaseStore:
    """A folder of case files named by id; a file whose content has another id is refused."""

    def __init__(self, directory: str | Path) -> None:
        self._directory = Path(directory)

    def path(self, case_id: str) -> Path:
        """Where a case lies or would lie; raises CaseError for anything but 32 hex digits."""
        if not _ID.fullmatch(case_id):
            raise CaseError("a case id is 32 hexadecimal digits")
        return self._directory / case_id[:2] / f"{case_id}.case"

    def put(self, case: Case) -> Path:
        """Store a case (an existing file of the same id is replaced); returns its path."""
        return self.put_bytes(case.id, encode_case(case))

    def put_bytes(self, case_id: str, document: bytes) -> Path:
        """Store an encoded case as it was fetched, after checking that its content has this id."""
        _verified(document, case_id)
        path = self.path(case_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _replacing(path) as out:
            out.write(document)
        return path

    def get(self, case_id: str) -> Case:
        """The stored case; raises KeyError when absent, CaseError when damaged."""
        try:
            document = self.path(case_id).read_bytes()
        except FileNotFoundError:
            raise KeyError(case_id) from None
        return _verified(document, case_id)

    def __contains__(self, case_id: str) -> bool:
        return self.path(case_id).exists()


def _verified(document: bytes, expected_id: str) -> Case:
    case = decode_case(document)
    try:
        found = case_id(case.model, case.inputs)
    except (ValueError, DecodeError) as error:
        raise CaseError(f"the model of case {expected_id} cannot be read: {error}") from error
    if not case.id == found == expected_id:
        raise CaseError(f"the content of case {expected_id} does not have this id")
    return case


class _replacing:
    """A binary file that takes its final name only when the block ends without an error."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> BinaryIO:
        handle, self._temporary = tempfile.mkstemp(dir=self._path.parent, suffix=".part")
        self._file = os.fdopen(handle, "wb")
        return self._file

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is None:
            Path(self._temporary).chmod(0o644)
            Path(self._temporary).replace(self._path)
        else:
            Path(self._temporary).unlink(missing_ok=True)
