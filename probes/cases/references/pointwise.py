"""Element-wise operators and activations."""

from __future__ import annotations

from math import erf
from typing import Any

import numpy as np

from probes.cases.references.base import (
    Array,
    Attrs,
    Inputs,
    Outputs,
    Reference,
    optional,
    sigmoid,
    softmax,
)

_erf = np.vectorize(erf, otypes=[np.float64])
_CASTS: dict[int, str] = {1: "<f8", 6: "<i4", 7: "<i8", 9: "?", 10: "<f2", 2: "u1", 3: "i1"}


def _of(function: Any) -> Reference:
    """A reference from a function of one array."""
    return lambda inputs, attrs: (np.asarray(function(inputs[0])),)


def _pair(function: Any) -> Reference:
    """A reference from a function of two arrays that broadcast."""
    return lambda inputs, attrs: (np.asarray(function(inputs[0], inputs[1])),)


def _many(function: Any) -> Reference:
    """A reference that folds any number of arrays."""

    def fold(inputs: Inputs, attrs: Attrs) -> Outputs:
        total = inputs[0]
        for other in inputs[1:]:
            total = function(total, other)
        return (np.asarray(total),)

    return fold


def _softplus(x: Array) -> Array:
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


def _gelu(inputs: Inputs, attrs: Attrs) -> Outputs:
    x = inputs[0]
    if attrs.get("approximate", "none") == "tanh":
        return (0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),)
    return (0.5 * x * (1 + _erf(x / np.sqrt(2))),)


def _hard_sigmoid(x: Array, alpha: float = 0.2, beta: float = 0.5) -> Array:
    return np.clip(alpha * x + beta, 0, 1)


def _elu(x: Array, alpha: float) -> Array:
    return np.where(x < 0, alpha * np.expm1(x), x)


def _selu(inputs: Inputs, attrs: Attrs) -> Outputs:
    alpha = attrs.get("alpha", float(np.float32(1.67326319217681884765625)))
    gamma = attrs.get("gamma", float(np.float32(1.05070102214813232421875)))
    return (gamma * _elu(inputs[0], alpha),)


def _clip(inputs: Inputs, attrs: Attrs) -> Outputs:
    low, high = optional(inputs, 1, -np.inf), optional(inputs, 2, np.inf)
    return (np.minimum(np.maximum(inputs[0], low), high),)


def _mod(inputs: Inputs, attrs: Attrs) -> Outputs:
    return ((np.fmod if attrs.get("fmod", 0) else np.mod)(inputs[0], inputs[1]),)


def _divide(a: Array, b: Array) -> Array:
    """Integers are truncated towards zero, floats divided."""
    if a.dtype.kind == "f":
        return np.asarray(a / b)
    return np.asarray((np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(a.dtype))


def _mean(inputs: Inputs, attrs: Attrs) -> Outputs:
    total: Any = sum(inputs)
    return (total / len(inputs),)


def _where(inputs: Inputs, attrs: Attrs) -> Outputs:
    return (np.asarray(np.where(inputs[0], inputs[1], inputs[2])),)


def _scaler(inputs: Inputs, attrs: Attrs) -> Outputs:
    return ((inputs[0] - np.asarray(attrs["offset"])) * np.asarray(attrs["scale"]),)


POINTWISE: dict[str, Reference] = {
    "Relu": _of(lambda x: np.maximum(x, 0)),
    "LeakyRelu": lambda i, a: (np.where(i[0] < 0, a.get("alpha", 0.01) * i[0], i[0]),),
    "PRelu": _pair(lambda x, slope: np.where(x < 0, slope * x, x)),
    "Elu": lambda i, a: (_elu(i[0], a.get("alpha", 1.0)),),
    "Selu": _selu,
    "Softplus": _of(_softplus),
    "Mish": _of(lambda x: x * np.tanh(_softplus(x))),
    "Sigmoid": _of(sigmoid),
    "HardSigmoid": lambda i, a: (_hard_sigmoid(i[0], **a),),
    "HardSwish": _of(lambda x: x * _hard_sigmoid(x, 1 / 6, 0.5)),
    "Gelu": _gelu,
    "Tanh": _of(np.tanh),
    "Erf": _of(_erf),
    "Softmax": lambda i, a: (softmax(i[0], a.get("axis", -1)),),
    "LogSoftmax": lambda i, a: (np.log(softmax(i[0], a.get("axis", -1))),),
    "Clip": _clip,
    "Add": _pair(np.add),
    "Sub": _pair(np.subtract),
    "Mul": _pair(np.multiply),
    "Div": _pair(_divide),
    "Pow": _pair(np.power),
    "Mod": _mod,
    "Sqrt": _of(np.sqrt),
    "Neg": _of(np.negative),
    "Exp": _of(np.exp),
    "Log": _of(np.log),
    "Abs": _of(np.abs),
    "Reciprocal": _of(lambda x: 1 / x),
    "Floor": _of(np.floor),
    "Ceil": _of(np.ceil),
    "Round": _of(np.rint),
    "Sign": _of(np.sign),
    "Sin": _of(np.sin),
    "Cos": _of(np.cos),
    "IsNaN": _of(np.isnan),
    "Min": _many(np.minimum),
    "Max": _many(np.maximum),
    "Sum": _many(np.add),
    "Mean": _mean,
    "Equal": _pair(np.equal),
    "Greater": _pair(np.greater),
    "GreaterOrEqual": _pair(np.greater_equal),
    "Less": _pair(np.less),
    "LessOrEqual": _pair(np.less_equal),
    "And": _pair(np.logical_and),
    "Or": _pair(np.logical_or),
    "Xor": _pair(np.logical_xor),
    "Not": _of(np.logical_not),
    "Where": _where,
    "Cast": lambda i, a: (i[0].astype(_CASTS[a["to"]]),),
    "Identity": _of(np.asarray),
    "Dropout": _of(np.asarray),
    "Scaler": _scaler,
}
