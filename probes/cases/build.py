"""Rows of the mainstream tables into cases: the model, its inputs, and float64 expectations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from probes.cases.case import Case, case_id, operators_of
from probes.cases.fills import Array, fill
from probes.cases.reference import REFERENCES
from probes.cases.references.control import OUTER, attributes_of, widened
from probes.cases.rows import Feed, Row
from probes.cases.tables import all_rows
from probes.model.signature import main_signature
from probes.model.values import Value, from_numpy

ORACLE = "float64 numpy"
# Beside the opset under test; the version in which exporters wrote the operators of each domain.
DOMAIN_VERSIONS = {"ai.onnx.ml": 1, "com.microsoft": 1}


def build_cases() -> Iterator[Case]:
    """Every mainstream case in table order, one at a time (tens of MB at most each)."""
    for row in all_rows():
        yield build_case(row)


def build_case(row: Row) -> Case:
    """The case of one row; equal on every machine in its id (the expectations to rounding)."""
    arrays = contents_of(row)
    node = node_of(row)
    results = expected_of(row, arrays)
    model = model_of(row, node, arrays, results)
    inputs = inputs_of(row, arrays)
    return Case(
        id=case_id(model, inputs),
        name=row.name,
        domain=row.domain,
        op_type=row.op,
        since_version=since_of(row),
        origin="mainstream",
        core=True,
        model=model.SerializeToString(deterministic=True),
        opset=row.opset,
        ir_version=row.ir,
        inputs=inputs,
        expected=tuple(from_numpy(result) for result in results),
        oracle=ORACLE,
        oracles_agree=row.agree,
        rtol=row.rtol,
        atol=row.atol,
        compare="values",
        timed=True,
        citation=row.cite,
        signature=main_signature(model, row.op, row.domain),
        operators=operators_of(model),
    )


def named_feeds(row: Row) -> dict[str, Feed]:
    """The tensors around the node by name: its inputs, then what its bodies capture."""
    named = {f"x{i}": feed for i, feed in enumerate(row.feeds) if feed is not None}
    return {**named, **{f"outer{i}": feed for i, feed in enumerate(row.captured)}}


def contents_of(row: Row) -> dict[str, Array]:
    """The contents of every tensor of a row by its name in the graph."""
    return {name: _contents(row, name, feed) for name, feed in named_feeds(row).items()}


def _contents(row: Row, name: str, feed: Feed) -> Array:
    if feed.values is not None:
        return np.asarray(feed.values)
    return fill(feed.fill, f"{row.name}/{name}", feed.shape)


def inputs_of(row: Row, arrays: Mapping[str, Array]) -> tuple[Value, ...]:
    """The run-time inputs in graph order."""
    feeds = named_feeds(row)
    return tuple(from_numpy(arrays[name]) for name in feeds if not feeds[name].constant)


def node_of(row: Row) -> onnx.NodeProto:
    """The one node of a row's graph."""
    return helper.make_node(
        row.op,
        [f"x{i}" if feed is not None else "" for i, feed in enumerate(row.feeds)],
        [f"y{i}" for i in range(row.outputs)],
        domain="" if row.domain == "ai.onnx" else row.domain,
        **{key: _attribute(value) for key, value in row.attrs.items()},
    )


def _attribute(value: Any) -> Any:
    return numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value


def expected_of(row: Row, arrays: Mapping[str, Array]) -> list[Array]:
    """The outputs by the float64 reference, narrowed to the types of the graph."""
    node = node_of(row)
    wide = {name: widened(array) for name, array in arrays.items()}
    inputs = [wide[name] if name else None for name in node.input]
    attrs = attributes_of(node)
    if row.captured:
        attrs[OUTER] = wide
    results = REFERENCES[row.op](inputs, attrs)[: row.outputs]
    return [_narrow(np.asarray(result)) for result in results]


def _narrow(result: Array) -> Array:
    return result.astype(np.float32) if result.dtype == np.float64 else result


def model_of(
    row: Row, node: onnx.NodeProto, arrays: Mapping[str, Array], results: list[Array]
) -> onnx.ModelProto:
    """The model of a row's one node around these tensors."""
    feeds = named_feeds(row)
    graph = helper.make_graph(
        [node],
        row.name,
        [info_of(name, arrays[name], True) for name in feeds if not feeds[name].constant],
        [info_of(f"y{i}", result, row.static) for i, result in enumerate(results)],
        [numpy_helper.from_array(arrays[name], name) for name in feeds if feeds[name].constant],
    )
    opsets = [helper.make_opsetid("", row.opset)]
    if row.domain in DOMAIN_VERSIONS:
        opsets.append(helper.make_opsetid(row.domain, DOMAIN_VERSIONS[row.domain]))
    return helper.make_model(graph, ir_version=row.ir, opset_imports=opsets)


def info_of(name: str, array: Array, static: bool) -> onnx.ValueInfoProto:
    """An input or output of the graph; its shape is left open unless it is static."""
    dtype = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, dtype, array.shape if static else None)


def since_of(row: Row) -> int:
    """The version of the row's operator that its opset means."""
    version = DOMAIN_VERSIONS.get(row.domain, row.opset)
    domain = "" if row.domain == "ai.onnx" else row.domain
    if not onnx.defs.has(row.op, domain):
        return version
    return int(onnx.defs.get_schema(row.op, version, domain).since_version)
