"""A byte form of an ONNX model that ignores names, docs, producer and IR version.

Written field by field instead of as protobuf bytes, so that it does not move with the protobuf
or onnx release. What can change the outcome of a run (values, shapes, opsets, attributes) is in it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

import onnx

from probes.model.values import Tensor, Value, from_proto

Item = bytes | str | int | float | None


class Writer:
    """Collects length-prefixed items; two different sequences of items never give equal bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def add(self, tag: str, *items: Item) -> None:
        self._raw(b"t", tag.encode())
        for item in items:
            self._raw(*_encoded(item))

    def tensor(self, value: Tensor) -> None:
        self.add("tensor", value.dtype, len(value.dims), *value.dims, bytes(value.data))

    def getvalue(self) -> bytes:
        return b"".join(self._parts)

    def _raw(self, kind: bytes, payload: bytes) -> None:
        self._parts.append(kind + struct.pack("<Q", len(payload)) + payload)


def _encoded(item: Item) -> tuple[bytes, bytes]:
    if item is None:
        return b"n", b""
    if isinstance(item, bytes):
        return b"b", item
    if isinstance(item, str):
        return b"s", item.encode("utf-8", "surrogateescape")
    if isinstance(item, int):
        return b"i", str(int(item)).encode()
    return b"f", struct.pack("<d", item)


class Scope:
    """Numbers for tensor names in the order in which they are first seen, per graph level."""

    def __init__(self, parent: Scope | None = None) -> None:
        self._parent = parent
        self._numbers: dict[str, int] = {}
        self._symbols: dict[str, int] = parent._symbols if parent else {}
        self._counter: list[int] = parent._counter if parent else [0]

    def define(self, name: str) -> int:
        if name not in self._numbers:
            self._numbers[name] = self._counter[0]
            self._counter[0] += 1
        return self._numbers[name]

    def use(self, name: str) -> int | None:
        """The number of a tensor; None for an omitted optional one; unknown names are defined."""
        if not name:
            return None
        scope: Scope | None = self
        while scope is not None:
            if name in scope._numbers:
                return scope._numbers[name]
            scope = scope._parent
        return self.define(name)

    def symbol(self, name: str) -> int:
        return self._symbols.setdefault(name, len(self._symbols))


def canonical_bytes(model: onnx.ModelProto) -> bytes:
    """The canonical form of a model; raises ValueError for external data."""
    out = Writer()
    _opsets(out, model.opset_import)
    for function in sorted(model.functions, key=lambda f: (f.domain, f.name, _overload(f))):
        _function(out, function)
    _graph(out, model.graph, Scope())
    return out.getvalue()


def value_bytes(values: Iterable[Value]) -> bytes:
    """The canonical form of a list of input values: dtypes, dims, bytes."""
    out = Writer()
    for value in values:
        _value(out, value)
    return out.getvalue()


def domain_name(domain: str) -> str:
    """ "" and "ai.onnx" are one domain, spelled "ai.onnx"."""
    return domain or "ai.onnx"


def _value(out: Writer, value: Value) -> None:
    if value is None:
        out.add("none")
    elif isinstance(value, Tensor):
        out.tensor(value)
    else:
        out.add("sequence", len(value))
        for element in value:
            _value(out, element)


def _opsets(out: Writer, imports: Iterable[onnx.OperatorSetIdProto]) -> None:
    for domain, version in sorted({(domain_name(i.domain), i.version) for i in imports}):
        out.add("opset", domain, version)


def _function(out: Writer, function: onnx.FunctionProto) -> None:
    scope = Scope()
    out.add("function", domain_name(function.domain), function.name, _overload(function))
    _opsets(out, function.opset_import)
    out.add("parameters", *(scope.define(name) for name in function.input))
    out.add("attributes", *sorted(function.attribute))
    for attribute in sorted(function.attribute_proto, key=lambda a: a.name):
        _attribute(out, attribute, scope)
    for node in function.node:
        _node(out, node, scope)
    out.add("results", *(scope.use(name) for name in function.output))


def _graph(out: Writer, graph: onnx.GraphProto, scope: Scope) -> None:
    out.add("graph", len(graph.input), len(graph.initializer), len(graph.node), len(graph.output))
    for info in graph.input:
        _value_info(out, info, scope, scope.define)
    for initializer in graph.initializer:
        out.add("initializer", scope.define(initializer.name))
        _tensor(out, initializer)
    for sparse in graph.sparse_initializer:
        out.add("sparse_initializer", scope.define(sparse.values.name))
        _sparse(out, sparse)
    for node in graph.node:
        _node(out, node, scope)
    for info in graph.output:
        _value_info(out, info, scope, scope.use)
    # Kept although derivable: a wrong one changes what converters do.
    for info in sorted(graph.value_info, key=lambda i: scope.use(i.name) or 0):
        _value_info(out, info, scope, scope.use)


