"""How a case is presented to a runtime: as it is, with older version stamps, with constants.

A form never changes what the model computes; where it would, it does not apply and gives None.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import onnx

from probes.cases.case import walk_nodes
from probes.cases.casting import CAST_BY_NUMBER, can_wrap, wrap_in_casts
from probes.cases.restamp import IR_OF_LOOSE_INITIALIZERS, Range, possible_stamps, restamp
from probes.model.values import DTYPES, STRING, Tensor, Value

Formed = tuple[bytes, tuple[Value, ...]]
Traits = Mapping[str, Any]


class Takes(Protocol):
    """What a runtime reads: versions (None: no limit known), boundary types (empty: not known)."""

    @property
    def min_opset(self) -> int | None: ...
    @property
    def max_opset(self) -> int | None: ...
    @property
    def max_ir(self) -> int | None: ...
    @property
    def dtypes(self) -> tuple[str, ...]: ...


class Wants(Takes, Protocol):
    """What a runtime reads, and which forms may help it."""

    @property
    def static_shapes(self) -> bool: ...
    @property
    def constant_inputs(self) -> bool: ...
    @property
    def explicit_attributes(self) -> bool: ...


class Described(Protocol):
    """A case, or a description of one, by its stamps and by what forms depend on."""

    @property
    def opset(self) -> int: ...
    @property
    def ir_version(self) -> int: ...
    @property
    def traits(self) -> Traits: ...


BY_SHAPE = ("Shape", "Size")  # they look at no value
DRAWN = ("RandomNormal", "RandomUniform")  # from no input, and anew in every run
Applies = Callable[[Described, Wants], bool]


class FormFunction(Protocol):
    """Presents a model and its inputs; None when the form does not apply."""

    def __call__(
        self, proto: onnx.ModelProto, inputs: Sequence[Value], takes: Takes
    ) -> Sequence[Value] | None: ...


def restamped(
    proto: onnx.ModelProto, inputs: Sequence[Value], takes: Takes
) -> Sequence[Value] | None:
    """The ai.onnx opset and the IR version moved to the nearest that the runtime reads."""
    allowed = Range(takes.min_opset, takes.max_opset, takes.max_ir)
    return inputs if restamp(proto, allowed) else None


def static(proto: onnx.ModelProto, inputs: Sequence[Value], takes: Takes) -> Sequence[Value] | None:
    """Every dimension of the inputs fixed to what is fed; the other shapes follow from it."""
    if not _is_dynamic(proto) or len(proto.graph.input) != len(inputs):
        return None
    for info, value in zip(proto.graph.input, inputs, strict=True):
        if isinstance(value, Tensor):
            shape = onnx.TensorShapeProto()
            shape.dim.extend(onnx.TensorShapeProto.Dimension(dim_value=dim) for dim in value.dims)
            info.type.tensor_type.shape.CopyFrom(shape)
    del proto.graph.value_info[:]
    return inputs


def defaults(
    proto: onnx.ModelProto, inputs: Sequence[Value], takes: Takes
) -> Sequence[Value] | None:
    """Every attribute that is left to its default written out."""
    added = [attribute for node, left in _left_out(proto) for attribute in _write_out(node, left)]
    return inputs if added else None


def constant(
    proto: onnx.ModelProto, inputs: Sequence[Value], takes: Takes
) -> Sequence[Value] | None:
    """Every input but the first baked in as an initializer.

    None when there is no second input or when one of them is no tensor.
    """
    if not _can_be_constant(inputs):
        return None
    names = [info.name for info in proto.graph.input]
    for name, value in zip(names[1:], inputs[1:], strict=True):
        assert isinstance(value, Tensor)
        proto.graph.initializer.append(_initializer(name, value))
    del proto.graph.input[1:]
    proto.ir_version = max(proto.ir_version, IR_OF_LOOSE_INITIALIZERS)
    return inputs[:1]


def cast(proto: onnx.ModelProto, inputs: Sequence[Value], takes: Takes) -> Sequence[Value] | None:
    """Inputs and outputs of a type that the runtime does not take at the graph's edge in a wider
    one that it takes, with a Cast to and from it inside; nothing is rounded."""
    return wrap_in_casts(proto, inputs, takes.dtypes)


# Joined by "+" in this order: stamps and shapes first, the edge of the graph last.
FORMS: dict[str, FormFunction] = {
    "as_is": lambda proto, inputs, takes: inputs,
    "restamped": restamped,
    "static": static,
    "defaults": defaults,
    "constant": constant,
    "cast": cast,
}


def apply_form(form: str, model: bytes, inputs: Sequence[Value], takes: Takes) -> Formed | None:
    """Apply a form, or several joined by "+" in order; None when one of them does not apply.

    Raises KeyError for a name that is not in FORMS.
    """
    functions = [FORMS[name] for name in form.split("+")]
    if form == "as_is":
        return model, tuple(inputs)
    proto = onnx.load_from_string(model)
    for function in functions:
        formed = function(proto, inputs, takes)
        if formed is None:
            return None
        inputs = formed
    return proto.SerializeToString(deterministic=True), tuple(inputs)


def forms_for(case: Described, wants: Wants) -> tuple[str, ...]:
    """The forms worth trying in order: as it is; what the runtime needs at least; that with each
    form that may help; all of them together."""
    need = [name for name in ("restamped", "static") if NEEDED[name](case, wants)]
    help_ = [name for name in ("defaults", "constant", "cast") if HELPFUL[name](case, wants)]
    if "restamped" in need and _is_stuck(case, wants):
        return ("as_is",)
    chosen = [[], need, *([*need, name] for name in help_)]
    if len(help_) > 1:
        chosen.append([*need, *help_])
    return tuple(dict.fromkeys("+".join(names) or "as_is" for names in chosen))


def find_traits(proto: onnx.ModelProto, inputs: Sequence[Value]) -> dict[str, Any]:
    """What of a case decides which forms apply, as a JSON-ready document."""
    stamps = possible_stamps(proto)
    edge = {_edge_type(info.type) for info in (*proto.graph.input, *proto.graph.output)}
    return {
        **stamps._asdict(),
        "dynamic": _is_dynamic(proto),
        "defaults": any(True for _ in _left_out(proto)),
        "constant": _can_be_constant(inputs),
        "edge": sorted(edge),
        "folds": _folds(proto),
    }


def _above(version: int, maximum: int | None) -> bool:
    return maximum is not None and version > maximum


def _out_of_range(case: Described, takes: Takes) -> bool:
    return (
        _above(case.opset, takes.max_opset)
        or _above(case.ir_version, takes.max_ir)
        or _above(takes.min_opset or 0, case.opset)
    )


def _is_stuck(case: Described, takes: Takes) -> bool:
    """Whether an operator or type of it would mean something else in what the runtime reads."""
    traits = case.traits
    return (
        _above(traits.get("oldest_opset", 0), takes.max_opset)
        or _above(traits.get("oldest_ir", 0), takes.max_ir)
        or _above(takes.min_opset or 0, traits.get("newest_opset"))
    )


NEEDED: dict[str, Applies] = {
    "restamped": _out_of_range,
    "static": lambda case, wants: wants.static_shapes and bool(case.traits.get("dynamic")),
}
HELPFUL: dict[str, Applies] = {
    "defaults": lambda case, wants: wants.explicit_attributes and bool(case.traits.get("defaults")),
    "constant": lambda case, wants: wants.constant_inputs and bool(case.traits.get("constant")),
    "cast": lambda case, wants: (
        max(case.opset, wants.min_opset or 0) >= CAST_BY_NUMBER
        and can_wrap(case.traits.get("edge", ()), wants.dtypes)
    ),
}


def _folds(proto: onnx.ModelProto) -> bool:
    """Whether every output follows from constants and from shapes that are fixed."""
    known = {tensor.name for tensor in proto.graph.initializer} | {""}
    shaped = set() if _is_dynamic(proto) else {info.name for info in proto.graph.input}
    for node in proto.graph.node:
        runs = node.op_type in DRAWN or any(a.HasField("g") or a.graphs for a in node.attribute)
        by_shape = node.op_type in BY_SHAPE and shaped.issuperset(node.input)
        if by_shape or (known.issuperset(node.input) and not runs):
            known.update(node.output)
    return known.issuperset(info.name for info in proto.graph.output)


def _is_dynamic(proto: onnx.ModelProto) -> bool:
    return any(
        info.type.HasField("tensor_type")
        and not (
            info.type.tensor_type.HasField("shape")
            and all(dim.HasField("dim_value") for dim in info.type.tensor_type.shape.dim)
        )
        for info in proto.graph.input
    )


def _left_out(
    proto: onnx.ModelProto,
) -> Iterable[tuple[onnx.NodeProto, list[onnx.AttributeProto]]]:
    """Standard nodes with the attributes that they leave to a default of their schema."""
    versions = {each.domain: each.version for each in proto.opset_import}
    local = {function.name for function in proto.functions}
    for node in walk_nodes(proto.graph.node):
        if node.domain not in ("", "ai.onnx") or node.op_type in local:
            continue
        try:
            schema = onnx.defs.get_schema(node.op_type, versions.get(node.domain, 1), "")
        except onnx.defs.SchemaError:
            continue
        given = {attribute.name for attribute in node.attribute}
        left = [
            row.default_value
            for name, row in sorted(schema.attributes.items())
            if name not in given and row.default_value.type
        ]
        if left:
            yield node, left


def _write_out(
    node: onnx.NodeProto, left: Sequence[onnx.AttributeProto]
) -> Sequence[onnx.AttributeProto]:
    node.attribute.extend(left)
    return left


def _can_be_constant(inputs: Sequence[Value]) -> bool:
    return len(inputs) > 1 and all(isinstance(value, Tensor) for value in inputs[1:])


def _edge_type(proto: onnx.TypeProto) -> str:
    """ONNX's name of a tensor's type; "" for what is no tensor."""
    if not proto.HasField("tensor_type"):
        return ""
    row = DTYPES.get(proto.tensor_type.elem_type)
    return row.name if row else ""


def _initializer(name: str, value: Tensor) -> onnx.TensorProto:
    proto = onnx.TensorProto(name=name, data_type=value.dtype, dims=value.dims)
    if value.dtype == STRING:
        texts = json.loads(bytes(value.data))
        proto.string_data.extend(text.encode("utf-8", "surrogateescape") for text in texts)
    else:
        proto.raw_data = bytes(value.data)
    return proto
