"""The comparison table: expected, actual, verdict; one row a reason."""

from types import SimpleNamespace

import numpy as np
import pytest

from probes.model.values import NUMBER_OF, STRING, Tensor, from_numpy, numpy_dtype
from probes.run.compare import compare
from probes.run.outcome import Outcome, Stage
from probes.run.tolerances import BANDS
from tests.probes.cases.make import make_case, make_inputs, make_node_model

NAN, INF = float("nan"), float("inf")


def case(**changes):
    fields = {"rtol": 1e-3, "atol": 0.0, "compare": "values", "origin": "mainstream"}
    node = {"operators": (("ai.onnx", "Add"),), "op_type": "Add"}
    return SimpleNamespace(**{**fields, **node, **changes})


def of(dtype, values):
    return from_numpy(np.array(values, dtype=numpy_dtype(NUMBER_OF[dtype])), NUMBER_OF[dtype])


ROWS = [
    ("equal", "float", [1, 2], [1, 2], Outcome.PASSED),
    ("within the tolerance of the peak", "float", [1000, 0], [1000, 0.9], Outcome.PASSED),
    ("in the band", "float", [1000, 0], [1000, 5], Outcome.CLOSE),
    ("beyond the band", "float", [1000, 0], [1000, 11], Outcome.MISMATCH),
    ("small outputs are held to their own peak", "float", [1e-7, 0], [2e-7, 0], Outcome.MISMATCH),
    ("equal NaN places", "float", [NAN, 1], [NAN, 1.0001], Outcome.PASSED),
    ("a NaN too many", "float", [2, 1], [NAN, 1], Outcome.MISMATCH),
    ("a NaN too few", "float", [NAN, 1], [2, 1], Outcome.MISMATCH),
    ("equal infinities", "float", [INF, -INF, 1], [INF, -INF, 1.0001], Outcome.PASSED),
    ("the other infinity", "float", [INF], [-INF], Outcome.MISMATCH),
    ("a large number for infinity", "float", [-INF], [-3.4e38], Outcome.MISMATCH),
    ("negative zero", "float", [0.0], [-0.0], Outcome.PASSED),
    ("nothing to compare", "float", [], [], Outcome.PASSED),
    ("double", "double", [1.0], [1.0 + 1e-12], Outcome.PASSED),
    ("two units of half precision", "float16", [1.0], [1.001953125], Outcome.CLOSE),
    ("one step of bfloat16", "bfloat16", [1.0], [1.0078125], Outcome.CLOSE),
    ("one step of float8", "float8e4m3fn", [1.0], [1.125], Outcome.CLOSE),
    ("two steps of float8", "float8e4m3fn", [1.0], [1.25], Outcome.MISMATCH),
    ("complex", "complex64", [1 + 1j], [1 + 1.0001j], Outcome.PASSED),
    ("wrong imaginary part", "complex64", [1 + 1j], [1 - 1j], Outcome.MISMATCH),
    ("an integer off by one", "int32", [1000], [1001], Outcome.MISMATCH),
    ("int64 beyond float64", "int64", [2**53], [2**53 + 1], Outcome.MISMATCH),
    ("uint64 beyond int64", "uint64", [2**64 - 1], [2**64 - 2], Outcome.MISMATCH),
    ("int4 off by one", "int4", [1, 2, 3], [1, 2, 4], Outcome.MISMATCH),
    ("bool", "bool", [True, False], [True, True], Outcome.MISMATCH),
    ("strings", "string", ["a", "b"], ["a", "c"], Outcome.MISMATCH),
    ("equal strings", "string", ["a", "b"], ["a", "b"], Outcome.PASSED),
]


@pytest.mark.parametrize(("reason", "dtype", "expected", "actual", "outcome"), ROWS)
def test_verdict(reason, dtype, expected, actual, outcome):
    found = compare([of(dtype, expected)], [of(dtype, actual)], case())
    assert found.outcome is outcome, reason
    assert found.facts()["stage"] == (None if outcome is Outcome.PASSED else Stage.COMPARE)
    assert bool(found.message) is (outcome is not Outcome.PASSED)


def test_node_tests_are_held_to_each_element():
    expected, actual = of("float", [1000, 1]), of("float", [1000, 1.5])
    assert compare([expected], [actual], case()).outcome is Outcome.PASSED
    assert compare([expected], [actual], case(origin="node")).outcome is Outcome.MISMATCH


