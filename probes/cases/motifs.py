"""Known patterns in a model: the graphs of `probes.cases.patterns`, by operators and wiring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from onnx import NodeProto, parser

from probes.cases.patterns import all_patterns
from probes.model.attributes import attribute_value
from probes.model.scopes import Visit

COMMUTES = frozenset({"Add", "Mul"})
TELLING = ("perm",)  # attributes that make one pattern another


class Motif(NamedTuple):
    """A pattern's nodes in order, the last of them its end; `constants` are fixed in it."""

    name: str
    nodes: tuple[NodeProto, ...]
    constants: frozenset[str]
    makers: Mapping[str, NodeProto]


class Pair(NamedTuple):
    """A node as the model has it, and with the open dimensions of the inputs filled in."""

    visit: Visit
    sized: Visit


Found = dict[str, Pair]  # by the name of the motif's node's output


@cache
def motifs() -> tuple[Motif, ...]:
    """Of the patterns with one result; two that are wired alike are one."""
    found: dict[tuple[str, str], Motif] = {}
    for row in all_patterns():
        nodes = tuple(parser.parse_graph(f"pattern () => () {{ {row.nodes} }}").node)
        single = all(len(node.output) == 1 for node in nodes)
        if row.outputs != 1 or not single or len(nodes) < 2:
            continue
        constants = frozenset(name for name, feed in row.feeds.items() if feed.constant)
        makers = {node.output[0]: node for node in nodes}
        found.setdefault((row.name, row.nodes), Motif(row.name, nodes, constants, makers))
    return tuple(found.values())


def find_motifs(pairs: Iterable[Pair]) -> Iterator[tuple[Motif, list[Pair]]]:
    """Each pattern with its nodes in the model, in the order of the motif's own."""
    graphs: dict[int, list[Pair]] = {}
    uses: Counter[str] = Counter()
    for pair in pairs:
        uses.update(pair.visit.node.input)
        graphs.setdefault(id(pair.visit.scope), []).append(pair)
    for nodes in graphs.values():
        yield from Graph(nodes, uses).find()


class Graph:
    """The nodes of one graph of a model by what they make."""

    def __init__(self, pairs: list[Pair], uses: Counter[str]) -> None:
        self.pairs = [pair for pair in pairs if not pair.visit.folds]
        self.makers = {
            pair.visit.node.output[0]: pair
            for pair in pairs  # also what folds away: quantized weights are a part of some
            if len(pair.visit.node.output) == 1 and pair.visit.node.op_type != "Constant"
        }
        outputs = pairs[0].visit.scope.graph.output
        self.uses = uses + Counter(one.name for one in outputs)

    def find(self) -> Iterator[tuple[Motif, list[Pair]]]:
        for motif in motifs():
            end = motif.nodes[-1]
            for pair in self.pairs:
                if pair.visit.node.op_type != end.op_type or len(pair.visit.node.output) != 1:
                    continue
                found = self.match(motif, [(end, pair)], {}, {})
                if found and self.is_closed(motif, found):
                    yield motif, [found[node.output[0]] for node in motif.nodes]

    def match(
        self,
        motif: Motif,
        goals: list[tuple[NodeProto, Pair]],
        found: Found,
        bound: dict[str, str],
    ) -> Found | None:
        """What every node of the motif is in the model, once all goals are met."""
        if not goals:
            return found if len(found) == len(motif.nodes) else None
        (wanted, pair), *rest = goals
        known = found.get(wanted.output[0])
        if known is not None:
            return self.match(motif, rest, found, bound) if known is pair else None
        if not _alike(wanted, pair.visit):
            return None
        for order in _orders(wanted):
            names = dict(bound)
            more = self.inputs(motif, wanted, pair, order, names)
            if more is not None:
                here = {**found, wanted.output[0]: pair}
                done = self.match(motif, [*more, *rest], here, names)
                if done is not None:
                    return done
        return None

    def inputs(
        self, motif: Motif, wanted: NodeProto, pair: Pair, order: list[int], bound: dict[str, str]
    ) -> list[tuple[NodeProto, Pair]] | None:
        """New goals for the inputs that the motif makes itself; binds the others."""
        goals = []
        for slot, at in enumerate(order):
            name, actual = wanted.input[slot], pair.visit.node.input[at]
            if name in motif.makers:
                if actual not in self.makers:
                    return None
                goals.append((motif.makers[name], self.makers[actual]))
                continue
            fits = pair.visit.inputs[at].const or name not in motif.constants
            if bound.setdefault(name, actual) != actual or not fits:
                return None
        return goals

    def is_closed(self, motif: Motif, found: Found) -> bool:
        """Nobody else uses what is made inside."""
        inside = Counter(name for pair in found.values() for name in pair.visit.node.input)
        made = [found[node.output[0]].visit.node.output[0] for node in motif.nodes[:-1]]
        return all(self.uses[name] == inside[name] for name in made)


def _alike(wanted: NodeProto, visit: Visit) -> bool:
    """The same operator; what it is given beyond the motif's inputs is constant (a bias)."""
    node = visit.node
    if (node.op_type, node.domain) != (wanted.op_type, wanted.domain):
        return False
    count = len(wanted.input)
    if len(node.input) < count or not all(one.const for one in visit.inputs[count:]):
        return False
    own = {attr.name: attribute_value(attr) for attr in node.attribute if attr.name in TELLING}
    asked = {attr.name: attribute_value(attr) for attr in wanted.attribute if attr.name in TELLING}
    return own == asked


def _orders(wanted: NodeProto) -> list[list[int]]:
    straight = list(range(len(wanted.input)))
    return [straight, straight[::-1]] if wanted.op_type in COMMUTES else [straight]
