"""The document of a node of a real model into a case: its shapes and constants, drawn weights."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx import NodeProto, helper

from probes.cases import origins
from probes.cases.case import Case, case_id, operators_of
from probes.cases.draws import Feed, draw
from probes.cases.pattern import DOMAIN
from probes.model.attributes import attribute_value
from probes.model.types import ABSENT, UNKNOWN
from probes.model.values import NUMBER_OF, Tensor, Value, from_numpy, to_proto

Cut = Mapping[str, Any]
LEAST_IR = 4  # before it, an initializer had to be an input too
CITATION = "a node of a real model, its weights drawn anew"
RTOL = {"float16": 4e-3, "bfloat16": 3e-2}  # of the largest expected value of an output
PLAIN_RTOL = 1e-4
MARKS = ("", "/second", "/third")  # the elements of a sequence


def harvest_name(op: str, key: str) -> str:
    """The stable name of a harvested node."""
    return f"{origins.HARVEST}/{op}/{key}-v1"


def case_of(cut: Cut) -> Case:
    """The case of a cut, without expected outputs: equal on every machine in its id."""
    tensors = _contents(cut)
    model = _model(cut, tensors)
    signature = cut["signature"]
    entries = zip(tensors, signature["inputs"], strict=True)
    inputs = tuple(one for one, entry in entries if one is not None and not entry["const"])
    return Case(
        id=case_id(model, inputs),
        name=harvest_name(signature["op"], cut["key"]),
        domain=signature["domain"],
        op_type=signature["op"],
        since_version=signature["since"],
        origin=origins.HARVEST,
        core=False,
        model=model.SerializeToString(deterministic=True),
        opset=cut["opsets"].get("ai.onnx", 0),
        ir_version=model.ir_version,
        inputs=inputs,
        expected=(),
        oracle="",
        oracles_agree="",
        rtol=max(RTOL.get(one["dtype"], PLAIN_RTOL) for one in signature["outputs"]),
        atol=0.0,
        compare="values",
        timed=False,
        citation=CITATION,
        signature={} if signature["domain"] == DOMAIN else dict(signature),
        operators=operators_of(model),
    )


def model_of(cut: Cut) -> onnx.ModelProto:
    """The graph of one node, its constants as initializers."""
    return _model(cut, _contents(cut))


def _contents(cut: Cut) -> list[Value]:
    """What every input holds, None where it is left out."""
    nodes = _nodes(cut)
    shapes = [None if one is None else tuple(one["shape"]) for one in cut["inputs"]]
    found: list[Value] = []
    entries = zip(cut["inputs"], cut["signature"]["inputs"], cut["feeds"], strict=True)
    for at, (given, entry, (number, slot)) in enumerate(entries):
        if given is None:
            found.append(None)
        elif given["value"] is not None:
            dtype, dims, data = given["value"]
            found.append(Tensor(dtype, tuple(dims), base64.b64decode(data)))
        else:
            single = entry["dtype"].removeprefix("seq(").removesuffix(")")
            node = nodes[number]
            attrs = {attr.name: attribute_value(attr) for attr in node.attribute}
            around = shapes if len(nodes) == 1 else [None] * len(shapes)
            feed = Feed(node.op_type, slot, single, tuple(given["shape"]),
                        entry["const"], attrs, around, cut["outputs"])  # fmt: skip
            seed = f"{origins.HARVEST}/{cut['key']}/{at}"
            drawn = [from_numpy(draw(feed, f"{seed}{mark}"), NUMBER_OF[single]) for mark in MARKS]
            found.append(drawn[0] if single == entry["dtype"] else list(drawn))
    return found


def _nodes(cut: Cut) -> list[NodeProto]:
    nodes = []
    for encoded in cut["nodes"]:
        node = NodeProto()
        node.ParseFromString(base64.b64decode(encoded))
        nodes.append(node)
    return nodes


def _model(cut: Cut, tensors: list[Value]) -> onnx.ModelProto:
    signature = cut["signature"]
    names = ["" if one is None else f"x{at}" for at, one in enumerate(tensors)]
    outputs = signature["outputs"]
    entries = list(zip(names, signature["inputs"], tensors, strict=True))
    graph = helper.make_graph(
        _nodes(cut),
        "harvest",
        [_info(name, entry) for name, entry, _ in entries if name and not entry["const"]],
        [_info(f"y{i}", one) for i, one in enumerate(outputs) if one["dtype"] != ABSENT],
    )
    for name, entry, tensor in entries:
        if tensor is not None and entry["const"]:
            graph.initializer.append(to_proto(tensor, name))
    opsets = [
        helper.make_opsetid("" if name == "ai.onnx" else name, number)
        for name, number in sorted(cut["opsets"].items())
    ]
    ir = min(max(int(cut["ir"]), LEAST_IR), int(onnx.IR_VERSION))
    return helper.make_model(graph, ir_version=ir, opset_imports=opsets)


def _info(name: str, entry: Mapping[str, Any]) -> onnx.ValueInfoProto:
    """A value of the graph as the signature has it: each open dimension by a name of its own."""
    if entry["dtype"] == UNKNOWN:
        return onnx.ValueInfoProto(name=name)
    if entry["dtype"].startswith("seq("):
        number = NUMBER_OF[entry["dtype"][4:-1]]
        return helper.make_tensor_sequence_value_info(name, number, None)
    dims = None if entry["shape"] is None else _dims(name, entry["shape"])
    return helper.make_tensor_value_info(name, NUMBER_OF[entry["dtype"]], dims)


def _dims(name: str, shape: Sequence[int | None]) -> list[int | str]:
    return [f"{name}_{at}" if dim is None else dim for at, dim in enumerate(shape)]
