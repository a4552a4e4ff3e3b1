"""Frames: what was put in comes out, and nothing else is accepted."""

import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.model import frames
from probes.model.frames import FrameError


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none()), st.lists(st.binary()))
def test_round_trip(header, blobs):
    found, views = frames.decode(frames.encode(header, blobs))
    assert found == header
    assert [bytes(view) for view in views] == blobs


def test_frames_follow_each_other_in_a_stream():
    stream = io.BytesIO(frames.encode({"n": 1}, [b"a"]) + frames.encode({"n": 2}))
    assert frames.read(stream)[0] == {"n": 1}
    assert frames.read(stream)[0] == {"n": 2}
    assert frames.read(stream) is None


def test_a_length_is_known_from_the_prefix_alone():
    data = frames.encode({"n": 1}, [b"abc"])
    assert frames.frame_length(data[:5]) is None
    assert frames.frame_length(data[: frames.PREFIX.size]) == len(data)


@pytest.mark.parametrize("kept", range(1, 40, 3))
def test_a_cut_frame_is_refused(kept):
    data = frames.encode({"name": "x"}, [b"abcdefgh"])
    assert kept < len(data)
    with pytest.raises(FrameError):
        frames.read(io.BytesIO(data[:kept]))
    with pytest.raises(FrameError):
        frames.decode(data[:kept])


@given(st.binary(max_size=200))
def test_noise_is_refused_not_trusted(noise):
    with pytest.raises(FrameError):
        frames.decode(noise)


@given(st.integers(min_value=0), st.integers(0, 255))
def test_a_changed_byte_never_escapes_as_another_error(position, value):
    data = bytearray(frames.encode({"name": "x"}, [b"abc", b"de"]))
    data[position % len(data)] = value
    with contextlib.suppress(FrameError):
        frames.decode(data)


@pytest.mark.parametrize(
    "prefix",
    [
        (b"OAF1", 2**31, 0, 2**32),
        (b"OAF1", 2, 2**20, 2**25),
        (b"OAF1", 2, 0, 2**40),
        (b"OAF1", 20, 0, 10),
        (b"XXXX", 2, 0, 2),
    ],
)
def test_sizes_are_bounded_before_anything_is_read(prefix):
    with pytest.raises(FrameError):
        frames.frame_length(frames.PREFIX.pack(*prefix))


def test_blob_sizes_must_fill_the_frame():
    data = bytearray(frames.encode({}, [b"abc"]))
    data[frames.PREFIX.size] = 2
    with pytest.raises(FrameError, match="fill"):
        frames.decode(data)


def test_a_header_is_an_object():
    text = b"[]"
    data = frames.PREFIX.pack(frames.MAGIC, len(text), 0, len(text)) + text
    with pytest.raises(FrameError, match="object"):
        frames.decode(data)
