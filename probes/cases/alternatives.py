"""Ways into cases: other graphs with the inputs and the expected outputs of a mainstream case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper, parser

from probes.cases import origins
from probes.cases.build import (
    ORACLE,
    contents_of,
    expected_of,
    info_of,
    inputs_of,
    named_feeds,
    node_of,
    since_of,
)
from probes.cases.case import Case, case_id, operators_of
from probes.cases.fills import Array
from probes.cases.rows import Feed, Row
from probes.cases.tables import all_rows
from probes.cases.way import Given, Way
from probes.cases.ways import all_ways
from probes.model.values import Value, from_numpy

Name = tuple[str, str]  # domain, operator


class WayName(NamedTuple):
    """What the name of an alternative says: the case that it replaces, and how."""

    replaces: str
    way: str


def way_of(name: str) -> WayName | None:
    """The parts of "alternative/Gelu/128x3072-v1/erf-v1"; None for another case's name."""
    kind, _, rest = name.partition("/")
    case, _, way = rest.rpartition("/")
    if kind != origins.ALTERNATIVE:
        return None
    return WayName(f"mainstream/{case}", _unversioned(way))


def _unversioned(name: str) -> str:
    return name.rpartition("-v")[0]


@cache
def known_ways() -> Mapping[Name, Mapping[str, Mapping[str, Way]]]:
    """By operator and by the name of a mainstream case that has ways: those, by their names."""
    found: dict[Name, dict[str, dict[str, Way]]] = {}
    for row, ways in _rows_with_ways():
        own = found.setdefault((row.domain, row.op), {})
        own[row.name] = {_unversioned(way.name): way for way in ways}
    return found


@dataclass(frozen=True)
class _Computation:
    """A mainstream row with its tensors, worked out once for all its ways."""

    row: Row
    arrays: dict[str, Array]
    results: list[Array]
    inputs: tuple[Value, ...]
    expected: tuple[Value, ...]


def build_alternatives() -> Iterator[Case]:
    """Every alternative, by the table order of what it replaces, one at a time."""
    for row, ways in _rows_with_ways():
        computation = _compute(row)
        yield from (_build(computation, way) for way in ways)


def _rows_with_ways() -> Iterator[tuple[Row, list[Way]]]:
    ways: dict[tuple[str, str], list[Way]] = {}
    for way in all_ways():
        for label in way.rows:
            ways.setdefault((way.op, label), []).append(way)
    for row in all_rows():
        if wanted := ways.pop((row.op, row.label), None):
            yield row, wanted
    if ways:
        raise LookupError(f"no mainstream row is named {sorted(ways)}")


def _compute(row: Row) -> _Computation:
    arrays = contents_of(row)
    results = expected_of(row, arrays)
    return _Computation(
        row, arrays, results, inputs_of(row, arrays), tuple(map(from_numpy, results))
    )


def _build(given: _Computation, way: Way) -> Case:
    row = given.row
    model = _model(given, way)
    return Case(
        id=case_id(model, given.inputs),
        name=f"{origins.ALTERNATIVE}/{row.op}/{row.label}/{way.name}",
        domain=row.domain,
        op_type=row.op,
        since_version=since_of(row if way.nodes else replace(row, opset=way.opset)),
        origin=origins.ALTERNATIVE,
        core=False,
        model=model.SerializeToString(deterministic=True),
        opset=way.opset,
        ir_version=way.ir,
        inputs=given.inputs,
        expected=given.expected,
        oracle=ORACLE,
        oracles_agree=way.agree,
        rtol=row.rtol,
        atol=row.atol,
        compare="values",
        timed=True,
        citation=f"{way.why}; instead of {row.name}",
        signature={},
        operators=operators_of(model),
    )


def _model(given: _Computation, way: Way) -> onnx.ModelProto:
    row, feeds = given.row, named_feeds(given.row)
    nodes = _nodes(given, way)
    read = {name for node in nodes for name in node.input}
    contents = {
        **{name: given.arrays[name] for name in feeds if feeds[name].constant and name in read},
        **_constants(given, way),
    }
    graph = helper.make_graph(
        nodes,
        row.name,
        [info_of(name, given.arrays[name], True) for name in feeds if not feeds[name].constant],
        [info_of(f"y{i}", result, row.static) for i, result in enumerate(given.results)],
        [numpy_helper.from_array(array, name) for name, array in contents.items()],
    )
    opsets = [helper.make_opsetid("", way.opset)]
    return helper.make_model(graph, ir_version=way.ir, opset_imports=opsets)


def _nodes(given: _Computation, way: Way) -> list[onnx.NodeProto]:
    if not way.nodes:
        attrs = {**given.row.attrs, **way.attrs}
        own = {name: value for name, value in attrs.items() if value is not None}
        return [node_of(replace(given.row, attrs=own))]
    text = way.nodes % _words(given)
    return list(parser.parse_graph(f"way () => () {{ {text} }}").node)


def _words(given: _Computation) -> Mapping[str, object]:
    """What a text may name: attributes, and the size of the data."""
    shape = given.arrays["x0"].shape
    sizes = {"channels": shape[1], "plane": list(shape[2:])}
    return {**sizes, **given.row.attrs}


def _constants(given: _Computation, way: Way) -> dict[str, Array]:
    known = Given(given.arrays, given.row.attrs, given.results[0].shape)
    return {
        name: np.asarray(each.values) if isinstance(each, Feed) else each(known)
        for name, each in way.constants.items()
    }
