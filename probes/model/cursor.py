"""A position in protobuf bytes: numbers, field ends, and what is wrong where it stands."""

from __future__ import annotations

from dataclasses import dataclass, field

from probes.model.messages import FIXED32, FIXED64, LENGTH, VARINT, Message
from probes.model.payload import TensorTally
from probes.model.refusals import ModelFileError

FIXED = {FIXED64: 8, FIXED32: 4}


@dataclass
class Frame:
    """A message being read: its bytes end at `end`, what is kept of them gathers in `out`."""

    message: Message
    end: int
    tag: bytes = b""
    number: int = 0
    out: list[bytes] = field(default_factory=list)
    tensor: TensorTally | None = None


class Cursor:
    """Reads forward through `view`; ModelFileError where the bytes make no sense."""

    def __init__(self, view: memoryview) -> None:
        self.view = view
        self.pos = 0

    def end_of(self, frame: Frame, wire: int) -> int:
        """Where the field ends; for a length-prefixed one `pos` moves behind the length."""
        if wire == LENGTH:
            end = self.read_varint(frame) + self.pos
        elif wire == VARINT:
            start = self.pos
            self.read_varint(frame)
            end, self.pos = self.pos, start
        elif wire in FIXED:
            end = self.pos + FIXED[wire]
        else:
            raise self.damaged(f"wire type {wire}", self.pos)
        if end > frame.end:
            raise self.overrun(frame, end)
        return end

    def content_start(self, wire: int, body: int) -> int:
        """First content byte of a field whose value starts at `body`."""
        if wire != LENGTH:
            return body
        while self.view[body] & 0x80:
            body += 1
        return body + 1

    def read_varint(self, frame: Frame) -> int:
        view, pos, value, shift = self.view, self.pos, 0, 0
        while pos < frame.end:
            byte = view[pos]
            pos += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                self.pos = pos
                return value & 0xFFFFFFFFFFFFFFFF
            shift += 7
            if shift > 63:
                raise self.damaged("a number of more than 10 bytes", self.pos)
        raise self.overrun(frame, pos + 1)

    def tag_end(self, start: int) -> int:
        while self.view[start] & 0x80:
            start += 1
        return start + 1

    def damaged(self, detail: str, offset: int) -> ModelFileError:
        return ModelFileError("damaged", detail=detail, offset=offset)

    def overrun(self, frame: Frame, end: int) -> ModelFileError:
        """Past the file's end it is truncated; past its own message's end it is damaged."""
        if end > len(self.view):
            return ModelFileError("truncated", size=len(self.view), where=frame.message.name)
        return self.damaged(f"{frame.message.name} runs over its end", self.pos)


def encode_varint(number: int) -> bytes:
    """Base-128 bytes of a length."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
