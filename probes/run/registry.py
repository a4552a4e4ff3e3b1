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
    config is the default configuration, named `config_name`.

    own_env: its pins clash with ours, so it lives in an environment of its own, made of
    `requirements`, of `no_deps` (installed without what they ask for), with one of `pythons`.
    simulates: it speaks for devices that are not here.
    """

    slug: str
    title: str
    module: str
    requirements: tuple[str, ...] = ()
    distribution: str = ""  # whose version is the runtime's
    config_name: str = "default"
    config: Mapping[str, Any] = field(default_factory=dict)
    offered: bool = True  # shown to people; the fake is for testing the sandbox
    own_env: bool = False
    pythons: tuple[str, ...] = ()  # "3.11"; the first that runs
    no_deps: tuple[str, ...] = ()
    simulates: bool = False


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
        # Without torch (5.0 GB with its CUDA; the adapter says what stands in its place) and with
        # opencv of a host without a screen: 0.6 GB. setuptools: the toolkit wants pkg_resources.
        "rknn", "RKNN", "probes.run.adapters.rknn",
        ("numpy==1.26.4", "onnx==1.18.0", "onnxruntime==1.26.0", "protobuf==4.25.4",
         "scipy==1.17.1", "opencv-python-headless==4.11.0.86", "fast-histogram==0.14",
         "psutil==7.2.2", "ruamel.yaml==0.19.1", "tqdm==4.70.1", "setuptools==80.9.0"),
        "rknn-toolkit2", config={"platform": "rk3588", "precision": "fp16"},
        no_deps=("rknn-toolkit2==2.5.0",),
        own_env=True, pythons=("3.11",), simulates=True,
    ),
    Runtime(
        "qnn-htp", "QNN HTP", "probes.run.adapters.qnn_htp",
        ("onnxruntime-qnn==2.7.0", "onnxruntime==1.32.0", "onnx==1.23.2"), "onnxruntime-qnn",
        config={"soc_model": "43", "precision": "fp16"},
        own_env=True, pythons=("3.11", "3.12", "3.13"), simulates=True,
    ),
    Runtime(
        "tensorrt-rtx", "TensorRT-RTX", "probes.run.adapters.tensorrt_rtx",
        ("tensorrt-rtx==1.7.1.116", "onnx==1.23.2"), "tensorrt-rtx", config_name="sm86",
        config={"compute_capability": "86"},
        own_env=True, pythons=("3.11", "3.12", "3.13"), simulates=True,
    ),
    Runtime(
        "tensorrt", "TensorRT", "probes.run.adapters.tensorrt", (), "tensorrt",
        config={"precision": "fp32", "workspace_mb": 1024}, own_env=True,
    ),
    Runtime(
        "tensorrt-dla", "TensorRT DLA", "probes.run.adapters.tensorrt", (), "tensorrt",
        config={"precision": "fp16", "dla_core": 0, "gpu_fallback": True}, own_env=True,
    ),
    Runtime(
        "iree", "IREE", "probes.run.adapters.iree",
        ("iree-base-compiler==3.13.0", "iree-base-runtime==3.13.0", "onnx==1.23.2"),
        "iree-base-compiler", config_name="llvm-cpu", config={"backend": "llvm-cpu"},
        own_env=True, pythons=("3.11", "3.12", "3.13"), simulates=True,
    ),
    Runtime(
        "onnxruntime-cuda", "ONNX Runtime CUDA", "probes.run.adapters.onnxruntime_cuda",
        ("onnxruntime-gpu[cuda,cudnn]==1.31.1", "onnx==1.23.2"), "onnxruntime-gpu",
        config_name="fp32", config={"provider": "cuda", "precision": "fp32"},
        own_env=True, pythons=("3.11", "3.12", "3.13"),
    ),
    Runtime(  # TensorRT itself comes with the machine
        "onnxruntime-tensorrt", "ONNX Runtime TensorRT", "probes.run.adapters.onnxruntime_cuda",
        ("onnxruntime-gpu[cuda,cudnn]==1.31.1", "onnx==1.23.2"), "onnxruntime-gpu",
        config_name="fp32", config={"provider": "tensorrt", "precision": "fp32"},
        own_env=True, pythons=("3.11", "3.12", "3.13"),
    ),
    Runtime(  # found by its converter: PyTorch alone may be here for other reasons
        "torch-cuda", "PyTorch CUDA (onnx2torch)", "probes.run.adapters.torch_cuda",
        ("torch==2.13.0", "torchvision==0.28.0", "onnx2torch==1.5.15", "onnx==1.23.2"),
        "onnx2torch", config_name="fp32", config={"device": "cuda", "precision": "fp32"},
        own_env=True, pythons=("3.11", "3.12", "3.13"),
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
