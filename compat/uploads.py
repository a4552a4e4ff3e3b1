"""Uploaded files: hashed while they are written, under names of our own, gone when asked for."""

import hashlib
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from django.conf import settings

from probes.model.refusals import ModelFileError

ABANDONED_SECONDS = 3600  # a process that wrote a part this long ago has died
MEASURED_EVERY = 8_000_000  # bytes written
PART = ".part"
KEPT = ".onnx"


class NoRoomError(OSError):
    """The folder of uploads is full; the message is a sentence for people."""


@dataclass(frozen=True)
class StoredUpload:
    path: Path
    sha256: str
    size: int

    def keep(self, token: str) -> Path:
        """Give the file the name of its report, so that leaving the block does not delete it."""
        return self.path.replace(kept_path(token))


@contextmanager
def stored_upload(chunks: Iterable[bytes]) -> Iterator[StoredUpload]:
    """The bytes as a file that is deleted at the end of the block, unless kept.

    Raises ModelFileError when it is larger than the limit, NoRoomError when the folder would be
    larger than its quota.
    """
    folder = Path(settings.UPLOAD_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (secrets.token_hex(16) + PART)
    try:
        with path.open("xb") as file:
            sha256, size = _write(file, chunks, folder)
        yield StoredUpload(path, sha256, size)
    finally:
        path.unlink(missing_ok=True)


def kept_path(token: str) -> Path:
    """Where the file of a report lies while it is kept."""
    return Path(settings.UPLOAD_DIR) / (token + KEPT)


def sweep_parts() -> None:
    """Delete what processes that died have left behind."""
    limit = time.time() - ABANDONED_SECONDS
    for path in Path(settings.UPLOAD_DIR).glob("*" + PART):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < limit:
                path.unlink()


def _write(file: IO[bytes], chunks: Iterable[bytes], folder: Path) -> tuple[str, int]:
    """The quota is measured over what all uploads have written so far, so none can overtake it."""
    digest = hashlib.sha256()
    size = measured = 0
    for chunk in chunks:
        size += len(chunk)
        if size > settings.UPLOAD_LIMIT_BYTES:
            raise ModelFileError("too_large", found=size, limit=settings.UPLOAD_LIMIT_BYTES)
        digest.update(chunk)
        file.write(chunk)
        if size - measured >= MEASURED_EVERY:
            measured = size
            _check_room(file, folder)
    _check_room(file, folder)
    return digest.hexdigest(), size


def _check_room(file: IO[bytes], folder: Path) -> None:
    file.flush()
    if _used_bytes(folder) > settings.UPLOAD_QUOTA_BYTES:
        raise NoRoomError(
            "There is no room for another upload here at the moment. Try again later, "
            "or judge the file where it is with manage.py check_model."
        )


def _used_bytes(folder: Path) -> int:
    used = 0
    for path in folder.iterdir():
        with suppress(FileNotFoundError):
            used += path.stat().st_size
    return used
