"""PyTorch on an NVIDIA GPU, from ONNX by onnx2torch.

Held by tests on the CPU, which takes the same path; it has not run on a GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import onnx
import torch

from probes.model.values import DTYPES, NUMBER_OF, Tensor, Value
from probes.run import cuda_words
from probes.run.adapter import Adapter, Capabilities, Enter, HarnessError, Refused, Session
from probes.run.environment import package_version
from probes.run.outcome import Placement, Stage

# ONNX's name of a type -> PyTorch's.
TYPES = {
    "float": "float32", "double": "float64", "float16": "float16", "bfloat16": "bfloat16",
    "bool": "bool", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64",
    "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64",
    "complex64": "complex64", "complex128": "complex128",
    "float8e4m3fn": "float8_e4m3fn", "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2", "float8e5m2fnuz": "float8_e5m2fnuz",
    "float8e8m0": "float8_e8m0fnu",
}  # fmt: skip
TO_TORCH = {
    NUMBER_OF[name]: getattr(torch, mine) for name, mine in TYPES.items() if hasattr(torch, mine)
}
TO_ONNX = {dtype: number for number, dtype in TO_TORCH.items()}
Place = tuple[int, int]  # of an output: item of what the module returns, and of that node's outputs


class TorchSession(Session):
    """A module on one device; what it returns are nodes, of which the graph asks some outputs."""

    placement = Placement.ACCELERATOR  # PyTorch moves nothing to the CPU by itself

    def __init__(self, module: Any, device: str, places: Sequence[Place]) -> None:
        self.module, self.device, self.places = module, device, places
        self.inputs: list[torch.Tensor] = []

    def feed(self, inputs: Sequence[Value]) -> None:
        """By position, on the device."""
        self.inputs = [_to_torch(value).to(self.device) for value in inputs]

    def run(self) -> Any:
        """One inference, finished on the device when it returns."""
        try:
            with torch.inference_mode():
                returned = self.module(*self.inputs)
            if self.device != "cpu":
                torch.cuda.synchronize()
        except Exception as error:
            cuda_words.settle(error)
            raise
        return returned

    def outputs(self, raw: Any) -> list[Value]:
        """Copied from the device."""
        nodes = raw if isinstance(raw, (list, tuple)) and self._many() else [raw]
        return [_from_torch(_part(nodes[node], index)) for node, index in self.places]

    def _many(self) -> bool:
        return max(node for node, _ in self.places) > 0


class TorchAdapter(Adapter):
    """config: threads, device ("cuda", "cpu"), precision ("fp32", "tf32")."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.device = str(self.config.get("device", "cuda"))
        self.precision = str(self.config.get("precision", "fp32"))
        if self.device != "cpu" and not torch.cuda.is_available():
            raise ImportError("PyTorch sees no CUDA device")
        self.convert = _converter()
        torch.set_num_threads(int(self.config.get("threads", 1)))
        torch.backends.cuda.matmul.allow_tf32 = self.precision == "tf32"
        torch.backends.cudnn.allow_tf32 = self.precision == "tf32"
        torch.backends.cudnn.benchmark = False

    @property
    def version(self) -> str:
        return str(torch.__version__)

    def capabilities(self) -> Capabilities:
        """No stamps: a converter is looked up by the newest version of an operator it knows."""
        return Capabilities(
            constant_inputs=True,
            arithmetic="" if self.precision == "fp32" else "float16",
            intended_unit="cpu" if self.device == "cpu" else "gpu",
        )

    def facts(self) -> dict[str, Any]:
        """The libraries under PyTorch, and how it was told to round."""
        facts = {
            "onnx2torch": package_version("onnx2torch"),
            "torch_cuda": str(torch.version.cuda or ""),
            "torch_cudnn": str(torch.backends.cudnn.version() or ""),  # type: ignore[no-untyped-call]
            "torch_tf32_matmul": bool(torch.backends.cuda.matmul.allow_tf32),
            "torch_tf32_cudnn": bool(torch.backends.cudnn.allow_tf32),
            "torch_cudnn_benchmark": bool(torch.backends.cudnn.benchmark),
            "nvidia_driver": cuda_words.driver(),
        }
        if self.device == "cpu":
            return facts
        major, minor = torch.cuda.get_device_capability()
        name = torch.cuda.get_device_name()
        return {**facts, "gpu": name, "compute_capability": f"{major}.{minor}"}

    def load(self, model: bytes, inputs: Sequence[Value], enter: Enter) -> Session:
        enter(Stage.CONVERT)
        try:
            proto = onnx.load_from_string(model)
            module = self.convert(proto)
        except (MemoryError, HarnessError):
            raise
        except Exception as error:
            raise Refused(Stage.CONVERT, f"{type(error).__name__}: {error}") from error
        enter(Stage.LOAD)
        try:
            placed = module.eval().to(self.device)
        except RuntimeError as error:
            cuda_words.settle(error)
            raise Refused(Stage.LOAD, str(error)) from error
        return TorchSession(placed, self.device, _places(proto.graph))


def _converter() -> Any:
    """onnx2torch imports torchvision for two operators; where that is absent or does not fit this
    torch, they alone cannot be asked."""
    try:
        import torchvision  # noqa: F401
    except (ImportError, RuntimeError, AttributeError):
        stand_in, ops = ModuleType("torchvision"), ModuleType("torchvision.ops")
        stand_in.ops = ops  # type: ignore[attr-defined]
        for name in ("nms", "box_convert", "roi_align"):
            setattr(ops, name, _without_torchvision)
        sys.modules.update({"torchvision": stand_in, "torchvision.ops": ops})
    from onnx2torch import convert

    return convert


def _without_torchvision(*_: Any, **__: Any) -> Any:
    raise HarnessError("this environment has no torchvision that fits its torch")


def _places(graph: Any) -> list[Place]:
    """Where the graph's outputs are in what onnx2torch's module returns: one item for each node
    that gives an output, in the order of the first."""
    made = {
        name: (number, index)
        for number, node in enumerate(graph.node)
        for index, name in enumerate(node.output)
    }
    wanted = [made[info.name] for info in graph.output]
    nodes = list(dict.fromkeys(number for number, _ in wanted))
    return [(nodes.index(number), index) for number, index in wanted]


def _part(returned: Any, index: int) -> Any:
    if isinstance(returned, (list, tuple)):
        return returned[index]
    if index:
        text = f"onnx2torch gives the first output of this node only; output {index} is asked for."
        raise Refused(Stage.CONVERT, text)
    return returned


def _to_torch(value: Value) -> torch.Tensor:
    if not isinstance(value, Tensor) or value.dtype not in TO_TORCH:
        what = DTYPES[value.dtype].name if isinstance(value, Tensor) else "a sequence, nothing"
        raise HarnessError(f"PyTorch has no tensor for this: {what}")
    dtype = TO_TORCH[value.dtype]
    if not value.data:
        return torch.empty(value.dims, dtype=dtype)
    return torch.frombuffer(bytearray(value.data), dtype=dtype).reshape(value.dims)


def _from_torch(item: Any) -> Value:
    if isinstance(item, (list, tuple)):
        return [_from_torch(inner) for inner in item]
    if not isinstance(item, torch.Tensor) or item.dtype not in TO_ONNX:
        raise HarnessError(f"cannot read an output of type {getattr(item, 'dtype', type(item))}")
    flat = item.detach().cpu().contiguous().reshape(-1)
    data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    return Tensor(TO_ONNX[item.dtype], tuple(item.shape), data)


adapter = TorchAdapter
