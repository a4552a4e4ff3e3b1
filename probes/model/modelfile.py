"""Untrusted bytes to the structure of a model: weights are never loaded, no path is ever opened."""

from __future__ import annotations

import contextlib
import hashlib
import mmap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from probes.model.checks import find_problems
from probes.model.functions import all_nodes, expand_functions
from probes.model.recognise import HEAD, name_format
from probes.model.refusals import LIMITS, Limits, ModelFileError, Problem, invalid_model
from probes.model.wire import Stripped, strip_weights

HASH_STEP = 1 << 20
HIGHEST_OPSET = 2**31 - 1  # onnx's own schemas take no larger number


@dataclass
class ModelStructure:
    """A model without its weights, its functions expanded; what is wrong with it, what is odd."""

    model: onnx.ModelProto
    sha256: str
    bytes: int
    functions: int
    initializers: int
    initializer_bytes: int
    weight_bytes: int
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)


def read_structure(
    path: str | Path, *, sha256: str = "", limits: Limits = LIMITS
) -> ModelStructure:
    """The structure of the model at `path`, or a ModelFileError that says what is wrong with it.

    `sha256` spares hashing a file whose hash is known (64 hex digits of its bytes).
    """
    structure = load_structure(path, sha256=sha256, limits=limits)
    if structure.problems:
        raise invalid_model(structure.problems)
    return structure


def load_structure(
    path: str | Path, *, sha256: str = "", limits: Limits = LIMITS
) -> ModelStructure:
    """As `read_structure`, with the problems of the graph listed instead of raised."""
    with open_file(Path(path), limits) as (pages, view):
        stripped = strip_weights(view, limits, lambda: unmap(pages))
        size = len(view)
    model = parse_stripped(stripped)
    warnings = stamp_warnings(model, stripped)
    check_imports(model)
    functions = len(model.functions)
    model, odd = expand_functions(model, limits)
    odd += import_missing(model)
    check_imports(model)
    return ModelStructure(
        model=model,
        sha256=sha256 or hash_file(Path(path)),
        bytes=size,
        functions=functions,
        initializers=stripped.initializers,
        initializer_bytes=stripped.initializer_bytes,
        weight_bytes=stripped.weight_bytes,
        problems=stripped.problems + find_problems(model),
        warnings=warnings + odd,
    )


def rebuild_stripped(structure: ModelStructure) -> bytes:
    """The model without weights as ONNX bytes; large tensors keep name, type and dimensions."""
    return bytes(structure.model.SerializeToString())


@contextlib.contextmanager
def open_file(path: Path, limits: Limits) -> Iterator[tuple[mmap.mmap, memoryview]]:
    """A read-only view over the file's pages, after its size and first bytes are checked."""
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            check_outside(file.read(HEAD), size, limits)
            pages = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
            view = memoryview(pages)
            try:
                yield pages, view
            finally:
                view.release()
                with contextlib.suppress(BufferError):  # a traceback may still hold a slice
                    pages.close()
    except OSError as error:
        raise ModelFileError("unreadable", detail=error.strerror or str(error)) from error


def unmap(pages: mmap.mmap) -> None:
    """Drops pages already read: the kernel maps up to 2 MB around each byte that is looked at."""
    if hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)


def check_outside(head: bytes, size: int, limits: Limits) -> None:
    if size == 0:
        raise ModelFileError("empty")
    if size > limits.file_bytes:
        raise ModelFileError("too_large", found=size, limit=limits.file_bytes)
    found = name_format(head)
    if found:
        raise ModelFileError("not_onnx", found=found)


def parse_stripped(stripped: Stripped) -> onnx.ModelProto:
    model = onnx.ModelProto()
    try:
        model.ParseFromString(stripped.data)
    except DecodeError as error:
        raise ModelFileError("damaged", detail=str(error), offset=0) from None
    if not model.HasField("graph"):
        raise ModelFileError("not_a_model")
    return model


def check_imports(model: onnx.ModelProto) -> None:
    """Refuses versions that no operator set can have, and two of one domain."""
    versions: dict[str, set[int]] = {}
    for entry in model.opset_import:
        domain = entry.domain or "ai.onnx"
        versions.setdefault(domain, set()).add(entry.version)
        if abs(entry.version) > HIGHEST_OPSET or (domain == "ai.onnx" and entry.version < 1):
            raise ModelFileError("bad_opset", domain=domain, found=entry.version)
    for domain, found in versions.items():
        if len(found) > 1:
            listed = ", ".join(map(str, sorted(found)))
            raise ModelFileError("opset_conflict", domain=domain, found=listed)


def import_missing(model: onnx.ModelProto) -> list[Problem]:
    """Imports version 1 of the custom domains that are used and not imported."""
    used = {node.domain or "ai.onnx" for node in all_nodes(list(model.graph.node))}
    missing = used - {entry.domain or "ai.onnx" for entry in model.opset_import}
    if "ai.onnx" in missing:
        raise ModelFileError("no_opset")
    for domain in missing:
        model.opset_import.add(domain=domain, version=1)
    return [("domain_not_imported", {"domain": domain}) for domain in sorted(missing)]


def hash_file(path: Path) -> str:
    """SHA-256 of the file, read in steps so that memory stays flat."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(HASH_STEP):
            digest.update(chunk)
    return digest.hexdigest()


def stamp_warnings(model: onnx.ModelProto, stripped: Stripped) -> list[Problem]:
    """What is odd about the version stamps."""
    found: list[Problem] = []
    imported = {entry.domain or "ai.onnx": entry.version for entry in model.opset_import}
    if not model.graph.node:
        found.append(("no_nodes", {}))
    if model.ir_version > onnx.IR_VERSION:
        params: dict[str, Any] = {"found": model.ir_version, "known": int(onnx.IR_VERSION)}
        found.append(("ir_version_future", params))
    if model.ir_version < 1:
        found.append(("ir_version_missing", {}))
    newest = onnx.defs.onnx_opset_version()
    if imported.get("ai.onnx", 0) > newest:
        params = {"domain": "ai.onnx", "found": imported["ai.onnx"], "known": newest}
        found.append(("opset_future", params))
    if stripped.has_training:
        found.append(("training_info", {}))
    if model.functions:
        found.append(("functions_inlined", {"count": len(model.functions)}))
    return found
