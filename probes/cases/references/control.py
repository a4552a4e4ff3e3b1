"""If, Loop and Scan by walking their bodies with the other references."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from probes.cases.references.base import Array, Attrs, Inputs, Outputs, Reference

OUTER = "outer"  # attrs[OUTER]: values of the enclosing graph by name


def attributes_of(node: onnx.NodeProto) -> dict[str, Any]:
    """Attributes as Python values: text decoded, tensors as arrays, graphs as they are."""
    return {a.name: _plain(onnx.helper.get_attribute_value(a)) for a in node.attribute}


def widened(array: Any) -> Any:
    """Floats as float64, everything else unchanged."""
    if isinstance(array, np.ndarray) and array.dtype.kind == "f":
        return array.astype(np.float64)
    return array


def run_graph(graph: onnx.GraphProto, values: dict[str, Any]) -> list[Array]:
    """Outputs of a body, `values` holding its inputs and what it takes from outside."""
    from probes.cases.reference import REFERENCES

    known = dict(values)
    for tensor in graph.initializer:
        known[tensor.name] = widened(numpy_helper.to_array(tensor))
    for node in graph.node:
        attrs = {**attributes_of(node), **({OUTER: known} if _has_body(node) else {})}
        inputs = [known[name] if name else None for name in node.input]
        results = REFERENCES[node.op_type](inputs, attrs)
        known.update(zip(node.output, map(widened, results), strict=False))
    return [known[info.name] for info in graph.output]


def _has_body(node: onnx.NodeProto) -> bool:
    return any(a.type == onnx.AttributeProto.GRAPH for a in node.attribute)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _if(inputs: Inputs, attrs: Attrs) -> Outputs:
    branch = attrs["then_branch"] if bool(np.all(inputs[0])) else attrs["else_branch"]
    return tuple(run_graph(branch, attrs.get(OUTER, {})))


def _loop(inputs: Inputs, attrs: Attrs) -> Outputs:
    """Inputs trip count, condition, carried values; outputs carried values, then scans."""
    body, carried = attrs["body"], list(inputs[2:])
    names = [info.name for info in body.input]
    scans: list[list[Array]] = [[] for _ in body.output[1 + len(carried) :]]
    going = inputs[1] is None or bool(inputs[1])
    count = 0
    while going and (inputs[0] is None or count < int(inputs[0])):
        values = [np.asarray(count, np.int64), np.asarray(True), *carried]
        outer = attrs.get(OUTER, {})
        results = run_graph(body, {**outer, **dict(zip(names, values, strict=True))})
        going, carried = bool(results[0]), results[1 : 1 + len(carried)]
        for kept, part in zip(scans, results[1 + len(carried) :], strict=True):
            kept.append(part)
        count += 1
    return (*carried, *(np.stack(parts) for parts in scans))


def _scan(inputs: Inputs, attrs: Attrs) -> Outputs:
    """Carried values first, then num_scan_inputs sequences taken along axis 0."""
    body, sequences = attrs["body"], attrs["num_scan_inputs"]
    carried, scanned = list(inputs[:-sequences]), inputs[-sequences:]
    names = [info.name for info in body.input]
    scans: list[list[Array]] = [[] for _ in body.output[len(carried) :]]
    for step in zip(*scanned, strict=True):
        values = dict(zip(names, [*carried, *step], strict=True))
        results = run_graph(body, {**attrs.get(OUTER, {}), **values})
        carried = results[: len(carried)]
        for kept, part in zip(scans, results[len(carried) :], strict=True):
            kept.append(part)
    return (*carried, *(np.stack(parts) for parts in scans))


CONTROL: dict[str, Reference] = {"If": _if, "Loop": _loop, "Scan": _scan}