def test_ten_times_a_wide_tolerance_is_not_close():
    """Cases in bfloat16 have 3 % already."""
    values = [of("bfloat16", [64.0])], [of("bfloat16", [46.0])]
    assert compare(*values, case(rtol=0.03)).outcome is Outcome.MISMATCH


def test_sums_that_cancel_are_close():
    expected, actual = of("float", [900, 0]), of("float", [900, 1e-4])
    node = case(origin="node", atol=1e-7)
    assert compare([expected], [actual], node).outcome is Outcome.CLOSE


@pytest.mark.parametrize(("difference", "outcome"), [(1, Outcome.CLOSE), (2, Outcome.MISMATCH)])
def test_a_quantising_operator_may_be_one_step_off(difference, outcome):
    quantised = case(operators=(("ai.onnx", "QuantizeLinear"),))
    found = compare([of("uint8", [7])], [of("uint8", [7 + difference])], quantised)
    assert found.outcome is outcome
    assert found.max_abs == difference


def test_figures():
    found = compare([of("float", [4, 2])], [of("float", [4, 2.001])], case())
    assert found.max_abs == pytest.approx(0.001, rel=1e-3)
    assert found.max_rel == pytest.approx(0.00025, rel=1e-3)
    assert found.max_ulp == pytest.approx(0.001 / 2**-22, rel=1e-3)
    assert found.cosine == pytest.approx(1.0, abs=1e-6)
    assert found.bit_exact is False
    exact = compare([of("float", [4])], [of("float", [4])], case())
    assert (exact.max_abs, exact.max_ulp, exact.bit_exact) == (0.0, 0.0, True)


@pytest.mark.parametrize(
    ("dtype", "first", "second", "distance"),
    [
        ("float", 1.0, np.nextafter(np.float32(1), np.float32(2)), 1),
        ("float", np.float32(1e-45), -np.float32(1e-45), 2),
        ("double", 1.0, np.nextafter(1.0, 0.0), 1),
        ("float16", 1.0, np.nextafter(np.float16(1), np.float16(2)), 1),
        ("bfloat16", 1.0, 1.0078125, 1),
    ],
)
def test_distance_in_units_in_the_last_place(dtype, first, second, distance):
    found = compare([of(dtype, [first])], [of(dtype, [second])], case())
    assert found.max_ulp == distance


def test_the_worst_output_decides_and_its_message_says_where():
    expected = [of("float", [1]), of("float", [1]), of("float", [1])]
    actual = [of("float", [1]), of("float", [3]), of("float", [1.0001])]
    found = compare(expected, actual, case())
    assert found.outcome is Outcome.MISMATCH
    assert found.message.startswith("output 1: 1 of 1 values are off")
    assert found.max_abs == 2
    assert found.bit_exact is False


def test_a_message_names_the_worst_value():
    found = compare([of("float", [1, 2, 3])], [of("float", [1, 9, 4])], case())
    assert "2 of 3" in found.message
    assert "at 1 it gave 9 instead of 2" in found.message


@pytest.mark.parametrize(
    ("expected", "actual", "outcome"),
    [
        (of("int64", [1, 2]), of("int32", [1, 2]), Outcome.WRONG_DTYPE),
        (of("int64", [1, 2]), of("int32", [1, 3]), Outcome.MISMATCH),
        (of("float16", [1, 2]), of("float", [1, 2]), Outcome.WRONG_DTYPE),
        (of("complex64", [1 + 1j]), of("float", [1]), Outcome.MISMATCH),
        (of("float", [1, 2]), of("complex64", [1, 2]), Outcome.MISMATCH),
        (of("int64", [1]), of("string", ["1"]), Outcome.MISMATCH),
        (of("float", [[1, 2]]), of("float", [1, 2]), Outcome.WRONG_SHAPE),
        (of("float", 1), of("float", [1]), Outcome.WRONG_SHAPE),
    ],
)
def test_type_and_shape(expected, actual, outcome):
    assert compare([expected], [actual], case()).outcome is outcome


def test_random_operators_are_held_to_type_and_shape_only():
    shape = case(compare="shape")
    assert compare([of("float", [1])], [of("float", [7])], shape).outcome is Outcome.PASSED
    wrong = compare([of("float", [1])], [of("double", [7])], shape)
    assert wrong.outcome is Outcome.WRONG_DTYPE
    assert compare([of("float", [1])], [of("float", 7)], shape).outcome is Outcome.WRONG_SHAPE


