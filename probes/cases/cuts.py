"""A model's distinct nodes as documents: shapes, attributes and small constants, never weights.

Run it in a child (`probes.run.harvest` does): shape inference is C++ that strangers can crash.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import onnx
from onnx import AttributeProto, NodeProto

from probes.cases.draws import is_drawable, needs_value
from probes.cases.harvest import model_of
from probes.cases.motifs import Pair, find_motifs
from probes.cases.pattern import DOMAIN
from probes.model.attributes import LONGEST_LIST, domain_name, opset_imports
from probes.model.inference import infer_types
from probes.model.modelfile import read_structure
from probes.model.refusals import LIMITS, Limits, ModelFileError
from probes.model.scopes import Visit, open_scope, subgraphs, walk_nodes
from probes.model.signature import (
    FLOAT_VECTORS,
    Signature,
    describe_type,
    digest,
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

    A cut is {"key", "signature", "nodes", "feeds", "inputs", "outputs", "opsets", "ir", "count"}.
    """
    structure = read_structure(path, limits=limits)
    found = infer_types(structure.model)
    if found.problems or not found.inferred:
        raise ModelFileError("analysis_crashed", detail="its types cannot be inferred")
    cuts: dict[str, Cut] = {}
    left: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    for key, make in _keyed(found.model, size, most_bytes):
        counts[key] += 1
        if key not in cuts:
            try:
                cuts[key] = make()
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


def _keyed(
    model: onnx.ModelProto, size: int, most_bytes: int
) -> Iterator[tuple[str, Callable[[], Cut]]]:
    """Every node that is left to run, then every known pattern, by its key."""
    opsets = opset_imports(model)
    pairs = list(map(Pair, _visits(model), _sized(model, size)))
    for pair in pairs:
        if pair.visit.node.op_type != "Constant" and not pair.visit.folds:
            signature = make_signature(pair.visit, opsets)
            yield signature_key(signature), partial(_cut, pair, signature, model, most_bytes)
    for motif, found in find_motifs(pairs):
        keys = [signature_key(make_signature(pair.visit, opsets)) for pair in found]
        key = digest("pattern", [motif.name, keys, [list(one.input) for one in _wired(found)]])
        yield key, partial(_cut_pattern, key, motif.name, found, model, most_bytes)


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


def _cut(pair: Pair, signature: Signature, model: onnx.ModelProto, most_bytes: int) -> Cut:
    """The document of one node; raises NotCut."""
    visit, sized = pair
    node = visit.node
    _check_node(node)
    given = zip(visit.inputs, sized.inputs, strict=True)
    inputs = [_input(node, at, *one, sized.inputs) for at, one in enumerate(given)]
    inputs = inputs[: len(signature["inputs"])]
    plain = _plain_node(node)
    plain.input.extend("" if one is None else f"x{at}" for at, one in enumerate(inputs))
    outputs = signature["outputs"]
    plain.output.extend("" if one["dtype"] == ABSENT else f"y{i}" for i, one in enumerate(outputs))
    cut: Cut = {
        "key": signature_key(signature),
        "signature": signature,
        "nodes": [_encoded(plain)],
        "feeds": [[0, at] for at in range(len(inputs))],
        "inputs": inputs,
        "outputs": [_shape(one) for one in sized.outputs][: len(outputs)],
        "opsets": _opsets([node], model),
        "ir": model.ir_version,
    }
    _check_size(cut, most_bytes)
    _check_alone(cut)
    return cut


def _cut_pattern(
    key: str, name: str, found: list[Pair], model: onnx.ModelProto, most_bytes: int
) -> Cut:
    """The document of the nodes of a pattern, the last of them its end; raises NotCut."""
    inputs: list[Any] = []
    entries: list[Any] = []
    feeds: list[list[int]] = []
    wired = _wired(found)
    for at, (pair, plain) in enumerate(zip(found, wired, strict=True)):
        _check_node(pair.visit.node)
        for slot, label in enumerate(plain.input):
            if label == f"x{len(inputs)}":
                info, sized = pair.visit.inputs[slot], pair.sized.inputs[slot]
                inputs.append(_input(pair.visit.node, slot, info, sized, pair.sized.inputs))
                entries.append({**describe_type(info), "const": info.const})
                feeds.append([at, slot])
    end = found[-1]
    outputs = [describe_type(one) for one in end.visit.outputs]
    cut: Cut = {
        "key": key,
        "signature": {"domain": DOMAIN, "op": name, "since": 1, "inputs": entries,
                      "outputs": outputs},
        "nodes": [_encoded(plain) for plain in wired],
        "feeds": feeds,
        "inputs": inputs,
        "outputs": [_shape(one) for one in end.sized.outputs],
        "opsets": _opsets([pair.visit.node for pair in found], model),
        "ir": model.ir_version,
    }  # fmt: skip
    _check_size(cut, most_bytes)
    return cut


def _wired(found: list[Pair]) -> list[NodeProto]:
    """The nodes of a pattern with plain names: x0, x1, ... come from outside, y0 is the end."""
    inside = {pair.visit.node.output[0]: f"t{at}" for at, pair in enumerate(found)}
    inside[found[-1].visit.node.output[0]] = "y0"
    outside: dict[str, str] = {"": ""}
    nodes = []
    for pair in found:
        plain = _plain_node(pair.visit.node)
        for name in pair.visit.node.input:
            if name not in inside and name not in outside:
                outside[name] = f"x{len(outside) - 1}"
            plain.input.append(inside.get(name) or outside[name])
        plain.output.append(inside[pair.visit.node.output[0]])
        nodes.append(plain)
    return nodes


def _encoded(node: NodeProto) -> str:
    return base64.b64encode(node.SerializeToString()).decode()


def _shape(info: TensorInfo) -> list[Any] | None:
    return None if info.shape is None or None in info.shape else list(info.shape)


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


def _check_node(node: NodeProto) -> None:
    """Lists in ai.onnx.ml are what was learnt; a tensor of more than one number may be."""
    if subgraphs(node):
        raise NotCut("it holds sub-graphs, whose nodes are cut by themselves")
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


def _opsets(nodes: Sequence[NodeProto], model: onnx.ModelProto) -> dict[str, int]:
    used = {"ai.onnx", *(domain_name(node.domain) for node in nodes)}
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
