"""The runtimes that OpAtlas can ask: one line each."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from probes.run.adapter import Adapter


@dataclass(frozen=True)
class Runtime:
    """module holds one Adapter subclass named `adapter`; requirements are pip specs;
    config is the default configuration, named `config_name`."""

    slug: str
    title: str
    module: str
    requirements: tuple[str, ...] = ()
    distribution: str = ""  # whose version is the runtime's
    config_name: str = "default"
    config: Mapping[str, Any] = field(default_factory=dict)
    offered: bool = True  # shown to people; the fake is for testing the sandbox


_ROWS = (
    Runtime(
        "onnxruntime-cpu", "ONNX Runtime CPU", "probes.run.adapters.onnxruntime_cpu",
        ("onnxruntime>=1.31.1",), "onnxruntime", config={"threads": 1, "optimization": "all"},
    ),
    Runtime(
        "openvino-cpu", "OpenVINO CPU", "probes.run.adapters.openvino_cpu",
        ("openvino>=2026.4.1",), "openvino", config_name="f32",
        config={"threads": 1, "precision": "f32"},
    ),
    Runtime(
        "reference", "ONNX reference evaluator", "probes.run.adapters.reference",
        ("onnx>=1.16",), "onnx", config={"threads": 1},
    ),
    Runtime("fake", "Fake runtime", "probes.run.adapters.fake", ("onnx>=1.16",), "onnx",
            config={"threads": 1}, offered=False),
)  # fmt: skip
RUNTIMES: dict[str, Runtime] = {row.slug: row for row in _ROWS}


def make_adapter(slug: str, config: Mapping[str, Any]) -> Adapter:
    """Import the runtime and set it up; ImportError when this environment lacks it."""
    row = RUNTIMES[slug]
    module = importlib.import_module(row.module)
    adapter: Adapter = module.adapter({**row.config, **config})
    return adapter


def installed_version(slug: str) -> str:
    """Version of the runtime in this environment without importing it; "" when absent."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(RUNTIMES[slug].distribution)
    except PackageNotFoundError:
        return ""
