"""Expected against actual values: one verdict with its figures, in vectorised numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from probes.model.values import DTYPES, NUMBER_OF, STRING, Tensor, Value, to_numpy
from probes.run.outcome import MAX_MESSAGE, Outcome, Stage
from probes.run.ties import is_a_tie
from probes.run.tolerances import (
    ARITHMETIC,
    BAND_OF,
    CODES,
    COPYING_OPERATORS,
    ELEMENT_ORIGINS,
    FILL,
    HALF,
    HALF_MAX,
    QUANTISED_TYPES,
    QUANTISING_OPERATORS,
    STEPS_ALLOWED,
    Precision,
)

if TYPE_CHECKING:
    from probes.cases.case import Case

    Array = np.ndarray[Any, Any]

SEVERITY = (
    Outcome.PASSED,
    Outcome.CLOSE,
    Outcome.WRONG_DTYPE,
    Outcome.MISMATCH,
    Outcome.WRONG_SHAPE,
)
PAIRS = {NUMBER_OF["complex64"], NUMBER_OF["complex128"]}
ULP_TYPES = {1: "<i4", 10: "<i2", 11: "<i8", 16: "<i2"}  # float, float16, double, bfloat16


@dataclass(frozen=True)
class Comparison:
    """max_rel: max_abs over the largest expected magnitude. None where a figure has no meaning
    (strings, shapes only, values that are not finite)."""

    outcome: Outcome
    message: str = ""
    max_abs: float | None = None
    max_rel: float | None = None
    max_ulp: float | None = None
    cosine: float | None = None
    bit_exact: bool | None = None

    def facts(self) -> dict[str, Any]:
        """The fields of a ProbeResult that a comparison decides."""
        passed = self.outcome is Outcome.PASSED
        return {**vars(self), "stage": None if passed else Stage.COMPARE}


TIE = "this hangs on values that half precision cannot tell apart"
EXACT = Comparison(Outcome.PASSED, "", 0.0, 0.0, 0.0, None, True)


class Terms(NamedTuple):
    """On what terms a value is held against another: the case's tolerances, the precision that the
    runtime computes in, the size of the output's quantization step (0: not told)."""

    case: Case
    arithmetic: str = ""
    step: float = 0.0


def compare(
    expected: Sequence[Value],
    actual: Sequence[Value],
    case: Case,
    *,
    arithmetic: str = "",
    steps: Sequence[float] = (),
) -> Comparison:
    """The worst of all outputs; figures are the worst of any output.

    `case` gives rtol, atol, compare, origin and operators; `arithmetic` is that of the runtime's
    Capabilities. Raises DtypeError for a type that this process cannot hold.
    """
    if len(expected) != len(actual):
        text = f"{len(actual)} outputs instead of {len(expected)}."
        return Comparison(Outcome.WRONG_SHAPE, text)
    terms = [Terms(case, arithmetic, float(step)) for step in steps] or [Terms(case, arithmetic)]
    triples = zip(expected, actual, cycle(terms))
    found = [_value(e, a, on, f"output {i}") for i, (e, a, on) in enumerate(triples)]
    if arithmetic:
        found = [
            _forgive_ties(each, case, i, wanted, got, of_itself=arithmetic == "float16")
            for i, (each, wanted, got) in enumerate(zip(found, expected, actual, strict=True))
        ]
    return _worst(found)


def _forgive_ties(
    found: Comparison, case: Case, output: int, expected: Value, actual: Value, *, of_itself: bool
) -> Comparison:
    """Another index or answer is close where half precision cannot tell what it hangs on, or
    steps of 8 bits, which are as wide for small values as for large ones."""
    if found.outcome is not Outcome.MISMATCH:
        return found
    if not isinstance(expected, Tensor) or not isinstance(actual, Tensor):
        return found
    part = ARITHMETIC["float16"].allowed
    if not is_a_tie(case, output, actual, expected, part, of_itself=of_itself):
        return found
    return replace(found, outcome=Outcome.CLOSE, message=f"{found.message} Close: {TIE}.")


def _value(expected: Value, actual: Value, terms: Terms, place: str) -> Comparison:
    if isinstance(expected, Tensor) and isinstance(actual, Tensor):
        return _tensor(expected, actual, terms, place)
    if isinstance(expected, list) and isinstance(actual, list):
        return _sequence(expected, actual, terms, place)
    if expected is None and actual is None:
        return EXACT
    text = f"{place}: {_kind(actual)} instead of {_kind(expected)}."
    return Comparison(Outcome.WRONG_SHAPE, text)


def _sequence(expected: list[Value], actual: list[Value], terms: Terms, place: str) -> Comparison:
    if len(expected) != len(actual):
        text = f"{place}: {len(actual)} elements instead of {len(expected)}."
        return Comparison(Outcome.WRONG_SHAPE, text)
    pairs = zip(expected, actual, strict=True)
    return _worst([_value(e, a, terms, f"{place}[{i}]") for i, (e, a) in enumerate(pairs)])


