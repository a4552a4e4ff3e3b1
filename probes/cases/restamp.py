"""Lowering the version stamps of a model, where that changes nothing of what it computes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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


def restamp(proto: onnx.ModelProto, max_opset: int | None, max_ir: int | None) -> bool:
    """Lower the ai.onnx opset and the IR version in place to the maxima.

    False when nothing is above them, or when an operator, a dtype or a construct of the model is
    younger than the maximum (it would mean something else, or nothing, there).
    """
    lowered_opset = _lower_opsets(proto, max_opset)
    lowered_ir = _lower_ir(proto, max_ir)
    return lowered_opset is not None and lowered_ir is not None and (lowered_opset or lowered_ir)


def oldest_stamps(proto: onnx.ModelProto) -> tuple[int, int]:
    """The lowest ai.onnx opset and the lowest IR version that the model may be restamped to."""
    local = {(domain_name(f.domain), f.name) for f in proto.functions}
    groups = [(proto.opset_import, proto.graph.node)]
    groups += [(function.opset_import, function.node) for function in proto.functions]
    oldest = max(_oldest_opset(imports, nodes, local) for imports, nodes in groups)
    return oldest, min(_needed_ir(proto), proto.ir_version)


def _oldest_opset(
    imports: Sequence[onnx.OperatorSetIdProto],
    nodes: Sequence[onnx.NodeProto],
    local: set[tuple[str, str]],
) -> int:
    opset = max(
        (each.version for each in imports if domain_name(each.domain) == "ai.onnx"), default=0
    )
    lower = opset
    while lower > 1 and _mean_the_same(nodes, local, opset, lower - 1):
        lower -= 1
    return lower


def _lower_opsets(proto: onnx.ModelProto, maximum: int | None) -> bool | None:
    """Whether an import was lowered; None when one cannot be."""
    if maximum is None:
        return False
    local = {(domain_name(f.domain), f.name) for f in proto.functions}
    changed = False
    for imports, nodes in [
        (proto.opset_import, proto.graph.node),
        *((function.opset_import, function.node) for function in proto.functions),
    ]:
        for entry in imports:
            if domain_name(entry.domain) != "ai.onnx" or entry.version <= maximum:
                continue
            if not _mean_the_same(nodes, local, entry.version, maximum):
                return None
            entry.version = maximum
            changed = True
    return changed


def _mean_the_same(
    nodes: Sequence[onnx.NodeProto], local: set[tuple[str, str]], opset: int, lower: int
) -> bool:
    """Whether every standard operator has the same since-version under both opsets."""
    if opset > onnx.defs.onnx_opset_version():
        return False  # this onnx does not know what the newer opset changed
    return all(
        _since(node.op_type, opset) == _since(node.op_type, lower) != 0
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
