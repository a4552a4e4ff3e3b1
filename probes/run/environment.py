"""The facts of a machine and of a Python environment that go with every result."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

# One number for every pool of threads that a runtime may open behind its own option.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                    "NUMEXPR_NUM_THREADS", "TVM_NUM_THREADS")  # fmt: skip
PACKAGES = ("numpy", "onnx", "ml_dtypes")


def thread_environment(threads: int) -> dict[str, str]:
    """Variables that hold a child's libraries to `threads`; set before they are imported."""
    return dict.fromkeys(THREAD_VARIABLES, str(threads))


def machine_facts() -> dict[str, Any]:
    """CPU, cores, operating system, Python and packages; nothing that names the host."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text(errors="replace") if cpuinfo.exists() else ""
    packages = {name: package_version(name) for name in PACKAGES}
    return {
        "cpu_model": cpu_model(text) or platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "architecture": platform.machine(),
        "os": _os_name(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "opatlas": package_version("opatlas-probes") or "source",
        **packages,
    }


def runtime_facts(
    runtime: str, runtime_version: str, config: Mapping[str, Any], more: Mapping[str, Any]
) -> dict[str, Any]:
    """machine_facts with the runtime and the configuration it was given."""
    return {
        **machine_facts(),
        "runtime": runtime,
        "runtime_version": runtime_version,
        "threads": config.get("threads"),
        "config": dict(config),
        **more,
    }


CPU_KEYS = ("model name", "Model", "Hardware", "cpu model")  # x86, then boards by kernel age


def cpu_model(cpuinfo: str) -> str:
    """The processor's name in the text of /proc/cpuinfo; "" when it is not told."""
    told: dict[str, str] = {}
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        told.setdefault(key.strip(), value.strip())
    return next((told[key] for key in CPU_KEYS if told.get(key)), "")


def package_version(name: str) -> str:
    """Version of an installed distribution; "" when it is absent."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()
