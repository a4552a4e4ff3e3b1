"""A form with one file as a request body that is read from the disk while it is sent."""

from __future__ import annotations

import io
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

Fields = Sequence[tuple[str, str]]


class Form:
    """multipart/form-data: text fields and the file; `open` gives the body anew for each try."""

    def __init__(self, fields: Fields, *, file_field: str, file_name: str, path: Path) -> None:
        self.boundary = secrets.token_hex(16)
        self.path = path
        parts = [self._head(f'name="{name}"') + value.encode() + b"\r\n" for name, value in fields]
        quoted = file_name.replace("\\", "_").replace('"', "%22")
        head = self._head(f'name="{file_field}"; filename="{quoted}"')
        self.before = b"".join([*parts, head])
        self.after = f"\r\n--{self.boundary}--\r\n".encode()

    def headers(self) -> dict[str, str]:
        """Type and exact length, so that a server can refuse it before it is read."""
        length = len(self.before) + self.path.stat().st_size + len(self.after)
        return {
            "Content-Type": f"multipart/form-data; boundary={self.boundary}",
            "Content-Length": str(length),
        }

    def open(self) -> IO[bytes]:
        """The body as a file."""
        parts = (io.BytesIO(self.before), self.path.open("rb"), io.BytesIO(self.after))
        return cast(IO[bytes], _Chain(parts))

    def _head(self, disposition: str) -> bytes:
        return (
            f"--{self.boundary}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n".encode()
        )


class _Chain(io.RawIOBase):
    """Files one after the other."""

    def __init__(self, parts: Sequence[IO[bytes]]) -> None:
        self.parts = list(parts)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while self.parts:
            if found := self.parts[0].read(size):
                return found
            self.parts.pop(0).close()
        return b""

    def close(self) -> None:
        for part in self.parts:
            part.close()
        self.parts.clear()
        super().close()
