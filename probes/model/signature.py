"""The signature of a node: what decides whether a runtime supports it, and its three keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import shape_inference

from probes.model.attributes import (
    LONGEST_LIST,
    domain_name,
    find_schema,
    opset_imports,
    plain_float,
    read_attributes,
    short_hash,
    since_version,
)
from probes.model.classes import class_features
from probes.model.scopes import Visit, open_scope, subgraphs, walk_nodes
from probes.model.types import ABSENT, TensorInfo

SCHEMA = 1
Signature = dict[str, Any]

WHOLE_NUMBERS = frozenset({"int32", "int64", "bool"})
# Constant inputs that hold weights however small they are: never read.
WEIGHT_INPUTS = {
    "QLinearConv": (3, 8),
    "ConvInteger": (1,),
    "MatMulInteger": (1,),
    "Gemm": (1, 2),
    "DequantizeLinear": (0,),
}
# Short float vectors that decide support rather than carry weights.
FLOAT_VECTORS = {"Resize": (1, 2), "Upsample": (1,)}


@dataclass(frozen=True)
class NodeSignature:
    """A node of a model with its signature; `path` names the sub-graph it stands in."""

    name: str
    path: str
    folds: bool
    signature: Signature


def node_signatures(model: onnx.ModelProto, *, infer: bool = True) -> list[NodeSignature]:
    """Signatures of every node, sub-graphs included, in file order.

    Shapes are inferred first unless `infer` is False; a model that cannot be inferred raises
    onnx.shape_inference.InferenceError. Models from strangers go through `facts` instead.
    """
    if infer:
        model = shape_inference.infer_shapes(model, strict_mode=False, data_prop=True)
    opsets = opset_imports(model)
    return [
        NodeSignature(visit.node.name, visit.scope.path, visit.folds, make_signature(visit, opsets))
        for visit in walk_nodes(open_scope(model.graph))
    ]


def main_signature(model: onnx.ModelProto, op_type: str, domain: str = "ai.onnx") -> Signature:
    """Signature of the first node that runs `op_type`; LookupError when the model has none."""
    for found in node_signatures(model):
        signature = found.signature
        if (signature["domain"], signature["op"]) == (domain_name(domain), op_type):
            return signature
    raise LookupError(f"the model has no {domain_name(domain)}.{op_type} node")


def make_signature(visit: Visit, opsets: Mapping[str, int]) -> Signature:
    """The signature document of one visited node."""
    node, domain = visit.node, domain_name(visit.node.domain)
    schema = find_schema(node.op_type, opsets.get(domain, 0), domain)
    inputs = [describe_input(node.op_type, at, one) for at, one in enumerate(visit.inputs)]
    while inputs and inputs[-1]["dtype"] == ABSENT:
        inputs.pop()
    outputs = [describe_type(one) for one in visit.outputs]
    while outputs and outputs[-1]["dtype"] == ABSENT:
        outputs.pop()
    return {
        "schema": SCHEMA,
        "domain": domain,
        "op": node.op_type,
        "since": since_version(node.op_type, domain, opsets),
        "inputs": inputs,
        "outputs": outputs,
        "attrs": read_attributes(node, schema, visit.inputs),
        "subgraphs": len(subgraphs(node)),
    }


def describe_type(info: TensorInfo) -> dict[str, Any]:
    return {"dtype": info.dtype, "shape": None if info.shape is None else list(info.shape)}


def describe_input(op: str, slot: int, info: TensorInfo) -> dict[str, Any]:
    """Type, shape, constancy and, where it decides support, the value of one input."""
    found = {**describe_type(info), "const": info.const}
    if info.value is not None and is_telling(op, slot, info):
        found["value"] = plain_values(info.value)
    return found


def is_telling(op: str, slot: int, info: TensorInfo) -> bool:
    """Integers up to 64 elements, single numbers and named vectors; a weight never is."""
    assert info.value is not None
    size = info.value.size
    if size > LONGEST_LIST or slot in WEIGHT_INPUTS.get(op, ()) or info.value.dtype.kind in "OSUc":
        return False
    return info.dtype in WHOLE_NUMBERS or size == 1 or slot in FLOAT_VECTORS.get(op, ())


def plain_values(array: np.ndarray[Any, Any]) -> list[Any]:
    """Flat JSON numbers; bfloat16, float8 and int4 arrays are widened first."""
    if array.dtype.kind in "iub":
        return [int(one) for one in array.ravel()]
    return [plain_float(float(one)) for one in array.ravel()]


def signature_key(signature: Signature) -> str:
    """16 hex digits: the same operator, inputs, values and attributes.

    Of the outputs only the types count: their shapes follow from the rest, or are not known.
    """
    exact = {**signature, "outputs": [one["dtype"] for one in signature["outputs"]]}
    return digest("signature", exact)


def class_key(signature: Signature) -> str:
    """16 hex digits: same operator, types, ranks and constancy, attributes of one class."""
    return digest("class", class_features(signature))


def dtype_key(signature: Signature) -> str:
    """16 hex digits: the same operator with the same types in and out."""
    types = [[one["dtype"] for one in signature[side]] for side in ("inputs", "outputs")]
    return digest("dtype", [signature["domain"], signature["op"], types])


def digest(kind: str, document: Any) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return short_hash(f"{kind}/{SCHEMA}|{text}")
