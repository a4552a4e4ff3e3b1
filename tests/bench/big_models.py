"""Large models for the benches, written without holding their weights in memory."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

CHANNELS = 8


def convolution_stack(path: Path, *, nodes: int, megabytes: int, sparse: bool = False) -> int:
    """Convolutions and Relus in turn with `megabytes` of weights in all; the file's bytes.

    `sparse` leaves the weights as a hole of the file system, which reads as zeros.
    """
    pairs = nodes // 2
    outside = megabytes * 1_000_000 // pairs // (4 * 9 * CHANNELS)  # channels between the pairs
    graph = _graph(pairs, outside)
    payload = outside * CHANNELS * 9 * 4
    random = np.random.default_rng(1)
    with path.open("wb") as file:
        file.write(_field(1, 9) + _field(8, _field(1, b"") + _field(2, 17)))
        heads = [
            _tensor_head(number, pair_shape(number, outside), payload) for number in range(pairs)
        ]
        sizes = [len(head) + payload for head in heads]
        bodies = sum(len(_open(5, size)) + size for size in sizes)
        file.write(_open(7, len(graph) + bodies) + graph)
        for head, size in zip(heads, sizes, strict=True):
            file.write(_open(5, size) + head)
            if sparse:
                file.seek(payload, 1)
            else:
                file.write(random.random(payload // 4, np.float32).tobytes())
        file.truncate()
        return file.tell()


def pair_shape(number: int, outside: int) -> list[int]:
    """Weights that widen and narrow in turn, so that each convolution fits the next."""
    return [outside, CHANNELS, 3, 3] if number % 2 == 0 else [CHANNELS, outside, 3, 3]


def _graph(pairs: int, outside: int) -> bytes:
    nodes = []
    last = "x"
    for number in range(pairs):
        nodes.append(
            helper.make_node(
                "Conv",
                [last, f"w{number}"],
                [f"c{number}"],
                name=f"conv{number}",
                pads=[1, 1, 1, 1],
            )
        )
        last = f"r{number}" if number < pairs - 1 else "y"
        nodes.append(helper.make_node("Relu", [f"c{number}"], [last], name=f"relu{number}"))
    shape = [1, CHANNELS, 56, 56]
    graph = helper.make_graph(
        nodes,
        "stack",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    return bytes(graph.SerializeToString())


def _tensor_head(number: int, dims: list[int], payload: int) -> bytes:
    head = onnx.TensorProto(name=f"w{number}", data_type=TensorProto.FLOAT, dims=dims)
    return bytes(head.SerializeToString()) + _open(9, payload)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _open(number: int, size: int) -> bytes:
    """Tag and length of a field whose content follows."""
    return _varint(number << 3 | 2) + _varint(size)


def _field(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return _varint(number << 3) + _varint(content)
    return _open(number, len(content)) + content
