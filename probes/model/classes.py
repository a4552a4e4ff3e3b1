"""The class of a signature: each attribute and telling value reduced to what decides support.

The rows below are the table; `class_features` is its one reader.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from probes.model.buckets import (
    axes_place,
    axis_place,
    batched,
    broadcasting,
    by_type,
    directions,
    equation,
    exponent,
    group_kind,
    half_precision,
    ignored,
    kernel_size,
    list_length,
    magnitude,
    pad_kind,
    permutation,
    rank_of,
    repeats,
    scaling,
    sections,
    step_size,
    target_shape,
    zero_or_not,
)

Signature = dict[str, Any]
Bucket = Callable[[Any, Signature], Any]


def class_features(signature: Signature) -> dict[str, Any]:
    """What two signatures of one class share, as a JSON document."""
    op = signature["op"]
    inputs = signature["inputs"]
    values = {
        str(slot): bucket(inputs[slot]["value"], signature)
        for slot, bucket in VALUES.get(op, {}).items()
        if slot < len(inputs) and "value" in inputs[slot]
    }
    return {
        "op": [signature["domain"], op, signature["since"]],
        "inputs": [input_class(one) for one in inputs],
        "outputs": [[one["dtype"], rank_of(one)] for one in signature["outputs"]],
        "attrs": {
            name: ATTRIBUTES.get(name, by_type)(value, signature)
            for name, value in signature["attrs"].items()
            if ATTRIBUTES.get(name, by_type) is not ignored
        },
        "values": values,
        "relations": {name: rule(signature) for name, rule in RELATIONS.get(op, {}).items()},
        "subgraphs": signature["subgraphs"],
    }


def input_class(entry: dict[str, Any]) -> list[Any]:
    return [entry["dtype"], rank_of(entry), entry["const"], dynamism(entry["shape"])]


def dynamism(shape: list[int | None] | None) -> str:
    """ "batch" when only the first dimension is open: most runtimes treat that as its own case."""
    if shape is None:
        return "unknown"
    if None not in shape:
        return "static"
    return "batch" if None not in shape[1:] else "dynamic"


ATTRIBUTES: dict[str, Bucket] = {
    "axis": axis_place,
    "axes": axes_place,
    "batch_axis": axis_place,
    "group": group_kind,
    "kernel_shape": kernel_size,
    "strides": step_size,
    "dilations": step_size,
    "pads": pad_kind,
    "paddings": pad_kind,
    "output_padding": zero_or_not,
    "perm": permutation,
    "epsilon": half_precision,
    "equation": equation,
    "split": sections,
    "k": magnitude,
    "offset": zero_or_not,
    "seed": ignored,
    "hidden_size": ignored,
    "momentum": ignored,
    "consumed_inputs": ignored,
    "starts": ignored,
    "ends": ignored,
    "shape": ignored,
    "num_heads": ignored,
    "q_num_heads": ignored,
    "kv_num_heads": ignored,
    "output_height": ignored,
    "output_width": ignored,
    "pooled_shape": ignored,
    "size": ignored,
}

REDUCTIONS = tuple(
    f"Reduce{kind}"
    for kind in (
        "Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"
    )
)  # fmt: skip
VALUES: dict[str, dict[int, Bucket]] = {
    **{name: {1: axes_place} for name in REDUCTIONS},
    "Squeeze": {1: axes_place},
    "Unsqueeze": {1: list_length},
    "Slice": {3: axes_place, 4: directions},
    "Pad": {1: pad_kind},
    "TopK": {1: magnitude},
    "Reshape": {1: target_shape},
    "Split": {1: sections},
    "Pow": {1: exponent},
    "Resize": {1: scaling, 2: scaling},
    "Upsample": {1: scaling},
    "Tile": {1: repeats},
    "CumSum": {1: axis_place},
    "OneHot": {1: magnitude},
    "Trilu": {1: zero_or_not},
}

ELEMENTWISE = (
    "Add", "Sub", "Mul", "Div", "Pow", "Mod", "Min", "Max", "Mean", "Sum", "PRelu", "Where",
    "And", "Or", "Xor", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
    "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift",
)  # fmt: skip
RELATIONS: dict[str, dict[str, Callable[[Signature], Any]]] = {
    **{name: {"broadcast": broadcasting} for name in ELEMENTWISE},
    "MatMul": {"batch": batched},
    "MatMulInteger": {"batch": batched},
    "QLinearMatMul": {"batch": batched},
}
