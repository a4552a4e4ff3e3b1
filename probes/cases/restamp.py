"""Other version stamps for a model, where that changes nothing of what it computes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import onnx

from probes.cases.canonical import domain_name
from probes.cases.case import walk_nodes

# The first IR version that can hold each of these (onnx.proto, enum Version).
IR_OF_LOOSE_INITIALIZERS = 4
IR_OF_SPARSE_INITIALIZERS = 6
IR_OF_FUNCTIONS = 8
IR_OF_OVERLOADS = 10
IR_OF_DTYPE: dict[int, int] = {
    onnx.TensorProto.BFLOAT16: 4,
    **dict.fromkeys((17, 18, 19, 20), 9),  # float8
    **dict.fromkeys((21, 22), 10),  # int4, uint4
    23: 11,  # float4
    24: 12,  # float8e8m0
    **dict.fromkeys((25, 26), 13),  # int2, uint2
    **dict.fromkeys((27, 28), 14),  # float6
}


class Range(NamedTuple):
    """The stamps that a runtime reads; None where it states no limit."""

    min_opset: int | None
    max_opset: int | None
    max_ir: int | None


class Stamps(NamedTuple):
    """The stamps under which a model means the same."""

    oldest_opset: int
    newest_opset: int
    oldest_ir: int


def restamp(proto: onnx.ModelProto, allowed: Range) -> bool:
    """Bring the ai.onnx opset and the IR version in place into what is allowed.

    False when nothing is outside, or when an operator, a dtype or a construct of the model would
    mean something else, or nothing, there.
    """
    moved_opset = _move_opsets(proto, allowed)
    lowered_ir = _lower_ir(proto, allowed.max_ir)
    return moved_opset is not None and lowered_ir is not None and (moved_opset or lowered_ir)


def possible_stamps(proto: onnx.ModelProto) -> Stamps:
    """Between which ai.onnx opsets, and from which IR version on, the model may be restamped."""
    local = {(domain_name(f.domain), f.name) for f in proto.functions}
    groups = [(proto.opset_import, proto.graph.node)]
    groups += [(function.opset_import, function.node) for function in proto.functions]
    ranges = [_same_opsets(imports, nodes, local) for imports, nodes in groups]
    return Stamps(
        max(oldest for oldest, _ in ranges),
        min(newest for _, newest in ranges),
        min(_needed_ir(proto), proto.ir_version),
    )


def _same_opsets(
    imports: Sequence[onnx.OperatorSetIdProto],
    nodes: Sequence[onnx.NodeProto],
    local: set[tuple[str, str]],
) -> tuple[int, int]:
    opset = max(
        (each.version for each in imports if domain_name(each.domain) == "ai.onnx"), default=0
    )
    oldest = newest = opset
    while oldest > 1 and _mean_the_same(nodes, local, opset, oldest - 1):
        oldest -= 1
    while newest < onnx.defs.onnx_opset_version() and _mean_the_same(
        nodes, local, opset, newest + 1
    ):
        newest += 1
    return oldest, newest


def _move_opsets(proto: onnx.ModelProto, allowed: Range) -> bool | None:
    """Whether an import was moved; None when one cannot be."""
    local = {(domain_name(f.domain), f.name) for f in proto.functions}
    changed = False
    for imports, nodes in [
        (proto.opset_import, proto.graph.node),
        *((function.opset_import, function.node) for function in proto.functions),
    ]:
        for entry in imports:
            wanted = min(entry.version, allowed.max_opset or entry.version)
            wanted = max(wanted, allowed.min_opset or wanted)
            if domain_name(entry.domain) != "ai.onnx" or entry.version == wanted:
                continue
            if not _mean_the_same(nodes, local, entry.version, wanted):
                return None
            entry.version = wanted
            changed = True
    return changed


def _mean_the_same(
    nodes: Sequence[onnx.NodeProto], local: set[tuple[str, str]], opset: int, other: int
) -> bool:
    """Whether every standard operator has the same since-version under both opsets."""
    if opset > onnx.defs.onnx_opset_version():
        return False  # this onnx does not know what the newer opset changed
    return all(
        _since(node.op_type, opset) == _since(node.op_type, other) != 0
        for node in walk_nodes(nodes)
        if domain_name(node.domain) == "ai.onnx" and ("ai.onnx", node.op_type) not in local
    )


def _since(op_type: str, opset: int) -> int:
    try:
        return int(onnx.defs.get_schema(op_type, opset, "").since_version)
    except onnx.defs.SchemaError:
        return 0


def _lower_ir(proto: onnx.ModelProto, maximum: int | None) -> bool | None:
    """Whether the IR version was lowered; None when the model needs a newer one."""
    if maximum is None or proto.ir_version <= maximum:
        return False
    if maximum < _needed_ir(proto):
        return None
    proto.ir_version = maximum
    return True


def _needed_ir(proto: onnx.ModelProto) -> int:
    declared = {info.name for info in proto.graph.input}
    loose = any(tensor.name not in declared for tensor in proto.graph.initializer)
    overloaded = any(getattr(function, "overload", "") for function in proto.functions)
    return max(
        [
            IR_OF_LOOSE_INITIALIZERS if loose else 0,
            IR_OF_SPARSE_INITIALIZERS if proto.graph.sparse_initializer else 0,
            IR_OF_FUNCTIONS if proto.functions else 0,
            IR_OF_OVERLOADS if overloaded else 0,
            *(IR_OF_DTYPE.get(dtype, 0) for dtype in _dtypes(proto)),
        ]
    )


def _dtypes(proto: onnx.ModelProto) -> Iterator[int]:
    graph = proto.graph
    for info in (*graph.input, *graph.output, *graph.value_info):
        yield _element_type(info.type)
    for tensor in graph.initializer:
        yield tensor.data_type
    for node in walk_nodes(graph.node):
        for attribute in node.attribute:
            yield attribute.t.data_type
            yield attribute.i if attribute.name in ("to", "dtype", "output_dtype") else 0


def _element_type(proto: onnx.TypeProto) -> int:
    kind = proto.WhichOneof("value")
    if kind in ("sequence_type", "optional_type"):
        return _element_type(getattr(proto, kind).elem_type)
    return (
        int(getattr(proto, kind).elem_type) if kind in ("tensor_type", "sparse_tensor_type") else 0
    )