def test_sequences_and_optionals():
    one, two = of("float", [1]), of("float", [2])
    assert compare([[one, two]], [[one, two]], case()).outcome is Outcome.PASSED
    assert compare([[one, two]], [[one, one]], case()).outcome is Outcome.MISMATCH
    assert compare([[one, two]], [[one]], case()).outcome is Outcome.WRONG_SHAPE
    assert compare([[]], [[]], case()).outcome is Outcome.PASSED
    assert compare([None], [None], case()).outcome is Outcome.PASSED
    missing = compare([one], [None], case())
    assert missing.outcome is Outcome.WRONG_SHAPE
    assert "nothing instead of a tensor" in missing.message


def test_the_number_of_outputs_counts():
    found = compare([of("float", [1])], [], case())
    assert found.outcome is Outcome.WRONG_SHAPE
    assert "0 outputs instead of 1" in found.message


def test_every_float_type_has_a_band_with_a_reason():
    integers = {"uint", "int", "bool", "string"}
    for name, number in NUMBER_OF.items():
        if number != STRING and not any(name.startswith(prefix) for prefix in integers):
            assert BANDS[name].reason


def test_bytes_that_do_not_fit_their_shape_are_not_compared():
    with pytest.raises(ValueError, match="bytes"):
        compare([of("float", [1, 2])], [Tensor(1, (2,), b"\0" * 4)], case())


def test_a_signalling_nan_is_compared_without_a_warning(recwarn):
    """It is what garbage bytes often are; numpy warns when it widens one."""
    bits = np.array([0x7F800001, 0x3F800000], np.uint32)
    wanted = Tensor(1, (2,), bits.tobytes())
    got = Tensor(1, (2,), np.array([0x7FC00000, 0x3F800000], np.uint32).tobytes())
    assert compare([wanted], [got], case()).outcome is Outcome.PASSED
    assert not recwarn.list


FILLER = float(np.finfo(np.float32).min)
PRECISIONS = [
    ("four units of half precision", "float16", [100.0, 0], [100.35, 0], (), Outcome.PASSED),
    ("near zero beside large values", "float16", [100.0, 0], [100, 0.3], (), Outcome.PASSED),
    ("what half precision is accepted for", "float16", [100.0, 0], [100.9, 0], (), Outcome.CLOSE),
    ("more than that", "float16", [100.0, 0], [101.1, 0], (), Outcome.MISMATCH),
    ("small outputs by their own size", "float16", [1e-2, 0], [1.1e-2, 0], (), Outcome.MISMATCH),
    ("below what is normal", "float16", [1e-6, 0], [1.2e-6, 0], (), Outcome.PASSED),
    ("too small for half precision", "float16", [2e-7, 0], [0, 0], (), Outcome.CLOSE),
    ("made 0 because it is not normal", "float16", [5e-5, 0], [0, 0], (), Outcome.CLOSE),
    ("half of a small answer", "float16", [1e-4, 0], [2e-4, 0], (), Outcome.MISMATCH),
    ("two steps as told", "int8", [10.0, 0], [10.2, 0], (0.1,), Outcome.PASSED),
    ("three steps as told", "int8", [10.0, 0], [10.3, 0], (0.1,), Outcome.CLOSE),
    ("seven steps as told", "int8", [10.0, 0], [10.7, 0], (0.1,), Outcome.MISMATCH),
    ("two steps of the range", "int8", [2.55, 0], [2.57, 0], (), Outcome.PASSED),
    ("seven steps of the range", "int8", [2.55, 0], [2.62, 0], (), Outcome.MISMATCH),
]


@pytest.mark.parametrize(
    ("reason", "arithmetic", "expected", "actual", "steps", "outcome"), PRECISIONS
)
def test_verdict_where_the_runtime_computes_in_less(
    reason, arithmetic, expected, actual, steps, outcome
):
    values = [of("float", expected)], [of("float", actual)]
    node = case(origin="node", rtol=1e-3, atol=1e-7)
    found = compare(*values, node, arithmetic=arithmetic, steps=steps)
    assert found.outcome is outcome, reason


