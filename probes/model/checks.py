"""What makes a graph invalid whatever its operators: names, order, cycles, dangling inputs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import onnx
from onnx import GraphProto, NodeProto

from probes.model.refusals import Problem
from probes.model.scopes import subgraphs

MOST_PROBLEMS = 50
TERM = r"[A-Za-z]*(?:\.\.\.)?[A-Za-z]*"
EQUATION = re.compile(rf"{TERM}(?:,{TERM})*(?:->{TERM})?")


def find_problems(model: onnx.ModelProto) -> list[Problem]:
    """At most 50 problems of the graph and its sub-graphs; empty for a valid one."""
    found: list[Problem] = []
    stack = [check_graph(model.graph, frozenset(), found)]
    while stack and len(found) < MOST_PROBLEMS:
        inner = next(stack[-1], None)
        if inner is None:
            stack.pop()
        else:
            graph, visible = inner
            stack.append(check_graph(graph, visible, found))
    return found[:MOST_PROBLEMS]


def check_graph(
    graph: GraphProto, outer: frozenset[str], found: list[Problem]
) -> Iterator[tuple[GraphProto, frozenset[str]]]:
    """Adds the problems of one graph; yields its sub-graphs with the names they may read."""
    names = declared_names(graph)
    found += repeated_names(graph)
    later = {name for node in graph.node for name in node.output if name}
    late: list[tuple[NodeProto, str]] = []
    for node in graph.node:
        found += check_node(node)
        inner = subgraphs(node)
        if inner:
            visible = outer | names
            for _, part in inner:
                yield part, visible
        for name in node.input:
            if name and name not in names and name not in outer:
                if name in later:
                    late.append((node, name))
                else:
                    found.append(("missing_input", {"node": label(node), "name": name}))
        for name in node.output:
            if name and (name in names or name in outer):
                found.append(("duplicate_output", {"name": name}))
            names.add(name)
    if late:
        found.append(order_problem(graph, *late[0]))
    for output in graph.output:
        if output.name not in names and output.name not in outer:
            found.append(("missing_output", {"name": output.name}))


def repeated_names(graph: GraphProto) -> Iterator[Problem]:
    """Inputs and initializers that share a name with another of their kind."""
    initializers = [one.name for one in graph.initializer]
    initializers += [one.values.name for one in graph.sparse_initializer]
    kinds = (("graph input", [one.name for one in graph.input]), ("initializer", initializers))
    for what, names in kinds:
        if len(set(names)) < len(names):
            for name, times in Counter(names).items():
                if times > 1 and name:
                    yield "declared_twice", {"what": what, "name": name}


def check_node(node: NodeProto) -> Iterator[Problem]:
    if not node.op_type:
        yield "no_operator", {"node": label(node)}
    names = [attr.name for attr in node.attribute]
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        yield "attribute_twice", {"node": label(node), "name": twice}
    equation = check_equation(node)
    if equation:
        yield equation


def check_equation(node: NodeProto) -> Problem | None:
    """A malformed Einsum equation, on which onnx's shape inference can loop for ever."""
    for attr in node.attribute:
        if node.op_type == "Einsum" and attr.name == "equation":
            text = attr.s.decode("utf-8", "replace")
            if not EQUATION.fullmatch(text.replace(" ", "")):
                return "bad_equation", {"node": label(node), "equation": text[:80]}
    return None


def declared_names(graph: GraphProto) -> set[str]:
    """Names that exist before the first node runs."""
    return (
        {one.name for one in graph.input}
        | {one.name for one in graph.initializer}
        | {one.values.name for one in graph.sparse_initializer}
    )


def order_problem(graph: GraphProto, node: NodeProto, name: str) -> Problem:
    """A graph that some other order would make valid is unsorted; else it has a cycle."""
    maker = {out: at for at, one in enumerate(graph.node) for out in one.output if out}
    needs = [{maker[each] for each in one.input if each in maker} for one in graph.node]
    users: dict[int, list[int]] = {}
    for at, wanted in enumerate(needs):
        for source in wanted:
            users.setdefault(source, []).append(at)
    ready = [at for at, wanted in enumerate(needs) if not wanted]
    done = 0
    while ready:
        source = ready.pop()
        done += 1
        for user in users.get(source, ()):
            needs[user].discard(source)
            if not needs[user]:
                ready.append(user)
    if done < len(graph.node):
        return "cycle", {"name": name}
    return "unsorted", {"node": label(node), "name": name}


def label(node: NodeProto) -> str:
    """How a sentence names a node: its name, else its operator and first output."""
    return node.name or f"{node.op_type} -> {next(iter(node.output), '?')}"
