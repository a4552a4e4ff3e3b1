"""Values keep their type, shape and bits through every way that they travel."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from probes.model.values import (
    DTYPES,
    STRING,
    DtypeError,
    Tensor,
    from_numpy,
    from_proto,
    number_of,
    numpy_dtype,
    pack_values,
    to_numpy,
    to_proto,
    unpack_values,
)

NUMBERS = [number for number in DTYPES if number != STRING]


def sample(number, shape=(3,)):
    values = np.resize([1, 0.5, 2] if DTYPES[number].name == "float8e8m0" else [1, 0, 1], shape)
    return values.astype(numpy_dtype(number))


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: DTYPES[number].name)
@pytest.mark.parametrize("shape", [(3,), (), (2, 5), (0, 2)])
def test_numpy_round_trip(number, shape):
    array = sample(number, shape)
    tensor = from_numpy(array)
    back = to_numpy(tensor)
    assert (tensor.dtype, tensor.dims) == (number, shape)
    assert (back.dtype, back.shape) == (array.dtype, shape)
    assert (back == array).all()


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: DTYPES[number].name)
def test_bytes_are_those_of_onnx(number):
    proto = numpy_helper.from_array(sample(number))
    tensor = from_proto(proto)
    assert tensor == from_numpy(sample(number)) == from_proto(to_proto(tensor))
    assert tensor.data == proto.raw_data


def test_every_type_of_this_onnx_is_known():
    assert set(DTYPES) == set(TensorProto.DataType.values()) - {TensorProto.UNDEFINED}


@pytest.mark.parametrize("kind", ["int4", "int2"])
def test_packed_signed_codes_keep_their_sign(kind):
    number = next(n for n, row in DTYPES.items() if row.name == kind)
    array = np.array([-2, -1, 0, 1, -2], np.int8).astype(numpy_dtype(number))
    assert to_numpy(from_numpy(array)).astype(int).tolist() == [-2, -1, 0, 1, -2]


def test_typed_fields_of_a_proto_are_read_as_its_raw_bytes_would_be():
    proto = TensorProto(data_type=TensorProto.FLOAT16, dims=[2], int32_data=[0x3C00, 0x4000])
    assert to_numpy(from_proto(proto)).tolist() == [1.0, 2.0]
    scalar = TensorProto(data_type=TensorProto.INT64, int64_data=[7])
    assert from_proto(scalar).dims == ()


def test_strings_keep_letters_and_bytes_that_are_no_text():
    proto = TensorProto(data_type=STRING, dims=[2], string_data=["é".encode(), b"\xff"])
    tensor = from_proto(proto)
    assert to_numpy(tensor)[0] == "é"
    assert to_proto(tensor).string_data[1] == b"\xff"


def test_sequences_and_optionals():
    one = from_numpy(np.float32([1, 2]))
    for value in ([one, one], [], None, [[one], [one, one]]):
        assert from_proto(to_proto(value)) == value
    optional = onnx.OptionalProto(elem_type=1, tensor_value=to_proto(one))
    assert from_proto(optional) == one


def test_values_through_a_frame():
    one = from_numpy(np.float32(1))
    values = [one, None, [one, [one]], []]
    described, blobs = pack_values(values)
    assert unpack_values(described, [b"model", *blobs], first=1) == values


def test_a_type_may_be_given_as_its_bits():
    tensor = from_numpy(np.array([0x3F80], np.uint16), TensorProto.BFLOAT16)
    assert to_numpy(tensor).astype(float).tolist() == [1.0]
    with pytest.raises(ValueError, match="cannot hold"):
        from_numpy(np.zeros(1, np.float32), TensorProto.BFLOAT16)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="bytes"):
        to_numpy(Tensor(1, (2,), b"\0" * 7))
    with pytest.raises(DtypeError, match="unknown"):
        to_numpy(Tensor(99, (), b""))
    with pytest.raises(DtypeError, match="no ONNX data type"):
        number_of(np.dtype("datetime64[s]"))


def test_big_endian_arrays_are_refused_or_turned():
    tensor = from_numpy(np.array([1, 2], ">i4"))
    assert to_numpy(tensor).tolist() == [1, 2]