@pytest.mark.parametrize("arithmetic", ["", "float16", "int8"])
@pytest.mark.parametrize(
    ("told", "outcome"),
    [([1, -2, FILLER], Outcome.PASSED), ([7, -2, FILLER], Outcome.MISMATCH),
     ([0, 0, FILLER], Outcome.MISMATCH), ([1, -2, 0], Outcome.MISMATCH)],
)  # fmt: skip
def test_the_filler_of_a_mask_is_no_measure_for_what_is_beside_it(arithmetic, told, outcome):
    values = [of("float", [1, -2, FILLER])], [of("float", told)]
    found = compare(*values, case(rtol=1e-3, atol=1e-7), arithmetic=arithmetic)
    assert found.outcome is outcome


def test_beside_the_filler_of_a_mask_zeros_are_zeros():
    values = [of("float", [0, 0, FILLER])], [of("float", [1, 2, FILLER])]
    assert compare(*values, case(), arithmetic="float16").outcome is Outcome.MISMATCH


@pytest.mark.parametrize("arithmetic", ["", "float16"])
@pytest.mark.parametrize(
    ("told", "outcome"),
    [([1.0001, 0, -10000], Outcome.PASSED), ([2, 0, -10000], Outcome.MISMATCH),
     ([1, 0.5, -10000], Outcome.MISMATCH)],
)  # fmt: skip
def test_what_is_only_copied_is_held_to_its_own_size(arithmetic, told, outcome):
    values = [of("float", [1, 0, -10000])], [of("float", told)]
    where = case(operators=(("ai.onnx", "Where"),), rtol=1e-3, atol=1e-7)
    assert compare(*values, where, arithmetic=arithmetic).outcome is outcome


def test_integers_stay_exact_where_the_runtime_computes_in_less():
    found = compare([of("int64", [1000])], [of("int64", [1001])], case(), arithmetic="float16")
    assert found.outcome is Outcome.MISMATCH


TOP = make_node_model("TopK", [(1, (1, 4)), (7, (1,))], [(1, (1, 2)), (7, (1, 2))], 11)
VALUES = make_inputs(np.float32([[3, 8.001, 8.002, 8.001]]), np.int64([2]))
ORDERS = [
    ("a tie of half precision", [[1, 2]], Outcome.CLOSE),
    ("another value", [[2, 0]], Outcome.MISMATCH),
    ("the later of two that are equal", [[2, 3]], Outcome.MISMATCH),
    ("beyond the input", [[2, 9]], Outcome.MISMATCH),
]


@pytest.mark.parametrize(("reason", "told", "outcome"), ORDERS)
def test_indices_of_values_that_half_precision_cannot_tell_apart(reason, told, outcome):
    expected = make_inputs(np.float32([[8.002, 8.001]]), np.int64([[2, 1]]))
    actual = make_inputs(np.float32([[8.0, 8.0]]), np.int64(told))
    top = make_case(TOP, VALUES, op_type="TopK", origin="mainstream", expected=expected)
    found = compare(expected, actual, top, arithmetic="float16")
    assert found.outcome is outcome, reason
    exact = compare(expected, actual, top)
    assert exact.outcome is Outcome.MISMATCH, "a runtime that computes in float32 can tell"


GREATER = make_node_model("Greater", [(1, (3,)), (1, (3,))], [(9, (3,))], 13)


@pytest.mark.parametrize(
    ("told", "outcome"),
    [([True, True, True], Outcome.CLOSE), ([False, False, True], Outcome.MISMATCH),
     ([True, False, False], Outcome.MISMATCH)],
)  # fmt: skip
def test_comparisons_of_values_that_half_precision_cannot_tell_apart(told, outcome):
    """The second pair is nearly equal, the third is equal and so not greater."""
    inputs = make_inputs(np.float32([5, 8.001, 3]), np.float32([1, 8.002, 2]))
    greater = make_case(GREATER, inputs, op_type="Greater", origin="mainstream")
    expected = make_inputs(np.asarray([True, False, True]))
    found = compare(expected, make_inputs(np.asarray(told)), greater, arithmetic="float16")
    assert found.outcome is outcome