def _value_info(
    out: Writer, info: onnx.ValueInfoProto, scope: Scope, number: Callable[[str], int | None]
) -> None:
    out.add("value_info", number(info.name))
    _type(out, info.type, scope)


def _type(out: Writer, proto: onnx.TypeProto, scope: Scope) -> None:
    kind = proto.WhichOneof("value") or "untyped"
    out.add(kind)
    if kind in ("tensor_type", "sparse_tensor_type"):
        _tensor_type(out, getattr(proto, kind), scope)
    elif kind in ("sequence_type", "optional_type"):
        _type(out, getattr(proto, kind).elem_type, scope)
    elif kind == "map_type":
        out.add("key", proto.map_type.key_type)
        _type(out, proto.map_type.value_type, scope)


def _tensor_type(out: Writer, tensor: Any, scope: Scope) -> None:
    dims = tensor.shape.dim if tensor.HasField("shape") else None
    out.add("tensor_type", tensor.elem_type, None if dims is None else len(dims))
    for dim in dims or ():
        if dim.HasField("dim_value"):
            out.add("dim", dim.dim_value)
        elif dim.dim_param:
            out.add("symbol", scope.symbol(dim.dim_param))
        else:
            out.add("unknown")


def _node(out: Writer, node: onnx.NodeProto, scope: Scope) -> None:
    out.add("node", domain_name(node.domain), node.op_type, _overload(node))
    out.add("inputs", *(scope.use(name) for name in node.input))
    for attribute in sorted(node.attribute, key=lambda a: a.name):
        _attribute(out, attribute, scope)
    out.add("outputs", *(scope.define(name) if name else None for name in node.output))


def _attribute(out: Writer, attribute: onnx.AttributeProto, scope: Scope) -> None:
    out.add("attribute", attribute.name, attribute.type, attribute.ref_attr_name)
    field = _FIELDS.get(attribute.type)
    if field is None or attribute.ref_attr_name:
        return
    (name, write), value = field, getattr(attribute, field[0])
    elements = value if name in _REPEATED else (value,)
    out.add("elements", len(elements))
    for element in elements:
        write(out, element, scope)


def _tensor(out: Writer, proto: onnx.TensorProto, scope: Scope | None = None) -> None:
    if proto.data_location == onnx.TensorProto.EXTERNAL:
        raise ValueError("a case holds its weights; external data is not allowed")
    value = from_proto(proto)
    assert isinstance(value, Tensor)
    out.tensor(value)


def _sparse(out: Writer, proto: onnx.SparseTensorProto, scope: Scope | None = None) -> None:
    out.add("sparse", *proto.dims)
    _tensor(out, proto.values)
    _tensor(out, proto.indices)


def _plain(out: Writer, element: Item, scope: Scope) -> None:
    out.add("", element)


def _subgraph(out: Writer, graph: onnx.GraphProto, scope: Scope) -> None:
    _graph(out, graph, Scope(scope))


def _overload(proto: onnx.NodeProto | onnx.FunctionProto) -> str:
    return str(getattr(proto, "overload", ""))  # the field came with onnx 1.16


_A = onnx.AttributeProto
_FIELDS: dict[int, tuple[str, Callable[[Writer, Any, Scope], None]]] = {
    _A.FLOAT: ("f", _plain),
    _A.INT: ("i", _plain),
    _A.STRING: ("s", _plain),
    _A.TENSOR: ("t", _tensor),
    _A.GRAPH: ("g", _subgraph),
    _A.SPARSE_TENSOR: ("sparse_tensor", _sparse),
    _A.TYPE_PROTO: ("tp", _type),
    _A.FLOATS: ("floats", _plain),
    _A.INTS: ("ints", _plain),
    _A.STRINGS: ("strings", _plain),
    _A.TENSORS: ("tensors", _tensor),
    _A.GRAPHS: ("graphs", _subgraph),
    _A.SPARSE_TENSORS: ("sparse_tensors", _sparse),
    _A.TYPE_PROTOS: ("type_protos", _type),
}
_REPEATED = frozenset(
    ("floats", "ints", "strings", "tensors", "graphs", "sparse_tensors", "type_protos")
)
