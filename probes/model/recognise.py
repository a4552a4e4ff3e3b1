"""Names what a file is when it is no ONNX model, by its first bytes."""

from __future__ import annotations

import string

HEAD = 4096

# (offset, bytes, what it is); first match wins
MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (4, b"TFL3", "a TensorFlow Lite model"),
    (4, b"ORTM", "an ONNX Runtime .ort file"),
    (0, b"GGUF", "a GGUF file"),
    (0, b"\x89HDF\r\n", "an HDF5 file (Keras weights?)"),
    (0, b"\x93NUMPY", "a NumPy array"),
    (0, b"RKNN", "a compiled RKNN model"),
    (0, b"ptrt", "a compiled TensorRT engine"),
    (0, b"ftrt", "a compiled TensorRT engine"),
    (0, b"\x89PNG\r\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (0, b"%PDF", "a PDF document"),
    (0, b"\x7fELF", "an ELF program"),
    (0, b"MZ", "a Windows program"),
    (0, b"\x1f\x8b", "a gzip archive (unpack it first)"),
    (0, b"BZh", "a bzip2 archive (unpack it first)"),
    (0, b"\xfd7zXZ\x00", "an xz archive (unpack it first)"),
    (0, b"\x28\xb5\x2f\xfd", "a zstd archive (unpack it first)"),
    (0, b"7z\xbc\xaf", "a 7z archive (unpack it first)"),
    (257, b"ustar", "a tar archive (unpack it first)"),
    (0, b"version https://git-lfs", "a Git LFS pointer (run git lfs pull)"),
    (0, b"7767517", "an ncnn parameter file"),
)

# Names inside a zip archive, all in its first entries.
ZIPPED: tuple[tuple[bytes, str], ...] = (
    (b"data.pkl", "a PyTorch (TorchScript or pickle) archive"),
    (b"constants.pkl", "a TorchScript archive"),
    (b".npy", "a NumPy archive"),
    (b"config.json", "a Keras archive"),
)

TEXTS: tuple[tuple[bytes, str], ...] = (
    (b"<!doctype html", "an HTML page (a download that asked to log in?)"),
    (b"<html", "an HTML page (a download that asked to log in?)"),
    (b"<net", "an OpenVINO IR description"),
    (b"<?xml", "an XML file (OpenVINO IR?)"),
    (b"{", "a JSON file"),
)
PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def name_format(head: bytes) -> str | None:
    """What the first 4 KiB show the file to be, None when they may be a protobuf message."""
    for offset, magic, name in MAGIC:
        if head[offset : offset + len(magic)] == magic:
            return name
    if head.startswith(b"PK\x03\x04"):
        inside = (name for mark, name in ZIPPED if mark in head)
        return next(inside, "a zip archive (unpack it first)")
    if head.startswith(PICKLES):
        return "a Python pickle (a PyTorch checkpoint?), which is never opened"
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 1 << 32:
        return "a safetensors file"
    return name_text(head)


def name_text(head: bytes) -> str | None:
    """Kind of a text file; None for bytes that are no plain text."""
    printable = string.printable.encode()
    if head.translate(None, printable):
        return None
    start = head.lstrip().lower()
    found = (name for mark, name in TEXTS if start.startswith(mark))
    return next(found, "a text file")
