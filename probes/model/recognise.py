"""Names what a file is when it is no ONNX model, by its first bytes."""

from __future__ import annotations

import string

from probes.model.refusals import gettext_noop

HEAD = 4096

# (offset, bytes, what it is); first match wins
MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (4, b"TFL3", gettext_noop("a TensorFlow Lite model")),
    (4, b"ORTM", gettext_noop("an ONNX Runtime .ort file")),
    (0, b"GGUF", gettext_noop("a GGUF file")),
    (0, b"\x89HDF\r\n", gettext_noop("an HDF5 file (Keras weights?)")),
    (0, b"\x93NUMPY", gettext_noop("a NumPy array")),
    (0, b"RKNN", gettext_noop("a compiled RKNN model")),
    (0, b"ptrt", gettext_noop("a compiled TensorRT engine")),
    (0, b"ftrt", gettext_noop("a compiled TensorRT engine")),
    (0, b"\x89PNG\r\n", gettext_noop("a PNG image")),
    (0, b"\xff\xd8\xff", gettext_noop("a JPEG image")),
    (0, b"GIF8", gettext_noop("a GIF image")),
    (0, b"%PDF", gettext_noop("a PDF document")),
    (0, b"\x7fELF", gettext_noop("an ELF program")),
    (0, b"MZ", gettext_noop("a Windows program")),
    (0, b"\x1f\x8b", gettext_noop("a gzip archive (unpack it first)")),
    (0, b"BZh", gettext_noop("a bzip2 archive (unpack it first)")),
    (0, b"\xfd7zXZ\x00", gettext_noop("an xz archive (unpack it first)")),
    (0, b"\x28\xb5\x2f\xfd", gettext_noop("a zstd archive (unpack it first)")),
    (0, b"7z\xbc\xaf", gettext_noop("a 7z archive (unpack it first)")),
    (257, b"ustar", gettext_noop("a tar archive (unpack it first)")),
    (0, b"version https://git-lfs", gettext_noop("a Git LFS pointer (run git lfs pull)")),
    (0, b"7767517", gettext_noop("an ncnn parameter file")),
)

# Names inside a zip archive, all in its first entries.
ZIPPED: tuple[tuple[bytes, str], ...] = (
    (b"data.pkl", gettext_noop("a PyTorch (TorchScript or pickle) archive")),
    (b"constants.pkl", gettext_noop("a TorchScript archive")),
    (b".npy", gettext_noop("a NumPy archive")),
    (b"config.json", gettext_noop("a Keras archive")),
)

TEXTS: tuple[tuple[bytes, str], ...] = (
    (b"<!doctype html", gettext_noop("an HTML page (a download that asked to log in?)")),
    (b"<html", gettext_noop("an HTML page (a download that asked to log in?)")),
    (b"<net", gettext_noop("an OpenVINO IR description")),
    (b"<?xml", gettext_noop("an XML file (OpenVINO IR?)")),
    (b"{", gettext_noop("a JSON file")),
)
PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def name_format(head: bytes) -> str | None:
    """What the first 4 KiB show the file to be, None when they may be a protobuf message."""
    for offset, magic, name in MAGIC:
        if head[offset : offset + len(magic)] == magic:
            return name
    if head.startswith(b"PK\x03\x04"):
        inside = (name for mark, name in ZIPPED if mark in head)
        return next(inside, gettext_noop("a zip archive (unpack it first)"))
    if head.startswith(PICKLES):
        return gettext_noop("a Python pickle (a PyTorch checkpoint?), which is never opened")
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 1 << 32:
        return gettext_noop("a safetensors file")
    return name_text(head)


def name_text(head: bytes) -> str | None:
    """Kind of a text file; None for bytes that are no plain text."""
    printable = string.printable.encode()
    if head.translate(None, printable):
        return None
    start = head.lstrip().lower()
    found = (name for mark, name in TEXTS if start.startswith(mark))
    return next(found, gettext_noop("a text file"))
