"""Walks every node of an inferred model, sub-graphs included, with what is known of its tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from onnx import AttributeProto, GraphProto, NodeProto

from probes.model.attributes import attribute_value
from probes.model.constants import (
    FOLDED_ELEMENTS,
    fold_value,
    is_folded,
    read_constant,
    read_initializer,
)
from probes.model.types import MISSING, NOTHING, TensorInfo, element_count, read_type


@dataclass(eq=False)
class Scope:
    """Tensors of one graph by name; a sub-graph sees its parents'."""

    graph: GraphProto
    path: str
    parent: Scope | None = None
    tensors: dict[str, TensorInfo] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)  # numbers that a document gave them

    def find(self, name: str) -> TensorInfo:
        """What is known of `name` here or outside; "" is an input left out."""
        if name == "":
            return MISSING
        scope: Scope | None = self
        while scope is not None:
            if name in scope.tensors:
                return scope.tensors[name]
            scope = scope.parent
        return NOTHING

    def owner(self, name: str) -> Scope | None:
        """The scope that defines `name`."""
        scope: Scope | None = self
        while scope is not None and name not in scope.tensors:
            scope = scope.parent
        return scope


@dataclass(frozen=True)
class Visit:
    """One node where it stands: its scope, what is known of its inputs, whether it folds away."""

    node: NodeProto
    scope: Scope
    inputs: list[TensorInfo]
    outputs: list[TensorInfo]
    folds: bool


def walk_nodes(root: Scope) -> Iterator[Visit]:
    """Visits in file order, a node before the nodes of its sub-graphs."""
    stack = [visit_graph(root)]
    while stack:
        visit = next(stack[-1], None)
        if visit is None:
            stack.pop()
            continue
        yield visit
        inner = [
            visit_graph(open_scope(graph, f"{node_path(visit)}/{label}", visit.scope))
            for label, graph in subgraphs(visit.node)
        ]
        stack.extend(reversed(inner))


def open_scope(graph: GraphProto, path: str = "", parent: Scope | None = None) -> Scope:
    """Declares what the graph says before its nodes are visited."""
    scope = Scope(graph, path, parent)
    for value in (*graph.input, *graph.output, *graph.value_info):
        dtype, shape = read_type(value.type)
        scope.tensors[value.name] = TensorInfo(dtype, shape)
    for tensor in graph.initializer:
        scope.tensors[tensor.name] = read_initializer(tensor)
    for sparse in graph.sparse_initializer:
        info = replace(read_initializer(sparse.values), shape=tuple(sparse.dims), value=None)
        scope.tensors[sparse.values.name] = info
    return scope


def visit_graph(scope: Scope) -> Iterator[Visit]:
    """Visits of one graph's own nodes; constants become known as they are met."""
    for node in scope.graph.node:
        inputs = [scope.find(name) for name in node.input]
        folds = is_folded(node, [info for info in inputs if info is not MISSING])
        if folds:
            remember_constant(node, inputs, scope)
        outputs = [scope.find(name) for name in node.output]
        for name in node.output:
            if name and name not in scope.tensors:
                scope.tensors[name] = NOTHING
        yield Visit(node, scope, inputs, outputs, folds)


def remember_constant(node: NodeProto, inputs: list[TensorInfo], scope: Scope) -> None:
    if node.op_type == "Constant":
        held = read_constant(node)
        if held is not None and node.output:
            scope.tensors[node.output[0]] = held
        return
    value = None
    if len(node.output) == 1:
        attrs = {attr.name: attribute_value(attr) for attr in node.attribute}
        value = fold_value(node.op_type, attrs, inputs)
    for name in node.output:
        known = scope.tensors.get(name, NOTHING)
        shape = known.shape if value is None else value.shape
        small = value if (element_count(shape) or 0) <= FOLDED_ELEMENTS else None
        scope.tensors[name] = replace(known, const=True, shape=shape, value=small)


def subgraphs(node: NodeProto) -> list[tuple[str, GraphProto]]:
    """Sub-graphs of a node with the attribute that holds each ("then_branch", "body")."""
    found = [(attr.name, attr.g) for attr in node.attribute if attr.type == AttributeProto.GRAPH]
    for attr in node.attribute:
        found += [(f"{attr.name}[{at}]", graph) for at, graph in enumerate(attr.graphs)]
    return found


def node_path(visit: Visit) -> str:
    """Path of a node, by its name or else by its operator and first output."""
    node = visit.node
    label = node.name or f"{node.op_type}:{next(iter(node.output), '')}"
    return f"{visit.scope.path}/{label}" if visit.scope.path else label
