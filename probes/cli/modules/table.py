"""The modules and functions of torch as rows. A row never changes: a new version replaces it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional

from probes.cases.rows import Feed, given, x

DOMAIN = "torch.nn"


class Function(nn.Module):
    """A function as the module that exporters want."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(*tensors)


class Module(NamedTuple):
    """`make` gives the module, which gets weights of ours; `feeds` are its inputs in order.

    `version` ends the names of its cases. Random outputs compare by "shape" only.
    """

    name: str
    make: Callable[[], nn.Module]
    feeds: Sequence[Feed]
    version: int = 1
    training: bool = False
    compare: str = "values"


def _function(function: Callable[..., Any]) -> Callable[[], nn.Module]:
    return lambda: Function(function)


def _upsample(mode: str, align: bool | None = None) -> Callable[[], nn.Module]:
    return lambda: nn.Upsample(scale_factor=2, mode=mode, align_corners=align)


def _self_attention() -> nn.Module:
    module = nn.MultiheadAttention(64, 4, batch_first=True)
    return _Holding(module, lambda tokens: module(tokens, tokens, tokens, need_weights=False)[0])


class _Holding(Function):
    """A function of a module."""

    def __init__(self, module: nn.Module, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self.module = module


def _put(table: torch.Tensor, places: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return table.index_put((places,), values)


PICTURE = x(1, 16, 14, 14)
TOKENS = x(1, 20, 64)
HEADS = tuple(x(1, 4, 20, 16) for _ in range(3))
FLAT = x(2, 100)
DISTINCT = x(2, 100, fill="distinct")

# fmt: off
MODULES = (
    Module("Conv2d", lambda: nn.Conv2d(16, 32, 3, padding=1), (PICTURE,)),
    Module("ConvTranspose2d", lambda: nn.ConvTranspose2d(16, 16, 4, 2, 1), (PICTURE,)),
    Module("Linear", lambda: nn.Linear(64, 96), (TOKENS,)),
    Module("ReLU", nn.ReLU, (PICTURE,)),
    Module("GELU", nn.GELU, (TOKENS,)),
    Module("GELU-tanh", lambda: nn.GELU("tanh"), (TOKENS,)),
    Module("SiLU", nn.SiLU, (PICTURE,)),
    Module("Hardswish", nn.Hardswish, (PICTURE,)),
    Module("Mish", nn.Mish, (PICTURE,)),
    Module("Softmax", lambda: nn.Softmax(-1), (TOKENS,)),
    Module("LogSoftmax", lambda: nn.LogSoftmax(-1), (TOKENS,)),
    Module("BatchNorm2d", lambda: nn.BatchNorm2d(16), (PICTURE,)),
    Module("BatchNorm2d-train", lambda: nn.BatchNorm2d(16), (PICTURE,), training=True),
    Module("Dropout", nn.Dropout, (TOKENS,)),
    Module("Dropout-train", nn.Dropout, (TOKENS,), training=True, compare="shape"),
    Module("LayerNorm", lambda: nn.LayerNorm(64), (TOKENS,)),
    Module("GroupNorm-1", lambda: nn.GroupNorm(1, 16), (PICTURE,)),
    Module("GroupNorm-8", lambda: nn.GroupNorm(8, 16), (PICTURE,)),
    Module("InstanceNorm2d", lambda: nn.InstanceNorm2d(16, affine=True), (PICTURE,)),
    Module("RMSNorm", lambda: nn.RMSNorm(64, eps=1e-6), (TOKENS,)),
    Module("AdaptiveAvgPool2d-1", lambda: nn.AdaptiveAvgPool2d(1), (PICTURE,)),
    Module("AdaptiveAvgPool2d-7", lambda: nn.AdaptiveAvgPool2d(7), (PICTURE,)),
    Module("AdaptiveAvgPool2d-5", lambda: nn.AdaptiveAvgPool2d(5), (PICTURE,)),
    Module("MaxPool2d", lambda: nn.MaxPool2d(3, 2, 1), (PICTURE,)),
    Module("AvgPool2d", lambda: nn.AvgPool2d(3, 2, 1), (PICTURE,)),
    Module("MultiheadAttention", _self_attention, (TOKENS,)),
    Module("scaled_dot_product_attention",
        _function(functional.scaled_dot_product_attention), HEADS),
    Module("scaled_dot_product_attention-causal", _function(lambda q, k, v:
        functional.scaled_dot_product_attention(q, k, v, is_causal=True)), HEADS),
    Module("LSTM", lambda: nn.LSTM(32, 24, batch_first=True, bidirectional=True), (x(1, 12, 32),)),
    Module("GRU", lambda: nn.GRU(32, 24, batch_first=True), (x(1, 12, 32),)),
    Module("Embedding", lambda: nn.Embedding(100, 32), (x(1, 20, fill="below:100"),)),
    Module("Upsample-nearest", _upsample("nearest"), (PICTURE,)),
    Module("Upsample-bilinear", _upsample("bilinear", False), (PICTURE,)),
    Module("Upsample-bilinear-aligned", _upsample("bilinear", True), (PICTURE,)),
    Module("Upsample-bicubic", _upsample("bicubic", False), (PICTURE,)),
    Module("Upsample-bicubic-aligned", _upsample("bicubic", True), (PICTURE,)),
    Module("grid_sample", _function(lambda picture, grid:
        functional.grid_sample(picture, grid, align_corners=False)),
        (PICTURE, x(1, 10, 12, 2, fill="signed_unit"))),
    Module("PixelShuffle", lambda: nn.PixelShuffle(2), (PICTURE,)),
    Module("einsum", _function(lambda a, b: torch.einsum("bhid,bhjd->bhij", a, b)), HEADS[:2]),
    Module("topk", _function(lambda scores: torch.topk(scores, 5)), (DISTINCT,)),
    Module("cumsum", _function(lambda tensor: torch.cumsum(tensor, -1)), (FLAT,)),
    Module("sort", _function(lambda scores: torch.sort(scores, descending=True)), (DISTINCT,)),
    Module("nonzero", _function(torch.nonzero), (x(6, 10, fill="bits"),)),
    Module("index_put", _function(_put),
        (x(20, 8), given([3, 17, 0], "<i8"), x(3, 8))),
)
