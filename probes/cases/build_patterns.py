"""Patterns into cases: the graph of several nodes, its inputs, and float64 expectations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import helper, numpy_helper, parser

from probes.cases import origins
from probes.cases.build import ORACLE, info_of
from probes.cases.case import Case, case_id, operators_of
from probes.cases.fills import Array, fill
from probes.cases.pattern import DOMAIN, Pattern
from probes.cases.patterns import all_patterns
from probes.cases.references.control import run_graph, widened
from probes.model.values import from_numpy


def build_patterns() -> Iterator[Case]:
    """The case of every row, in table order."""
    yield from map(build_pattern, all_patterns())


def build_pattern(row: Pattern) -> Case:
    """The case of one row; nobody has yet said that its expected outputs agree."""
    arrays = {name: _contents(row, name) for name in row.feeds}
    nodes = list(parser.parse_graph(f"pattern () => () {{ {row.nodes} }}").node)
    results = _expected(row, nodes, arrays)
    model = _model(row, nodes, arrays, results)
    inputs = tuple(from_numpy(arrays[name]) for name in _given(row))
    return Case(
        id=case_id(model, inputs),
        name=row.case_name,
        domain=DOMAIN,
        op_type=row.name,
        since_version=1,
        origin=origins.PATTERN,
        core=True,
        model=model.SerializeToString(deterministic=True),
        opset=row.opset,
        ir_version=row.ir,
        inputs=inputs,
        expected=tuple(map(from_numpy, results)),
        oracle=ORACLE,
        oracles_agree="",
        rtol=row.rtol,
        atol=0.0,
        compare="values",
        timed=True,
        citation=row.cite,
        signature={},
        operators=operators_of(model),
    )


def _contents(row: Pattern, name: str) -> Array:
    feed = row.feeds[name]
    if feed.values is not None:
        return np.asarray(feed.values)
    return fill(feed.fill, f"{row.case_name}/{name}", feed.shape)


def _given(row: Pattern) -> list[str]:
    return [name for name, feed in row.feeds.items() if not feed.constant]


def _expected(row: Pattern, nodes: list[onnx.NodeProto], arrays: dict[str, Array]) -> list[Array]:
    outputs = [onnx.ValueInfoProto(name=f"y{i}") for i in range(row.outputs)]
    graph = onnx.GraphProto(node=nodes, output=outputs)
    wide = {name: widened(array) for name, array in arrays.items()}
    return [
        result.astype(np.float32) if result.dtype == np.float64 else result
        for result in map(np.asarray, run_graph(graph, wide))
    ]


def _model(
    row: Pattern, nodes: list[onnx.NodeProto], arrays: dict[str, Array], results: list[Array]
) -> onnx.ModelProto:
    given = _given(row)
    graph = helper.make_graph(
        nodes,
        row.case_name,
        [info_of(name, arrays[name], True) for name in given],
        [info_of(f"y{i}", result, row.static) for i, result in enumerate(results)],
        [
            numpy_helper.from_array(array, name)
            for name, array in arrays.items()
            if name not in given
        ],
    )
    opsets = [helper.make_opsetid("", row.opset)]
    return helper.make_model(graph, ir_version=row.ir, opset_imports=opsets)