@pytest.mark.parametrize(
    ("arithmetic", "outcome"),
    [("float16", Outcome.MISMATCH), ("int8", Outcome.CLOSE)],
)
@pytest.mark.parametrize("edge", [65504.0, INF])
def test_an_edge_is_no_measure_for_what_is_compared_beside_it(arithmetic, outcome, edge):
    """Half precision tells 1 from 2 wherever they are; steps of 8 bits over 65504 do not."""
    inputs = make_inputs(np.float32([2, 5, edge]), np.float32([1, 6, 0]))
    greater = make_case(GREATER, inputs, op_type="Greater", origin="mainstream")
    expected, told = make_inputs(np.array([True, False, True])), [False, True, True]
    found = compare(expected, make_inputs(np.array(told)), greater, arithmetic=arithmetic)
    assert found.outcome is (outcome if edge < INF else Outcome.MISMATCH)


STEPS = [
    ("Round", [2.498, 8], [3, 8], Outcome.CLOSE),
    ("Round", [2.3, 8], [3, 8], Outcome.MISMATCH),
    ("Round", [2.5, 8], [3, 8], Outcome.MISMATCH),
    ("Floor", [2.998, 8], [3, 8], Outcome.CLOSE),
    ("Ceil", [2.002, 8], [2, 8], Outcome.CLOSE),
    ("Round", [2.498, 8], [3, 8.000001], Outcome.CLOSE),
    ("Round", [2.498, 8], [3.000001, 9], Outcome.MISMATCH),
    ("Floor", [2.998, 8], [777, 8], Outcome.MISMATCH),
    ("Floor", [2.998, 8], [np.nan, 8], Outcome.MISMATCH),
    ("Floor", [2.998, 8], [2.4, 8], Outcome.MISMATCH),
]


@pytest.mark.parametrize(("op", "fed", "told", "outcome"), STEPS)
def test_rounding_near_a_step_of_half_precision(op, fed, told, outcome):
    """Of 2.5 itself Round gives the even number, in any precision."""
    model = make_node_model(op, [(1, (2,))], [(1, (2,))], 13)
    inputs = make_inputs(np.float32(fed))
    expected = make_inputs(getattr(np, op.lower())(np.float32(fed)))
    rounding = make_case(model, inputs, op_type=op, origin="mainstream", expected=expected)
    found = compare(expected, make_inputs(np.float32(told)), rounding, arithmetic="float16")
    assert found.outcome is outcome


CASTS = [
    ("the whole number beside", np.int32, [2.998, 0, 8], [3, 0, 8], Outcome.CLOSE),
    ("nothing at all", np.int32, [1.3, 2.7, 300], [0, 0, 300], Outcome.MISMATCH),
    ("half precision holds it", bool, [0.01, 0, 8], [False, False, True], Outcome.MISMATCH),
    ("no step in floats", np.float16, [3.001, 0, 8], [4, 0, 8], Outcome.MISMATCH),
]


@pytest.mark.parametrize(("reason", "kind", "fed", "told", "outcome"), CASTS)
def test_a_cast_jumps_only_at_whole_numbers(reason, kind, fed, told, outcome):
    expected = make_inputs(np.float32(fed).astype(kind))
    model = make_node_model("Cast", [(1, (3,))], [(expected[0].dtype, (3,))], 13)
    cast = make_case(
        model, make_inputs(np.float32(fed)), op_type="Cast", origin="mainstream", expected=expected
    )
    found = compare(expected, make_inputs(np.asarray(told, kind)), cast, arithmetic="float16")
    assert found.outcome is outcome, reason


BEYOND = [
    ("its largest number", -65504.0, Outcome.CLOSE),
    ("a little more", -65536.0, Outcome.CLOSE),
    ("an infinity", -INF, Outcome.CLOSE),
    ("a toolkit's own filler", -10000.0, Outcome.MISMATCH),
    ("the other sign", 65504.0, Outcome.MISMATCH),
    ("no number", NAN, Outcome.MISMATCH),
]


@pytest.mark.parametrize(("reason", "told", "outcome"), BEYOND)
def test_what_half_precision_cannot_hold(reason, told, outcome):
    """The filler of a mask comes out as the largest number of half precision, or as infinity."""
    values = [of("float", [-3.4e38, 1.5])], [of("float", [told, 1.5])]
    where = case(operators=(("ai.onnx", "Where"),))
    assert compare(*values, where, arithmetic="float16").outcome is outcome, reason
    assert compare(*values, where).outcome is Outcome.MISMATCH
