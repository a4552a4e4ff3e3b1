"""A model's distinct nodes as documents: shapes, attributes and small constants, never weights.

Run it in a child (`probes.run.harvest` does): shape inference is C++ that strangers can crash.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import onnx
from onnx import AttributeProto, NodeProto

from probes.cases.draws import is_drawable, needs_value
from probes.cases.harvest import model_of
from probes.model.attributes import LONGEST_LIST, domain_name, opset_imports
from probes.model.inference import infer_types
from probes.model.modelfile import read_structure
from probes.model.refusals import LIMITS, Limits, ModelFileError
from probes.model.scopes import Visit, open_scope, subgraphs, walk_nodes
from probes.model.signature import (
    FLOAT_VECTORS,
    Signature,
    is_telling,
    main_signature,
    make_signature,
    signature_key,
)
from probes.model.types import ABSENT, TensorInfo, element_count
from probes.model.values import DTYPES, NUMBER_OF, byte_length, from_numpy

SIZE = 32  # what an open dimension becomes; the first of several, the batch, becomes 1
MOST_BYTES = 4_000_000
MOST_ATTRIBUTE_BYTES = 16_384
ELEMENT = (1, 4)
INTEGERS = frozenset({"int32", "int64", "bool"})
Cut = dict[str, Any]


class NotCut(Exception):
    """Why a node makes no case; a few words that complete "left out: "."""


def cuts_of(
    path: str, *, size: int = SIZE, most_bytes: int = MOST_BYTES, limits: Limits = LIMITS
) -> dict[str, Any]:
    """{"cuts": [...], "left": {reason: nodes}, "sha256"}; raises ModelFileError.

    A cut is {"key", "signature", "node", "inputs", "outputs", "opsets", "ir", "count"}.
    """
    structure = read_structure(path, limits=limits)
    found = infer_types(structure.model)
    if found.problems or not found.inferred:
        raise ModelFileError("analysis_crashed", detail="its types cannot be inferred")
    opsets = opset_imports(found.model)
    cuts: dict[str, Cut] = {}
    left: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    for visit, sized in zip(_visits(found.model), _sized(found.model, size), strict=True):
        if visit.node.op_type == "Constant" or visit.folds:
            continue
        signature = make_signature(visit, opsets)
        key = signature_key(signature)
        counts[key] += 1
        if key not in cuts:
            try:
                cuts[key] = _cut(visit, sized, signature, found.model, most_bytes)
            except NotCut as error:
                reasons[key] = str(error)
    for key, reason in reasons.items():
        if key not in cuts:
            left[reason] += counts[key]
    listed = [{**cut, "count": counts[key]} for key, cut in cuts.items()]
    return {"cuts": listed, "left": dict(left), "sha256": structure.sha256}


def harvest(payload: dict[str, Any]) -> dict[str, Any]:
    """What a limited child runs: the arguments of `cuts_of` to what it gives, or {"refused"}."""
    try:
        return cuts_of(**payload)
    except ModelFileError as error:
        return {"refused": error.to_json()}


def _visits(model: onnx.ModelProto) -> Iterator[Visit]:
    return walk_nodes(open_scope(model.graph))


def _sized(model: onnx.ModelProto, size: int) -> Iterator[Visit]:
    """The same visits with the open dimensions of the model's inputs filled in."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    del fixed.graph.value_info[:]
    known: dict[str, int] = {}
    given = {one.name for one in fixed.graph.initializer}
    for value in fixed.graph.input:
        if value.name not in given:
            _fix(value.type.tensor_type.shape, known, size)
    return _visits(infer_types(fixed).model)


def _fix(shape: onnx.TensorShapeProto, known: dict[str, int], size: int) -> None:
    for at, dim in enumerate(shape.dim):
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            continue
        name = dim.dim_param
        number = known.get(name, 1 if at == 0 and len(shape.dim) > 1 else size)
        if name:
            known[name] = number
        dim.Clear()
        dim.dim_value = number


def _cut(
    visit: Visit, sized: Visit, signature: Signature, model: onnx.ModelProto, most_bytes: int
) -> Cut:
    """The document of one node; raises NotCut."""
    node = visit.node
    if subgraphs(node):
        raise NotCut("it holds sub-graphs, whose nodes are cut by themselves")
    _check_attributes(node)
    pairs = list(zip(visit.inputs, sized.inputs, strict=True))
    inputs = [_input(node, at, *pair, sized.inputs) for at, pair in enumerate(pairs)][
        : len(signature["inputs"])
    ]
    outputs = [list(one.shape) if element_count(one.shape) is not None else None  # type: ignore[arg-type]
               for one in sized.outputs]  # fmt: skip
    cut: Cut = {
        "key": signature_key(signature),
        "signature": signature,
        "node": base64.b64encode(_plain_node(node).SerializeToString()).decode(),
        "inputs": inputs,
        "outputs": outputs[: len(signature["outputs"])],
        "opsets": _opsets(node, model),
        "ir": model.ir_version,
    }
    _check_size(cut, most_bytes)
    _check_alone(cut)
    return cut


