"""How far an answer may be from the expected one before it is close, and before it is wrong."""

from __future__ import annotations

from typing import NamedTuple

from probes.cases import origins
from probes.model.values import NUMBER_OF


class Band(NamedTuple):
    """An error above the case's tolerance is CLOSE up to the largest of: factor x tolerance,
    step x the expected value, cancel x the output's largest expected value."""

    factor: float
    step: float
    cancel: float
    reason: str


_ORDER = "another order of summation, or sums that cancel, leave roundings of the larger terms"
_HALF = "two units in the last place: one rounding of an input, one of the result"
_CODE = "one step of a type with few codes: a tie rounded the other way"
BANDS: dict[str, Band] = {
    "float": Band(10, 0, 16 * 2**-23, _ORDER),
    "double": Band(10, 0, 16 * 2**-52, _ORDER),
    "complex64": Band(10, 0, 16 * 2**-23, _ORDER),
    "complex128": Band(10, 0, 16 * 2**-52, _ORDER),
    "float16": Band(10, 2 * 2**-10, 2**-10, _HALF),
    "bfloat16": Band(2, 2 * 2**-7, 2**-7, _HALF),
    "float8e4m3fn": Band(1, 2**-3, 0, _CODE),
    "float8e4m3fnuz": Band(1, 2**-3, 0, _CODE),
    "float8e5m2": Band(1, 2**-2, 0, _CODE),
    "float8e5m2fnuz": Band(1, 2**-2, 0, _CODE),
    "float6e2m3": Band(1, 2**-3, 0, _CODE),
    "float6e3m2": Band(1, 2**-2, 0, _CODE),
    "float4e2m1": Band(1, 2**-1, 0, _CODE),
    "float8e8m0": Band(1, 1.0, 0, _CODE),
}
BAND_OF: dict[int, Band] = {NUMBER_OF[name]: band for name, band in BANDS.items()}

# Integers must be equal. Only where an operator rounds to codes may a code be one step off.
QUANTISED_TYPES = frozenset(
    NUMBER_OF[name] for name in ("uint8", "int8", "uint16", "int16", "uint4", "int4")
)
QUANTISING_OPERATORS = frozenset(
    ("QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul", "QLinearAdd",
     "QLinearMul", "QLinearSigmoid", "QLinearAveragePool", "QLinearGlobalAveragePool", "QGemm")
)  # fmt: skip
STEPS_ALLOWED = 1

# Element: each value against its own tolerance, as onnx's own runner does. Peak: against the
# largest expected value of the output, so that outputs of 1e-7 do not pass any absolute bound.
ELEMENT_ORIGINS = frozenset((origins.NODE, origins.BODY))
# They only put values beside each other, as a mask's filler beside scores: each has its own size.
COPYING_OPERATORS = frozenset(("Where", "Pad", "Concat"))


class Precision(NamedTuple):
    """How far the floats of a runtime that computes in less than the model says may be off, beside
    the case's own tolerance: as a part of the output's largest expected value, at least `least`,
    up to `floor` close; in quantization steps where there are steps."""

    allowed: float
    close: float
    least: float
    floor: float
    steps_allowed: float
    steps_close: float
    reason: str


# float16: four units in the last place, as a few roundings of inputs and sums leave; then what is
# customary for accepting half precision. Below the floor numbers are not normal in float16: some
# chips make them 0, which is close at best; the least are four steps of those.
# int8: a tie at the input and one at the output; then what the inputs' own steps add up to.
ARITHMETIC: dict[str, Precision] = {
    "float16": Precision(2**-8, 1e-2, 2**-22, 2**-14, 0, 0, "roundings of half precision"),
    "int8": Precision(0, 0, 0, 0, 2, 6, "a few quantization steps"),
}
HALF, HALF_MAX = "float16", 65504.0
FILL = 1e30  # what masks are filled with: no measure for the values beside it
CODES = 255  # steps of eight bits over the range of an output, where the runtime does not say
