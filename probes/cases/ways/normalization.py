"""Normalizations from means, and from each other."""

from collections.abc import Callable

import numpy as np

from probes.cases.fills import Array
from probes.cases.rows import c, f
from probes.cases.way import Derived, Given, Way, attribute, floats, full, ints, reshaped

LAYERS = ("197x768-v1", "128x768-v1")
GROUPS = ("256-25x34-g32-v1",)
PLANES = ("128-56-v1",)
BATCHES = ("256-14-v1", "200-2x96-v1")
EPSILON = {"epsilon": attribute("epsilon")}
PER_CHANNEL = {"scale": reshaped("x1", -1, 1, 1), "bias": reshaped("x2", -1, 1, 1)}
SCALED = "scaled = Mul (normal, scale)  y0 = Add (scaled, bias)"


def _standardized(data: str, axes: str, square: str = "Mul (centred, centred)") -> str:
    """ONNX text from `data` to `normal`: off with the mean, over the deviation."""
    return f"""
        mean = ReduceMean <axes = [{axes}]> ({data})  centred = Sub ({data}, mean)
        square = {square}  variance = ReduceMean <axes = [{axes}]> (square)
        safe = Add (variance, epsilon)  deviation = Sqrt (safe)
        normal = Div (centred, deviation)
        """


def _multiplier(given: Given) -> Array:
    return given["x1"] / np.sqrt(given["x4"] + np.float32(given.attrs["epsilon"]))


def _offset(given: Given) -> Array:
    moved: Array = given["x3"] * _multiplier(given)
    return np.asarray(given["x2"] - moved)


def _idle(size: Callable[[Given], int]) -> dict[str, Derived]:
    """A scale and a bias that change nothing."""
    return {
        "ones": full(1, lambda given: [size(given)]),
        "zeros": full(0, lambda given: [size(given)]),
    }


BY_GROUP = ints(lambda given: [given.shape[0], given.attrs["num_groups"], -1])
AS_BEFORE = ints(lambda given: given.shape)
GROUP_ONES = _idle(lambda given: int(given.attrs["num_groups"]))
REGROUPED = {"by_group": BY_GROUP, "as_before": AS_BEFORE, **PER_CHANNEL}
BACK = "normal = Reshape (each, as_before)  " + SCALED

# fmt: off
WAYS = (
    Way("LayerNormalization", "mean-pow-v1", LAYERS, "PyTorch exports below opset 17",
        _standardized("x0", "-1", "Pow (centred, two)")
        + "scaled = Mul (normal, x1)  y0 = Add (scaled, x2)", {"two": f(2), **EPSILON}),
    Way("LayerNormalization", "mean-mul-v1", LAYERS, "the same with a product for the square",
        _standardized("x0", "-1") + "scaled = Mul (normal, x1)  y0 = Add (scaled, x2)", EPSILON),
    Way("LayerNormalization", "channels-first-v1", ("197x768-v1",),
        "ConvNeXt's LayerNorm2d (Liu et al. 2022, arXiv:2201.03545): over axis 1 of four",
        "turned = Transpose <perm = [0, 2, 1]> (x0)  deep = Unsqueeze (turned, last)"
        + _standardized("deep", "1") + SCALED.replace("y0", "flat")
        + "  thin = Squeeze (flat, last)  y0 = Transpose <perm = [0, 2, 1]> (thin)",
        {"last": c([3]), **EPSILON, **PER_CHANNEL}),
    Way("LayerNormalization", "instance-v1", LAYERS, "tokens taken for channels",
        """normal = InstanceNormalization <epsilon = %(epsilon)s> (x0, ones, zeros)
        scaled = Mul (normal, x1)  y0 = Add (scaled, x2)""", _idle(lambda given: given.shape[1])),
    Way("BatchNormalization", "mul-add-v1", BATCHES, "statistics folded into a scale and a shift",
        "scaled = Mul (x0, multiplier)  y0 = Add (scaled, offset)",
        {"multiplier": floats(lambda given: _multiplier(given).reshape(-1, 1, 1)),
         "offset": floats(lambda given: _offset(given).reshape(-1, 1, 1))}),
    Way("BatchNormalization", "depthwise-conv-v1", BATCHES,
        "statistics folded into a convolution of 1x1",
        "y0 = Conv <kernel_shape = [1, 1], group = %(channels)s> (x0, weight, shift)",
        {"weight": floats(lambda given: _multiplier(given).reshape(-1, 1, 1, 1)),
         "shift": floats(_offset)}),
    Way("BatchNormalization", "opset13-v1", ("256-14-v1",), "BatchNormalization-9", opset=13,
        agree="one"),
    Way("BatchNormalization", "opset14-v1", ("256-14-v1",), "BatchNormalization-14", opset=14),
    Way("InstanceNormalization", "mean-mul-v1", PLANES, "the definition",
        _standardized("x0", "2, 3") + SCALED, {**EPSILON, **PER_CHANNEL}),
    Way("InstanceNormalization", "mean-mul-v1", ("1d-512-1599-v1",), "the definition",
        _standardized("x0", "2") + SCALED,
        {**EPSILON, "scale": reshaped("x1", -1, 1), "bias": reshaped("x2", -1, 1)}),
    Way("InstanceNormalization", "group-v1", PLANES, "a group for each channel",
        """y0 = GroupNormalization <num_groups = %(channels)s, epsilon = %(epsilon)s>
        (x0, x1, x2)""", opset=21, ir=10),
    Way("InstanceNormalization", "layer-v1", PLANES, "each plane laid flat",
        """flat = Reshape (x0, planes)
        each = LayerNormalization <axis = -1, epsilon = %(epsilon)s> (flat, ones, zeros)
        """ + BACK,
        {"planes": c([0, 0, -1]), "as_before": AS_BEFORE, **PER_CHANNEL,
         **_idle(lambda given: given.shape[2] * given.shape[3])}),
    Way("InstanceNormalization", "two-axes-v1", ("1d-512-1599-v1",), "a second axis of length 1",
        """deep = Unsqueeze (x0, last)
        normal = InstanceNormalization <epsilon = %(epsilon)s> (deep, x1, x2)
        y0 = Squeeze (normal, last)""", {"last": c([3])}),
    Way("GroupNormalization", "opset18-v1", GROUPS,
        "GroupNormalization-18, which scales by group, and the scale by channel after it",
        """normal = GroupNormalization <num_groups = %(num_groups)s, epsilon = %(epsilon)s>
        (x0, ones, zeros)
        """ + SCALED, {**GROUP_ONES, **PER_CHANNEL}, opset=18),
    Way("GroupNormalization", "instance-v1", GROUPS, "PyTorch exports below opset 18",
        """flat = Reshape (x0, by_group)
        each = InstanceNormalization <epsilon = %(epsilon)s> (flat, ones, zeros)
        """ + BACK, {**GROUP_ONES, **REGROUPED}),
    Way("GroupNormalization", "mean-mul-v1", GROUPS, "the definition",
        "flat = Reshape (x0, by_group)" + _standardized("flat", "2").replace("normal =", "each =")
        + BACK, {**EPSILON, **REGROUPED}),
)
