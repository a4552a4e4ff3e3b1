"""Types and shapes of a weight-stripped model, and what they prove wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

import onnx
from onnx import GraphProto, ValueInfoProto, defs, shape_inference

from probes.model.refusals import Problem
from probes.model.scopes import subgraphs
from probes.model.types import UNKNOWN, Shape, read_type

# Strict inference wants values that were left out with the weights: no fault of the model.
OF_STRIPPING = "Data size mismatch"
MOST_WARNINGS = 20
# What C++ exceptions become on their way to Python.
CPP_ERRORS = (RuntimeError, ValueError, MemoryError, IndexError, OverflowError)
MOST_ROUNDS = 6
LONGEST_RANK = 64
RANK_INPUT = {"Reshape": 1, "ConstantOfShape": 0}  # input whose length is the output's rank
NOISE = re.compile(r"\[\w+Error\]")
NODE = re.compile(r"\(op_type:\s*([^,)]*)(?:, node name:\s*([^)]*))?\):")


def name_node(match: re.Match[str]) -> str:
    return f"node '{match[2]}' ({match[1]}):" if match[2] else f"a {match[1]} node:"


@dataclass
class Inference:
    """The model with types and shapes; what proves it invalid, what is merely odd."""

    model: onnx.ModelProto
    inferred: bool = True
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)


def infer_types(model: onnx.ModelProto) -> Inference:
    """Infers twice: strictly without what the model declares, then with what does not contradict.

    Only the first can prove a model invalid; the second fills in what ONNX cannot infer (outputs
    of custom operators) and carries constants through shape arithmetic.
    """
    bare = without_declarations(model)
    problems: list[Problem] = []
    try:
        known = shape_inference.infer_shapes(bare, strict_mode=True)
    except shape_inference.InferenceError as error:
        problems = inference_problems(str(error))
        known = None
    except CPP_ERRORS as error:
        return Inference(model, False, [], [("not_inferred", {"detail": first_line(str(error))})])
    if known is None and not problems:  # nothing that the model can be blamed for
        known = infer_loosely(bare)
    lies = find_lies(model, known) if known is not None else []
    final = infer_with_ranks(without_lies(model, lies))
    if final is None:
        return Inference(model, False, problems, [("not_inferred", {"detail": "it failed"})])
    return Inference(final, True, problems, [("value_info_lies", lie) for lie in lies])


def infer_loosely(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """Whatever can be inferred; with constants carried along where that works."""
    for data_prop in (True, False):
        try:
            return shape_inference.infer_shapes(model, data_prop=data_prop)
        except (shape_inference.InferenceError, *CPP_ERRORS):
            continue
    return None


def infer_with_ranks(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """Infers again while the length of a run-time shape tells the rank of what it makes."""
    found = infer_loosely(model)
    for _ in range(MOST_ROUNDS):
        if found is None or not declare_ranks(found.graph):
            break
        found = infer_loosely(found) or found
    return found


def declare_ranks(graph: GraphProto) -> bool:
    """Gives outputs of unknown rank as many open dimensions as their shape input has elements."""
    values = {one.name: one for one in (*graph.input, *graph.value_info)}
    changed = False
    for node in graph.node:
        slot = RANK_INPUT.get(node.op_type)
        if slot is None or len(node.input) <= slot or node.output[0] not in values:
            continue
        target = values[node.output[0]].type
        source = values.get(node.input[slot])
        length = read_type(source.type)[1] if source is not None else None
        if read_type(target)[1] is not None or not length or length[0] is None:
            continue
        if target.WhichOneof("value") == "tensor_type" and length[0] <= LONGEST_RANK:
            target.tensor_type.shape.SetInParent()
            for _ in range(length[0]):
                target.tensor_type.shape.dim.add()
            changed = True
    return changed


def without_declarations(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy that declares only its inputs."""
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    for output in bare.graph.output:
        output.ClearField("type")
    stack: list[GraphProto] = [bare.graph]
    while stack:
        graph = stack.pop()
        del graph.value_info[:]
        stack += [inner for node in graph.node for _, inner in subgraphs(node)]
    return bare


def inference_problems(text: str) -> list[Problem]:
    """One problem per node that the error names.

    Left out: what stripping caused, and errors inside an operator's own function body, which
    onnx expands without the attributes' defaults (MeanVarianceNormalization).
    """
    found: list[Problem] = []
    inside = False
    for line in re.split(r"(?=\(op_type:)", text.replace("Inference error(s):", "")):
        node = NODE.search(line)
        detail = first_line(NODE.sub(name_node, NOISE.sub("", line)))
        opens = node is not None and detail.endswith(":")
        if detail and not inside and not opens and OF_STRIPPING not in line:
            found.append(("inference", {"detail": detail}))
        inside = opens and node is not None and has_own_body(node[1].strip())
    return found


@cache
def has_own_body(op: str) -> bool:
    """True for an ONNX operator that is defined by other operators."""
    schemas = (one for one in defs.get_all_schemas_with_history() if one.name == op)
    marks = ("has_function", "has_context_dependent_function")  # absent from onnx's type stubs
    return any(getattr(schema, mark, False) for schema in schemas for mark in marks)


def first_line(text: str, longest: int = 300) -> str:
    return " ".join(text.split())[:longest].strip(" .")


def find_lies(model: onnx.ModelProto, known: onnx.ModelProto) -> list[dict[str, str]]:
    """Declared types and shapes that the inferred ones contradict."""
    inferred = {one.name: one for one in (*known.graph.value_info, *known.graph.output)}
    lies = []
    for value in (*model.graph.value_info, *model.graph.output):
        other = inferred.get(value.name)
        if other is not None and contradicts(read_type(value.type), read_type(other.type)):
            lies.append({"tensor": value.name, "declared": spell(value), "inferred": spell(other)})
    return lies[:MOST_WARNINGS]


def contradicts(left: tuple[str, Shape | None], right: tuple[str, Shape | None]) -> bool:
    if UNKNOWN not in (left[0], right[0]) and left[0] != right[0]:
        return True
    if left[1] is None or right[1] is None:
        return False
    if len(left[1]) != len(right[1]):
        return True
    pairs = zip(left[1], right[1], strict=True)
    return any(one is not None and two is not None and one != two for one, two in pairs)


def spell(value: ValueInfoProto) -> str:
    dtype, shape = read_type(value.type)
    if shape is None:
        return dtype
    return f"{dtype}[{','.join('?' if dim is None else str(dim) for dim in shape)}]"


def without_lies(model: onnx.ModelProto, lies: list[dict[str, str]]) -> onnx.ModelProto:
    if not lies:
        return model
    names = {lie["tensor"] for lie in lies}
    honest = onnx.ModelProto()
    honest.CopyFrom(model)
    kept = [value for value in honest.graph.value_info if value.name not in names]
    del honest.graph.value_info[:]
    honest.graph.value_info.extend(kept)
    for output in honest.graph.output:
        if output.name in names:
            output.ClearField("type")
    return honest
