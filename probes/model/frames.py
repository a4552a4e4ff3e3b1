"""Frames: a JSON header and raw blobs in one run of bytes, for pipes, case files and packs."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any, BinaryIO

MAGIC = b"OAF1"
PREFIX = struct.Struct("<4sIIQ")  # magic, header bytes, number of blobs, bytes after the prefix
MAX_HEADER = 16 * 2**20
MAX_BLOBS = 2**16
MAX_FRAME = 4 * 2**30

_to_json = json.JSONEncoder(separators=(",", ":")).encode  # made once: a sweep calls it by the 1000

Frame = tuple[dict[str, Any], list[memoryview]]


class FrameError(ValueError):
    """The bytes are no frame: wrong magic, over a limit, cut short, or inconsistent."""


def encode(header: dict[str, Any], blobs: Sequence[bytes] = ()) -> bytes:
    """One frame. Raises FrameError over a limit, so that no reader is sent what it must refuse."""
    text = _to_json(header).encode()
    sizes = struct.pack(f"<{len(blobs)}Q", *map(len, blobs))
    body = b"".join((sizes, text, *blobs))
    _check(len(text), len(blobs), len(body))
    return PREFIX.pack(MAGIC, len(text), len(blobs), len(body)) + body


def decode(buffer: bytes | bytearray | memoryview) -> Frame:
    """Header and blobs (views, not copies) of a buffer that is exactly one frame."""
    view = memoryview(buffer)
    length = frame_length(view)
    if length is None or length != len(view):
        raise FrameError(f"{len(view)} bytes are not exactly one frame")
    return _split(view)


def frame_length(buffer: bytes | bytearray | memoryview) -> int | None:
    """Bytes of the frame that begins here; None while its prefix is not yet complete."""
    if len(buffer) < PREFIX.size:
        return None
    magic, header, blobs, body = PREFIX.unpack_from(buffer)
    if magic != MAGIC:
        raise FrameError("not a frame")
    _check(header, blobs, body)
    return PREFIX.size + int(body)


def read(stream: BinaryIO) -> Frame | None:
    """The next frame of a buffered stream; None at a clean end."""
    prefix = stream.read(PREFIX.size)
    if not prefix:
        return None
    length = frame_length(prefix)
    if length is None:
        raise FrameError("the stream ends inside a frame")
    body = stream.read(length - PREFIX.size)
    if len(body) != length - PREFIX.size:
        raise FrameError("the stream ends inside a frame")
    return _split(memoryview(prefix + body))


def _check(header: int, blobs: int, body: int) -> None:
    if header > MAX_HEADER or blobs > MAX_BLOBS or body > MAX_FRAME:
        raise FrameError(f"over the limits: header {header}, blobs {blobs}, body {body} bytes")
    if header + 8 * blobs > body:
        raise FrameError("the frame's parts do not fit in its length")


def _split(view: memoryview) -> Frame:
    _, header_bytes, count, _ = PREFIX.unpack_from(view)
    sizes = struct.unpack_from(f"<{count}Q", view, PREFIX.size)
    start = PREFIX.size + 8 * count
    text, start = view[start : start + header_bytes], start + header_bytes
    if start + sum(sizes) != len(view):
        raise FrameError("the frame's blobs do not fill it")
    blobs = []
    for size in sizes:
        blobs.append(view[start : start + size])
        start += size
    return _parse(text), blobs


def _parse(text: memoryview) -> dict[str, Any]:
    try:
        header = json.loads(bytes(text))
    except ValueError as error:
        raise FrameError("the frame's header is not JSON") from error
    if not isinstance(header, dict):
        raise FrameError("the frame's header is not an object")
    return header
