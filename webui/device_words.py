"""The words for facts of devices, configurations and environments."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from probes.cases.graphs import OTHER_GRAPH

Word = str | Promise

FACTS: dict[str, Word] = {
    "cpu_model": "CPU",
    "cores": _("Cores"),
    "threads": _("Threads"),
    "os": _("Operating system"),
    "python": "Python",
    "runtime": _("Runtime"),
    "runtime_version": _("Runtime version"),
    "memory_gb": _("Memory (GB)"),
    "memory_type": _("Memory type"),
    "bandwidth_gbs": _("Memory bandwidth (GB/s)"),
    "arch": _("Architecture"),
    "architecture": _("Architecture"),
    "compute_capability": _("Compute capability"),
    "peak_fp16": _("Peak FP16"),
    "peak_int8": _("Peak INT8"),
    "npu": _("Other accelerators"),
    "notes": _("Notes"),
    "precision": _("Precision"),
    "optimization": _("Graph optimization"),
    "warmup": _("Warm-up runs"),
    "pinned": _("Pinned to cores"),
    "kernel": _("Kernel"),
    "opatlas": "OpAtlas",
    "numpy": "NumPy",
    "onnx": "ONNX",
    "ml_dtypes": "ml_dtypes",
    "config": _("Configuration"),
    "pinned_cores": _("Pinned to cores"),
    "load_1min": _("Load of the machine (1 min)"),
    "clock": _("Clock"),
    "warmup_seconds": _("Warm-up (s)"),
    "cap_seconds": _("Longest series (s)"),
    "max_opset": _("Newest opset"),
    "max_ir": _("Newest IR version"),
}
# Texts of our own that stand in the database as they are shown; others' texts are left alone.
OWN_TEXTS: dict[str, Word] = {
    "this machine": _("this machine"),
    "recorded sweep": _("recorded sweep"),
    "measured": _("measured"),
    "third-party": _("third party"),
    "vendor+third-party": _("vendor and third party"),
    "vendor code + third-party": _("vendor's code and third party"),
    OTHER_GRAPH: _("the graph computes something else than the module"),
}
