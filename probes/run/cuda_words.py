"""What an error of CUDA means for the process that saw it, by words that every library repeats."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from probes.run.adapter import HarnessError

DRIVER = Path("/proc/driver/nvidia/version")
# The machine or its installation, not the model.
MACHINE = re.compile(
    r"no CUDA-capable device|driver version is insufficient|no kernel image is available"
    r"|cannot open shared object file|all CUDA-capable devices are busy"
)
NO_MEMORY = re.compile(
    r"out of memory|CUDA failure 2:|_STATUS_ALLOC_FAILED|Failed to allocate memory for requested"
)
# After these the context answers every later call with the same error.
LOST = re.compile(
    r"illegal memory access|device-side assert|unspecified launch failure|misaligned address"
    r"|illegal instruction|hardware stack error|invalid program counter|launch timed out"
    r"|uncorrectable ECC"
)


def settle(error: Exception) -> None:
    """Returns where the error is the runtime's own answer.

    A lost context takes the process with it: the sandbox tries once more in a fresh child, and no
    later probe is judged in a broken one. Raises MemoryError, HarnessError for what they name.
    """
    text = str(error)
    if LOST.search(text):
        print(text, file=sys.stderr, flush=True)
        os.abort()
    if NO_MEMORY.search(text):
        raise MemoryError(text) from error
    if MACHINE.search(text):
        raise HarnessError(text) from error


def driver() -> str:
    """The NVIDIA driver's first line about itself; "" without one."""
    return DRIVER.read_text(errors="replace").partition("\n")[0] if DRIVER.exists() else ""
