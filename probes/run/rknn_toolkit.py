"""How rknn-toolkit2 is imported without torch, asked step by step, and kept from littering."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from probes.run import rknn_log
from probes.run.adapter import HarnessError, Refused
from probes.run.outcome import Stage

LEFT_OUT = "torch, which this environment leaves out"
LIBC = ctypes.CDLL(None)
OUTPUT = 1  # what the compiler, a C++ library, prints to


class TorchLeftOut(ModuleType):
    """Stands for torch while the toolkit is imported: it derives a class from torch.nn.Module and
    decorates a function, for one algorithm of quantization. More than that is noted and fails."""

    asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            self.asked.append(f"{self.__name__}.{name}")
        raise AttributeError(f"{self.__name__}.{name}: {LEFT_OUT}")


class Numbers(np.ndarray[Any, Any]):
    """Whole numbers that the toolkit lays out a Gather with, as an array with torch's names."""

    def numpy(self) -> np.ndarray[Any, Any]:
        """The plain array."""
        return np.asarray(self)


def _arange(*limits: int) -> Numbers:
    """From, to, step, as torch has it."""
    return np.arange(*limits, dtype=np.int64).view(Numbers)


def _split(numbers: Numbers, sizes: int | Sequence[int], dim: int = 0) -> list[Numbers]:
    """Pieces of a size, or of these sizes, along a dimension."""
    length = numbers.shape[dim]
    ends = range(sizes, length, sizes) if isinstance(sizes, int) else np.cumsum(sizes)[:-1]
    return [each.view(Numbers) for each in np.split(numbers, list(ends), dim)]


def _cat(parts: Sequence[Numbers], dim: int = 0) -> Numbers:
    return np.concatenate(parts, dim).view(Numbers)


# What of torch the toolkit moves the indices of a Gather with.
NUMBERS: dict[str, Any] = {"arange": _arange, "split": _split, "cat": _cat}


def import_toolkit() -> Any:
    """The class RKNN; without torch where it is not installed (5 GB with its CUDA)."""
    if "torch" not in sys.modules and importlib.util.find_spec("torch") is None:
        torch, nn = TorchLeftOut("torch"), TorchLeftOut("torch.nn")
        vars(torch).update(nn=nn, no_grad=lambda: lambda function: function, **NUMBERS)
        vars(nn).update(Module=object)
        sys.modules.update({"torch": torch, "torch.nn": nn})
    try:
        return importlib.import_module("rknn.api").RKNN
    finally:  # others look there to learn whether torch is in use
        if isinstance(sys.modules.get("torch"), TorchLeftOut):
            del sys.modules["torch"], sys.modules["torch.nn"]


def import_lite() -> Any:
    """The class RKNNLite, which boards have."""
    return importlib.import_module("rknnlite.api").RKNNLite


class Printed:
    """What this process prints from here on, when its output is a file (as in a child)."""

    def __init__(self) -> None:
        self.start = self._size()

    def text(self) -> str:
        """So far; "" where it cannot be read back."""
        size = self._size()
        start = self.start if size >= self.start else 0  # the watcher has emptied the file
        if size == start:
            return ""
        return os.pread(OUTPUT, size - start, start).decode("utf-8", "replace")

    def shorten(self) -> None:
        """Keep what tells something, so that it fits beside the result."""
        text = self.text()
        if text and self._size() >= self.start:
            os.ftruncate(OUTPUT, self.start)
            os.write(OUTPUT, rknn_log.telling(text).encode())

    def _size(self) -> int:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        LIBC.fflush(None)
        status = os.fstat(OUTPUT)
        return status.st_size if stat.S_ISREG(status.st_mode) else 0


class Folder:
    """A scratch folder of one probe, below the present one, to stand in until it is removed: the
    toolkit writes where it stands."""

    def __init__(self) -> None:
        self.back = Path.cwd()
        self.temporary = tempfile.tempdir
        self.path = Path(tempfile.mkdtemp(prefix="rknn-", dir=self.back))
        os.chdir(self.path)
        tempfile.tempdir = str(self.path)

    def remove(self) -> None:
        """Step back; delete it with all that is in it."""
        tempfile.tempdir = self.temporary
        os.chdir(self.back)
        shutil.rmtree(self.path, ignore_errors=True)


def ask(stage: Stage, call: Callable[[], Any]) -> None:
    """One step of the toolkit: it says no by raising or by returning something but 0."""
    printed = Printed()
    raised = ""
    TorchLeftOut.asked.clear()
    try:
        if call() == 0:
            return
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - the toolkit raises whatever it met
        raised = str(error)
    text = rknn_log.message(raised, printed.text())
    raise HarnessError(text) if is_torch_missing(text) else Refused(stage, text)


def is_torch_missing(text: str) -> bool:
    """Whether a step failed for want of what this environment leaves out."""
    return bool(TorchLeftOut.asked) or "No module named 'torch" in text