def _kind(value: Value) -> str:
    if value is None:
        return "nothing"
    return "a sequence" if isinstance(value, list) else "a tensor"


def _worst(found: Sequence[Comparison]) -> Comparison:
    if len(found) == 1:
        return found[0]
    worst = max((item.outcome for item in found), key=SEVERITY.index, default=Outcome.PASSED)
    messages = [item.message for item in found if item.outcome is worst and item.message]
    exact = [item.bit_exact for item in found if item.bit_exact is not None]
    return Comparison(
        outcome=worst,
        message=" ".join(messages)[:MAX_MESSAGE],
        max_abs=_largest([item.max_abs for item in found]),
        max_rel=_largest([item.max_rel for item in found]),
        max_ulp=_largest([item.max_ulp for item in found]),
        cosine=min((item.cosine for item in found if item.cosine is not None), default=None),
        bit_exact=all(exact) if exact else None,
    )


def _largest(values: Sequence[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _tensor(expected: Tensor, actual: Tensor, terms: Terms, place: str) -> Comparison:
    if expected.dims != actual.dims:
        text = f"{place}: shape {list(actual.dims)} instead of {list(expected.dims)}."
        return Comparison(Outcome.WRONG_SHAPE, text)
    if expected.dtype != actual.dtype:
        return _other_dtype(expected, actual, terms, place)
    if terms.case.compare == "shape":
        return Comparison(Outcome.PASSED)
    if expected.data == actual.data:
        return EXACT
    return _numbers(expected, actual, terms, place)


def _other_dtype(expected: Tensor, actual: Tensor, terms: Terms, place: str) -> Comparison:
    names = f"{DTYPES[actual.dtype].name} instead of {DTYPES[expected.dtype].name}"
    if terms.case.compare == "shape":
        return Comparison(Outcome.WRONG_DTYPE, f"{place}: type {names}.")
    if STRING in (expected.dtype, actual.dtype) or len(PAIRS & {expected.dtype, actual.dtype}) == 1:
        return Comparison(Outcome.MISMATCH, f"{place}: type {names}.")
    found = _numbers(expected, actual, terms, place)
    right = found.outcome in (Outcome.PASSED, Outcome.CLOSE)
    outcome = Outcome.WRONG_DTYPE if right else Outcome.MISMATCH
    text = f"{place}: right values of type {names}." if right else f"{found.message} Type {names}."
    return Comparison(outcome, text, found.max_abs, found.max_rel, None, found.cosine, False)


def _numbers(expected: Tensor, actual: Tensor, terms: Terms, place: str) -> Comparison:
    """Tensors of one shape whose bytes differ."""
    wanted, got = to_numpy(expected), to_numpy(actual)
    if expected.dtype == STRING:
        return _texts(wanted, got, place)
    if not wanted.size:
        return EXACT
    wide, other = _wide(wanted), _wide(got)
    if terms.arithmetic == HALF:  # an infinity stands for what half precision cannot hold
        beyond = np.isinf(other) & np.isfinite(wide) & (np.abs(wide) > HALF_MAX)
        other = np.where(beyond, np.sign(other) * FILL, other)
    finite = np.isfinite(wide) & np.isfinite(other)
    if not finite.all():
        odd = ~finite & ~((wide == other) | (np.isnan(wide) & np.isnan(other)))
        if odd.any():
            return Comparison(Outcome.MISMATCH, _unequal(wide, other, odd, place), bit_exact=False)
        wide, other = np.where(finite, wide, 0.0), np.where(finite, other, 0.0)
    return _errors(expected, actual, wide, other, terms, place)


def _wide(array: Array) -> Array:
    """Flat float64 of any number type; complex numbers as pairs."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128).reshape(-1).view(np.float64)
    with np.errstate(invalid="ignore"):  # a signalling NaN is a value here, not a mistake
        return array.astype(np.float64).reshape(-1)


def _errors(
    expected: Tensor, actual: Tensor, wide: Array, other: Array, terms: Terms, place: str
) -> Comparison:
    error = np.abs(other - wide)
    size = np.abs(wide)
    ordinary = size < FILL
    largest_size = float((size[ordinary] if ordinary.any() else size).max())
    operators = {name for _, name in terms.case.operators}
    copies = bool(operators) and operators <= COPYING_OPERATORS
    peak: Any = largest_size
    if copies or not ordinary.all():  # the filler of a mask is a measure for itself alone
        peak = np.where(ordinary & (not copies), largest_size, size)
    scale: Any = size if terms.case.origin in ELEMENT_ORIGINS else peak
    allowed, close, reason = _bounds(expected.dtype, scale, peak, terms.case)
    if expected.dtype in BAND_OF and terms.arithmetic in ARITHMETIC:
        step = terms.step or float(np.ptp(wide[ordinary])) / CODES if ordinary.any() else 0.0
        allowed, close, reason = _widen(allowed, close, peak, step, ARITHMETIC[terms.arithmetic])
        if terms.arithmetic == HALF:
            close = np.where(_saturated(wide, other), error, close)
    equal = None
    if expected.dtype not in BAND_OF:  # beyond 2**53 float64 cannot tell integers apart
        equal = bool((to_numpy(expected) == to_numpy(actual)).all())
    outcome = _grade(error, allowed, close, equal)
    largest = float(error.max())
    if outcome is Outcome.PASSED:
        message = ""
    else:
        message = _unequal(wide, other, error > allowed if equal is None else error > 0, place)
    if outcome is Outcome.CLOSE:
        message = f"{message} Close: {reason}."
    return Comparison(
        outcome=outcome,
        message=message,
        max_abs=largest,
        max_rel=largest / largest_size if largest_size else None,
        max_ulp=_ulp(expected, actual),
        cosine=_cosine(wide, other),
        bit_exact=expected.dtype == actual.dtype and expected.data == actual.data,
    )


def _saturated(wide: Array, other: Array) -> Array:
    """Where half precision has no such number, and the answer is its largest or beyond it."""
    beyond = (np.abs(wide) > HALF_MAX) & (np.abs(other) >= HALF_MAX)
    saturated: Array = beyond & (np.sign(wide) == np.sign(other))
    return saturated


def _bounds(dtype: int, scale: Any, peak: Any, case: Case) -> tuple[Any, Any, str]:
    """Largest error that passes, largest that is close, and why that is close."""
    if dtype in BAND_OF:
        band = BAND_OF[dtype]
        allowed = case.atol + case.rtol * scale
        close = np.maximum(allowed * band.factor, band.step * scale)
        return allowed, np.maximum(close, band.cancel * peak), band.reason
    codes = dtype in QUANTISED_TYPES and any(
        operator in QUANTISING_OPERATORS for _, operator in case.operators
    )
    return 0.0, float(STEPS_ALLOWED if codes else 0), "one step of a quantised code"


def _widen(
    allowed: Any, close: Any, peak: Any, step: float, precision: Precision
) -> tuple[Any, Any, str]:
    """The bounds of a runtime that computes in less than the model says."""
    least = precision.least if np.max(peak) > precision.least else 0.0  # else any zero would pass
    steps = max(precision.steps_allowed * step, least)
    near = max(precision.steps_close * step, precision.floor)
    enough = np.maximum(allowed, np.maximum(precision.allowed * peak, steps))
    return enough, np.maximum(close, np.maximum(precision.close * peak, near)), precision.reason


def _grade(error: Array, allowed: Any, close: Any, equal: bool | None) -> Outcome:
    if equal is not False and (error <= allowed).all():
        return Outcome.PASSED
    hidden = equal is False and not error.any()
    return Outcome.CLOSE if (error <= close).all() and not hidden else Outcome.MISMATCH


def _unequal(wide: Array, other: Array, where: Array, place: str) -> str:
    """How many values are off, and the first of the worst."""
    with np.errstate(invalid="ignore"):
        error = np.where(where, np.abs(other - wide), -1.0)
    worst = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
    count = int(where.sum())
    return (
        f"{place}: {count} of {wide.size} values are off; "
        f"at {worst} it gave {other[worst]:.7g} instead of {wide[worst]:.7g}."
    )


def _texts(wanted: Array, got: Array, place: str) -> Comparison:
    off = int((wanted != got).sum())
    if not off:
        return EXACT
    text = f"{place}: {off} of {wanted.size} strings are off."
    return Comparison(Outcome.MISMATCH, text, bit_exact=False)


def _ulp(expected: Tensor, actual: Tensor) -> float | None:
    """Largest distance in units in the last place; NaNs, which are in equal places, aside."""
    if expected.dtype != actual.dtype or expected.dtype not in ULP_TYPES:
        return None
    kind = ULP_TYPES[expected.dtype]
    first, second = (_ordered(np.frombuffer(t.data, kind)) for t in (expected, actual))
    distance = np.abs(first - second)
    nan = np.isnan(to_numpy(expected).reshape(-1))
    return float(distance[~nan].max(initial=0))


def _ordered(bits: Array) -> Array:
    """Integers in the order of the floats whose bits they are."""
    wide = bits.astype(np.int64)
    lowest = np.int64(np.iinfo(bits.dtype).min)
    ordered: Array = np.where(wide < 0, lowest - wide, wide)
    return ordered


def _cosine(wide: Array, other: Array) -> float | None:
    if wide.size < 2:
        return None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        norms = float(np.sqrt(_dot(wide, wide)) * np.sqrt(_dot(other, other)))
        same = float(not (wide.any() or other.any()))
        value = _dot(wide, other) / norms if norms else same
    return min(1.0, max(-1.0, value)) if np.isfinite(value) else None


def _dot(first: Array, second: Array) -> float:
    """Without BLAS, whose threads would spin on the cores that the children are timed on."""
    return float(np.einsum("i,i->", first, second))
