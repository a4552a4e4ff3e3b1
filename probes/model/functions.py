"""Model-local functions: their expansion is counted first, then the bodies replace the calls."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto

from probes.model.refusals import Limits, ModelFileError, Problem, gettext_noop
from probes.model.scopes import subgraphs

Key = tuple[str, str, str]
Functions = dict[Key, FunctionProto]
MOST = 10**12
LONGEST_PATH = 500


def expand_functions(
    model: onnx.ModelProto, limits: Limits
) -> tuple[onnx.ModelProto, list[Problem]]:
    """The model with every call replaced by the function's body, and what is odd about it.

    The path of the calls ("Warp_y/inner") stays in the doc_string of each inlined node, a field
    that the reader leaves empty. ModelFileError for recursion and for too many nodes.
    """
    functions = by_key(model)
    if not functions:
        return model, []
    check_expansion(model, functions, limits)
    expanded = onnx.ModelProto()
    expanded.CopyFrom(model)
    del expanded.functions[:]
    serials = itertools.count(1)
    stack: list[GraphProto] = [expanded.graph]
    while stack:
        graph = stack.pop()
        nodes = list(inline_calls(list(graph.node), functions, serials))
        del graph.node[:]
        graph.node.extend(nodes)
        stack += [inner for node in graph.node for _, inner in subgraphs(node)]
    return expanded, merge_imports(expanded, functions)


def by_key(model: onnx.ModelProto) -> Functions:
    """The model's functions; ModelFileError when two answer to one call."""
    functions: Functions = {}
    for one in model.functions:
        key = plain_domain(one.domain), one.name, one.overload
        if key in functions:
            raise ModelFileError("function_twice", function=one.name)
        functions[key] = one
    return functions


def plain_domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def key_of(node: NodeProto) -> Key:
    return plain_domain(node.domain), node.op_type, node.overload


