"""The few calls of CUDA's runtime library that an engine needs: memory, a stream, events."""

from __future__ import annotations

import ctypes
from typing import Any

NAMES = ("libcudart.so.12", "libcudart.so", "/usr/local/cuda/lib64/libcudart.so")
OUT_OF_MEMORY = 2  # cudaErrorMemoryAllocation
TO_DEVICE, FROM_DEVICE = 1, 2
CAPABILITY_MAJOR, CAPABILITY_MINOR = 75, 76  # cudaDevAttrComputeCapability...


class CudaError(Exception):
    """A call of the library failed."""


def load_library() -> Any:
    """The library as a board has it; ImportError where it has none."""
    for name in NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise ImportError(f"CUDA's runtime library is not here: {', '.join(NAMES)}")


class Cuda:
    """Addresses, streams and events are plain integers."""

    def __init__(self, library: Any) -> None:
        self.library = library
        library.cudaGetErrorString.restype = ctypes.c_char_p

    def call(self, name: str, *arguments: Any) -> None:
        """Raises MemoryError or CudaError when the library says no."""
        code = int(getattr(self.library, name)(*arguments))
        if code:
            said = (self.library.cudaGetErrorString(ctypes.c_int(code)) or b"").decode()
            kind = MemoryError if code == OUT_OF_MEMORY else CudaError
            raise kind(f"{name}: {said} ({code})")

    def is_well(self) -> bool:
        """False after an error that CUDA cannot recover from in this process."""
        return int(self.library.cudaDeviceSynchronize()) == 0

    def allocate(self, size: int) -> int:
        """Address of device memory; never 0, even for no bytes."""
        pointer = ctypes.c_void_p()
        self.call("cudaMalloc", ctypes.byref(pointer), ctypes.c_size_t(max(size, 1)))
        return int(pointer.value or 0)

    def free(self, address: int) -> None:
        """Give memory back."""
        self.call("cudaFree", ctypes.c_void_p(address))

    def write(self, address: int, data: bytes) -> None:
        """Copy to the device."""
        size = ctypes.c_size_t(len(data))
        self.call("cudaMemcpy", ctypes.c_void_p(address), data, size, ctypes.c_int(TO_DEVICE))

    def read(self, address: int, size: int) -> bytes:
        """Copy from the device."""
        buffer = ctypes.create_string_buffer(max(size, 1))
        pointer, count = ctypes.c_void_p(address), ctypes.c_size_t(size)
        self.call("cudaMemcpy", buffer, pointer, count, ctypes.c_int(FROM_DEVICE))
        return buffer.raw[:size]

    def make(self, kind: str) -> int:
        """A new "Stream" or "Event"."""
        handle = ctypes.c_void_p()
        self.call(f"cuda{kind}Create", ctypes.byref(handle))
        return int(handle.value or 0)

    def drop(self, kind: str, handle: int) -> None:
        """The end of a stream or an event."""
        self.call(f"cuda{kind}Destroy", ctypes.c_void_p(handle))

    def record(self, event: int, stream: int) -> None:
        """Let the stream note the time when it gets there."""
        self.call("cudaEventRecord", ctypes.c_void_p(event), ctypes.c_void_p(stream))

    def wait(self, stream: int) -> None:
        """Until everything that was put on the stream is done."""
        self.call("cudaStreamSynchronize", ctypes.c_void_p(stream))

    def between(self, start: int, stop: int) -> float:
        """Milliseconds between two recorded events."""
        time = ctypes.c_float()
        events = (ctypes.c_void_p(start), ctypes.c_void_p(stop))
        self.call("cudaEventElapsedTime", ctypes.byref(time), *events)
        return float(time.value)

    def facts(self) -> dict[str, Any]:
        """Versions of runtime and driver, and what the device is."""
        found = [ctypes.c_int() for _ in range(4)]
        self.call("cudaRuntimeGetVersion", ctypes.byref(found[0]))
        self.call("cudaDriverGetVersion", ctypes.byref(found[1]))
        for value, attribute in zip(found[2:], (CAPABILITY_MAJOR, CAPABILITY_MINOR), strict=True):
            arguments = (ctypes.byref(value), ctypes.c_int(attribute), ctypes.c_int(0))
            self.call("cudaDeviceGetAttribute", *arguments)
        runtime, driver, major, minor = (value.value for value in found)
        return {
            "cuda_runtime": _version(runtime),
            "cuda_driver": _version(driver),
            "compute_capability": f"{major}{minor}",
        }


def _version(number: int) -> str:
    """12060 is 12.6."""
    return f"{number // 1000}.{number % 1000 // 10}"
