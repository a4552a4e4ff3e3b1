"""The graph of one draft: parameters where the version has them, inputs constant or fed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import helper

from probes.cases.fills import Array
from probes.cases.restamp import IR_OF_DTYPE
from probes.cases.variants.contents import contents
from probes.cases.variants.vocabulary import (
    ONNX_DOMAIN,
    Choice,
    Draft,
    Slot,
    input_at,
    k,
)
from probes.model.values import NUMBER_OF, Tensor, Value, from_numpy, numpy_dtype, to_proto


class Refusal(Exception):
    """The version of the operator has no place for a parameter, or not for this data type."""


class Placed(NamedTuple):
    """A named input of the node: a tensor, or a sequence that the graph is fed with."""

    name: str
    slot: Slot | Sequence[Slot]
    constant: bool
    value: Value


def make_graph(
    draft: Draft, choice: Choice, name: str, domain: str, *, dry: bool
) -> tuple[onnx.GraphProto, tuple[Value, ...], int]:
    """The graph, its run-time inputs and the IR version that its types need. Raises Refusal; `dry`
    only finds out whether it would."""
    slots, attrs = _arranged(draft, choice)
    _check_types(slots, choice)
    if dry:
        return onnx.GraphProto(), (), 0
    placed = [
        Placed(
            f"x{at}", slot, _is_constant(slot, at, choice), _value(slot, choice, f"{name}/x{at}")
        )
        for at, slot in enumerate(slots)
        if slot is not None
    ]
    names = [f"x{at}" if slot is not None else "" for at, slot in enumerate(slots)]
    node = helper.make_node(
        choice.op,
        names,
        [f"y{at}" for at in range(draft.outputs)],
        domain="" if domain == ONNX_DOMAIN else domain,
        **{key: _attribute(value, choice) for key, value in attrs.items()},
    )
    graph = helper.make_graph(
        [node],
        name,
        [_info(each, choice) for each in placed if not each.constant],
        [onnx.ValueInfoProto(name=output) for output in node.output],
        [_initializer(each) for each in placed if each.constant],
    )
    inputs = tuple(each.value for each in placed if not each.constant)
    return graph, inputs, max((_ir_of(each.value) for each in placed), default=0)


def _arranged(draft: Draft, choice: Choice) -> tuple[list[Any], dict[str, Any]]:
    """Slots by position and attributes, each parameter where this version has it."""
    slots: list[Any] = list(draft.slots)
    attrs: dict[str, Any] = {}
    schema = choice.schema
    for name, value in draft.params.items():
        at = input_at(schema, name)
        own = next((a for a in schema.attributes if a.lower() == name.lower()), None)
        if value is None:
            continue
        if own is not None and not isinstance(value, Slot):
            attrs[own] = value
        elif own is not None and at is None:
            attrs[own] = value.values
        elif at is not None:
            slots += [None] * (at + 1 - len(slots))
            slots[at] = value if isinstance(value, Slot) else k(value)
        else:
            raise Refusal(name)
    if len(slots) > schema.max_input or any(
        a.required and a.name not in attrs for a in schema.attributes.values()
    ):
        raise Refusal("inputs or attributes")
    return slots, attrs


def _check_types(slots: Sequence[Any], choice: Choice) -> None:
    """Each tensor's type must be one that the version allows there."""
    formals = choice.schema.inputs
    bound: dict[str, str] = {}
    for at, slot in enumerate(slots):
        formal = formals[min(at, len(formals) - 1)]
        if slot is None:
            if at < choice.schema.min_input:
                raise Refusal(formal.name)
            continue
        if not isinstance(slot, Slot):
            continue
        dtype = _dtype(slot, choice)
        if f"tensor({dtype})" not in formal.types:
            raise Refusal(f"{formal.name} of type {dtype}")
        alike = formal.is_homogeneous or at < len(formals) - 1
        if alike and bound.setdefault(formal.type_str, dtype) != dtype:
            raise Refusal(f"{formal.name} of another type")


def _dtype(slot: Slot, choice: Choice) -> str:
    return slot.dtype or choice.dtype


def _is_constant(slot: Any, at: int, choice: Choice) -> bool:
    if not isinstance(slot, Slot):
        return False
    if slot.fixed is not None:
        return slot.fixed
    return at > 0 and choice.values.get("inputs") == "constant"


def _value(slot: Any, choice: Choice, seed: str) -> Value:
    if not isinstance(slot, Slot):
        return [_value(each, choice, f"{seed}/{at}") for at, each in enumerate(slot)]
    return from_numpy(_array(slot, choice, seed), NUMBER_OF[_dtype(slot, choice)])


def _array(slot: Slot, choice: Choice, seed: str) -> Array:
    dtype = _dtype(slot, choice)
    if slot.values is None:
        return contents(slot.kind, dtype, seed, slot.shape)
    if dtype == "string":
        return np.asarray(slot.values, object).reshape(slot.shape)
    return np.asarray(slot.values).astype(numpy_dtype(NUMBER_OF[dtype])).reshape(slot.shape)


def _attribute(value: Any, choice: Choice) -> Any:
    """A slot as an attribute is a tensor of its own type."""
    if isinstance(value, Slot):
        return to_proto(_value(value, choice, ""))
    return value


def _info(placed: Placed, choice: Choice) -> onnx.ValueInfoProto:
    dynamic = choice.values.get("sizes") == "dynamic"
    if isinstance(placed.slot, Slot):
        return onnx.helper.make_value_info(
            placed.name, _tensor_type(placed.slot, choice, placed.name if dynamic else "")
        )
    element = _tensor_type(placed.slot[0], choice, "")
    element.tensor_type.ClearField("shape")
    return helper.make_value_info(placed.name, helper.make_sequence_type_proto(element))


def _tensor_type(slot: Slot, choice: Choice, open_name: str) -> onnx.TypeProto:
    dims = [f"{open_name}_{at}" for at in range(len(slot.shape))] if open_name else slot.shape
    return helper.make_tensor_type_proto(NUMBER_OF[_dtype(slot, choice)], dims)


def _initializer(placed: Placed) -> onnx.TensorProto:
    proto = to_proto(placed.value, placed.name)
    assert isinstance(proto, onnx.TensorProto)
    return proto


def _ir_of(value: Value) -> int:
    return max((IR_OF_DTYPE.get(number, 0) for number in _numbers(value)), default=0)


def _numbers(value: Value) -> Iterator[int]:
    if isinstance(value, Tensor):
        yield value.dtype
    for each in value if isinstance(value, list) else ():
        yield from _numbers(each)