def all_nodes(nodes: list[NodeProto]) -> Iterator[NodeProto]:
    """Nodes with those of their sub-graphs."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        for _, graph in subgraphs(node):
            stack += graph.node


@dataclass(frozen=True)
class Expansion:
    """What one node stands for once inlined, each call counted too; numbers stop at MOST."""

    nodes: int = 1
    bytes: int = 0
    depth: int = 0

    @classmethod
    def of_body(cls, parts: list[Expansion]) -> Expansion:
        return cls(
            min(MOST, sum(one.nodes for one in parts) + 1),
            min(MOST, sum(one.bytes for one in parts)),
            max((one.depth for one in parts), default=0) + 1,
        )


def check_expansion(model: onnx.ModelProto, functions: Functions, limits: Limits) -> None:
    """Counts what inlining would make without inlining anything."""
    sizes: dict[Key, Expansion] = {}
    bodies = {key: list(all_nodes(list(one.node))) for key, one in functions.items()}
    for key in callees_first(bodies):
        sizes[key] = Expansion.of_body([size_of(node, sizes) for node in bodies[key]])
    nodes = all_nodes(list(model.graph.node))
    total = Expansion.of_body([size_of(node, sizes) for node in nodes])
    if total.nodes > limits.expanded_nodes:
        found = str(total.nodes) if total.nodes < MOST else f"{MOST} or more"
        raise ModelFileError("function_bomb", found=found, limit=limits.expanded_nodes)
    if total.bytes > limits.kept_bytes:
        raise ModelFileError(
            "too_many", limit=limits.kept_bytes, what=gettext_noop("bytes of inlined functions")
        )
    if total.depth > limits.calls:
        raise ModelFileError(
            "too_many", limit=limits.calls, what=gettext_noop("functions calling each other")
        )


def size_of(node: NodeProto, sizes: dict[Key, Expansion]) -> Expansion:
    return sizes.get(key_of(node)) or Expansion(bytes=node.ByteSize())


def callees_first(bodies: dict[Key, list[NodeProto]]) -> Iterator[Key]:
    """Every function after those that it calls; ModelFileError when one calls itself."""
    calls = {key: {key_of(node) for node in nodes} & bodies.keys() for key, nodes in bodies.items()}
    done: set[Key] = set()
    opened: set[Key] = set()
    pending = list(bodies)
    while pending:
        key = pending[-1]
        missing = calls[key] - done
        if key in done or not missing:
            pending.pop()
            if key not in done:
                done.add(key)
                yield key
        elif key in opened:
            raise ModelFileError("function_recursion", function=key[1])
        else:
            opened.add(key)
            pending += missing


def inline_calls(
    nodes: list[NodeProto], functions: Functions, serials: Iterator[int]
) -> Iterator[NodeProto]:
    """The nodes of one graph, calls replaced until none is left (bounded by the count above)."""
    stack = nodes[::-1]
    while stack:
        node = stack.pop()
        function = functions.get(key_of(node))
        if function is None:
            yield node
            continue
        stack += list(Call(node, function, next(serials)).body())[::-1]


class Call:
    """One call of a function: its body under the caller's names and attributes."""

    def __init__(self, node: NodeProto, function: FunctionProto, serial: int) -> None:
        own = node.name or f"{node.op_type}:{next(iter(node.output), serial)}"
        self.path = (f"{node.doc_string}/{own}" if node.doc_string else own)[-LONGEST_PATH:]
        self.prefix = f"@{serial}/"
        if len(node.input) > len(function.input):
            raise ModelFileError(
                "function_missing_input",
                function=function.name,
                given=len(node.input),
                taken=len(function.input),
            )
        self.function = function
        self.names: dict[str, str] = {"": ""} | dict.fromkeys(function.input, "")
        self.names |= dict(zip(function.input, node.input, strict=False))
        outputs = zip(function.output, node.output, strict=False)
        self.results: dict[str, str] = {inner: outer for inner, outer in outputs if outer}
        self.given = {attr.name: attr for attr in function.attribute_proto}
        self.given |= {attr.name: attr for attr in node.attribute}

    def body(self) -> Iterator[NodeProto]:
        """Renamed copies of the body's nodes; an input handed straight out becomes an Identity."""
        for node in self.function.node:
            copy = NodeProto()
            copy.CopyFrom(node)
            copy.doc_string = self.path
            self.rename(copy)
            yield copy
        for inner, outer in self.results.items():
            if inner in self.names:
                source = self.names[inner]
                yield NodeProto(
                    op_type="Identity", input=[source], output=[outer], doc_string=self.path
                )

    def rename(self, node: NodeProto) -> None:
        """Names and attribute references of a node and of every graph inside it."""
        stack = [node]
        while stack:
            one = stack.pop()
            one.input[:] = [self.name(each) for each in one.input]
            one.output[:] = [self.name(each) for each in one.output]
            attributes = [bound for attr in one.attribute if (bound := self.bind(attr))]
            del one.attribute[:]
            one.attribute.extend(attributes)
            for _, graph in subgraphs(one):
                self.rename_values(graph)
                stack += graph.node

    def rename_values(self, graph: GraphProto) -> None:
        for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
            value.name = self.name(value.name)
        for sparse in graph.sparse_initializer:
            sparse.values.name = self.name(sparse.values.name)

    def name(self, inner: str) -> str:
        if inner in self.names:
            return self.names[inner]
        return self.results.get(inner) or self.prefix + inner

    def bind(self, attr: AttributeProto) -> AttributeProto | None:
        """The attribute itself, or what the call gives for the one it refers to."""
        if not attr.ref_attr_name:
            return attr
        given = self.given.get(attr.ref_attr_name)
        if given is None:
            return None
        bound = AttributeProto()
        bound.CopyFrom(given)
        bound.name = attr.name
        return bound


def merge_imports(model: onnx.ModelProto, functions: Functions) -> list[Problem]:
    """Adds the operator sets that only functions import; differing versions are odd."""
    imported = {entry.domain: entry for entry in model.opset_import}
    odd: list[Problem] = []
    for function in functions.values():
        for entry in function.opset_import:
            known = imported.get(entry.domain)
            if known is None:
                imported[entry.domain] = model.opset_import.add()
                imported[entry.domain].CopyFrom(entry)
            elif known.version != entry.version:
                params = {
                    "function": function.name,
                    "domain": entry.domain or "ai.onnx",
                    "found": entry.version,
                    "model": known.version,
                }
                odd.append(("function_opset_differs", params))
    return odd
