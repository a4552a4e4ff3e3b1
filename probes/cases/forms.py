"""How a case is presented to a runtime: as it is, with older version stamps, with constants.

A form never changes what the model computes; where it would, it does not apply and gives None.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Protocol

import onnx

from probes.cases.canonical import domain_name
from probes.cases.case import walk_nodes
from probes.model.values import STRING, Tensor, Value

Formed = tuple[bytes, tuple[Value, ...]]

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


class Stamps(Protocol):
    """The newest versions that a runtime reads; None where it states no limit."""

    @property
    def max_opset(self) -> int | None: ...
    @property
    def max_ir(self) -> int | None: ...


class Stamped(Protocol):
    """A case, or a description of one, by the versions that its model states."""

    @property
    def opset(self) -> int: ...
    @property
    def ir_version(self) -> int: ...


class FormFunction(Protocol):
    """Presents a model and its inputs; None when the form does not apply."""

    def __call__(
        self, model: bytes, inputs: Sequence[Value], *, max_opset: int | None, max_ir: int | None
    ) -> Formed | None: ...


def as_is(
    model: bytes,
    inputs: Sequence[Value],
    *,
    max_opset: int | None = None,
    max_ir: int | None = None,
) -> Formed | None:
    """The model and the inputs unchanged."""
    return model, tuple(inputs)


def restamped(
    model: bytes,
    inputs: Sequence[Value],
    *,
    max_opset: int | None = None,
    max_ir: int | None = None,
) -> Formed | None:
    """The ai.onnx opset and the IR version lowered to the maxima.

    None when nothing is above them, or when an operator, a dtype or a construct of the model is
    younger than the maximum (it would mean something else, or nothing, there).
    """
    proto = onnx.load_from_string(model)
    lowered_opset = _lower_opsets(proto, max_opset)
    lowered_ir = _lower_ir(proto, max_ir)
    if lowered_opset is None or lowered_ir is None or not (lowered_opset or lowered_ir):
        return None
    return proto.SerializeToString(deterministic=True), tuple(inputs)


def constant(
    model: bytes,
    inputs: Sequence[Value],
    *,
    max_opset: int | None = None,
    max_ir: int | None = None,
) -> Formed | None:
    """Every input but the first baked in as an initializer.

    None when there is no second input or when one of them is no tensor.
    """
    rest = [value for value in inputs[1:] if isinstance(value, Tensor)]
    if not rest or len(rest) != len(inputs) - 1:
        return None
    proto = onnx.load_from_string(model)
    names = [info.name for info in proto.graph.input]
    for name, value in zip(names[1:], rest, strict=True):
        proto.graph.initializer.append(_initializer(name, value))
    del proto.graph.input[1:]
    proto.ir_version = max(proto.ir_version, IR_OF_LOOSE_INITIALIZERS)
    return proto.SerializeToString(deterministic=True), tuple(inputs[:1])


FORMS: dict[str, FormFunction] = {
    "as_is": as_is,
    "restamped": restamped,
    "constant": constant,
}


def apply_form(
    form: str,
    model: bytes,
    inputs: Sequence[Value],
    *,
    max_opset: int | None = None,
    max_ir: int | None = None,
) -> Formed | None:
    """Apply a form, or several joined by "+" in order; None when one of them does not apply.

    Raises KeyError for a name that is not in FORMS.
    """
    formed: Formed = (model, tuple(inputs))
    for name in form.split("+"):
        result = FORMS[name](*formed, max_opset=max_opset, max_ir=max_ir)
        if result is None:
            return None
        formed = result
    return formed


def forms_for(case: Stamped, capabilities: Stamps) -> tuple[str, ...]:
    """The forms worth trying in order: "as_is", then "restamped" if the stamps are too new."""
    above = _above(case.opset, capabilities.max_opset) or _above(
        case.ir_version, capabilities.max_ir
    )
    return ("as_is", "restamped") if above else ("as_is",)


def _initializer(name: str, value: Tensor) -> onnx.TensorProto:
    proto = onnx.TensorProto(name=name, data_type=value.dtype, dims=value.dims)
    if value.dtype == STRING:
        texts = json.loads(bytes(value.data))
        proto.string_data.extend(text.encode("utf-8", "surrogateescape") for text in texts)
    else:
        proto.raw_data = bytes(value.data)
    return proto


def _above(version: int, maximum: int | None) -> bool:
    return maximum is not None and version > maximum


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