def _input(
    node: NodeProto, slot: int, info: TensorInfo, sized: TensorInfo, others: Sequence[TensorInfo]
) -> Any:
    """{"shape", "value"} of one input, None for one that is not given."""
    if info.dtype == ABSENT:
        return None
    if info.dtype.startswith("seq(") and is_drawable(info.dtype[4:-1]):
        return {"shape": _element_shape(slot, others), "value": None}
    if not is_drawable(info.dtype):
        raise NotCut(f"values of type {info.dtype.partition('(')[0]} are not drawn")
    shape = next((one for one in (info.shape, sized.shape) if element_count(one) is not None), None)
    if shape is None:
        raise NotCut("its shapes follow from what is computed")
    value = _kept(node.op_type, slot, info) or _computed(node.op_type, slot, info, sized)
    if value is None and not info.const and needs_value(node.op_type, slot, info.dtype):
        raise NotCut("an input that is computed decides its shapes")
    return {"shape": list(shape), "value": value}


def _element_shape(slot: int, others: Sequence[TensorInfo]) -> list[int]:
    """What a sequence holds is not known; a tensor that is to join it tells its shape."""
    known = [one.shape for one in others[slot + 1 : slot + 2] if one.shape]
    return [1 if dim is None else dim for dim in known[0]] if known else list(ELEMENT)


def _kept(op: str, slot: int, info: TensorInfo) -> Any:
    """The constants that the signature spells out; others are weights and drawn anew."""
    if info.const and info.value is not None and is_telling(op, slot, info):
        return _packed(info)
    return None


def _computed(op: str, slot: int, info: TensorInfo, sized: TensorInfo) -> Any:
    """A run-time input that follows from the shapes alone: a target shape, sizes, scales."""
    if info.const or sized.value is None or sized.value.size > LONGEST_LIST:
        return None
    shapes = info.dtype in INTEGERS or slot in FLOAT_VECTORS.get(op, ())
    return _packed(sized) if shapes and sized.dtype == info.dtype else None


def _packed(info: TensorInfo) -> list[Any]:
    assert info.value is not None
    tensor = from_numpy(info.value, NUMBER_OF[info.dtype])
    return [tensor.dtype, list(tensor.dims), base64.b64encode(tensor.data).decode()]


def _check_attributes(node: NodeProto) -> None:
    """Lists in ai.onnx.ml are what was learnt; a tensor of more than one number may be."""
    for attr in node.attribute:
        if attr.ByteSize() > MOST_ATTRIBUTE_BYTES:
            raise NotCut("its attributes are large")
        learnt = domain_name(node.domain) == "ai.onnx.ml" and len(attr.floats) + len(attr.strings)
        if learnt or attr.tensors or attr.HasField("sparse_tensor"):
            raise NotCut("its attributes hold weights")
        if attr.type == AttributeProto.TENSOR and (element_count(tuple(attr.t.dims)) or 0) > 1:
            raise NotCut("its attributes hold weights")


def _plain_node(node: NodeProto) -> NodeProto:
    """Operator and attributes: no names and no notes."""
    plain = NodeProto(op_type=node.op_type, domain=node.domain)
    for attr in node.attribute:
        copied = plain.attribute.add()
        copied.CopyFrom(attr)
        copied.ClearField("doc_string")
        copied.t.ClearField("name") if copied.HasField("t") else None
    return plain


def _opsets(node: NodeProto, model: onnx.ModelProto) -> dict[str, int]:
    used = {"ai.onnx", domain_name(node.domain)}
    return {name: number for name, number in opset_imports(model).items() if name in used}


def _check_size(cut: Cut, most_bytes: int) -> None:
    sides = [(cut["signature"]["inputs"], [one and one["shape"] for one in cut["inputs"]]),
             (cut["signature"]["outputs"], cut["outputs"])]  # fmt: skip
    total = sum(
        byte_length(NUMBER_OF[entry["dtype"]], shape)
        for entries, shapes in sides
        for entry, shape in zip(entries, shapes, strict=True)
        if shape is not None and DTYPES.get(NUMBER_OF.get(entry["dtype"], 0))
    )
    if total > most_bytes:
        raise NotCut(f"its tensors have more than {most_bytes:,} bytes")
    if any(shape is not None and 0 in shape for shape in sides[1][1]):
        raise NotCut("at this size nothing comes out")


def _check_alone(cut: Mapping[str, Any]) -> None:
    """The node alone must be the same node to whoever judges by signatures."""
    signature = cut["signature"]
    try:
        alone = main_signature(model_of(cut), signature["op"], signature["domain"])
    except (onnx.shape_inference.InferenceError, LookupError, ValueError, TypeError) as error:
        raise NotCut("alone it is no valid model") from error
    if signature_key(alone) != cut["key"]:
        raise NotCut("alone it has another signature")
