"""The official ONNX node tests as cases. Built once per release: golden bytes depend on numpy."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx.backend.test.case.test_case import TestCase

from probes.cases import origins
from probes.cases.canonical import domain_name
from probes.cases.case import Case, case_id, operators_of, opset_of, walk_nodes
from probes.model.signature import main_signature
from probes.model.values import Tensor, Value, from_numpy, from_proto

# Outputs of these have no fixed value: shape and dtype are compared.
RANDOM_OPERATORS = frozenset(
    (
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    )
)
# The function body of an operator proves it only roughly: told apart by its origin, never core.
MARK = "_expanded"
CITATION = "onnx.backend.test, kind=node"


def node_cases() -> Iterator[Case]:
    """Every node test of the installed onnx, in its order; takes about 10 s."""
    yield from cases_of(load_node_tests(), release=onnx.__version__, name=node_name)


def node_name(test: str, mark: str = "") -> str:
    """The name of a test as a case; `mark` tells the tests of another onnx apart."""
    return f"node/{test}{mark}"


def cases_of(
    tests: Sequence[TestCase], *, release: str, name: Callable[[str], str]
) -> Iterator[Case]:
    """The tests of one onnx release, in their order, as cases called `name(test)`."""
    by_name = {test.name: test for test in tests}
    for test in tests:
        yield _make_case(test, by_name, release, name(test.name))


def load_node_tests() -> Sequence[TestCase]:
    """The tests as onnx generates them, without its numpy warnings (overflow is intended there)."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests: Sequence[TestCase] = load_model_tests(kind="node")
    return tests


def _make_case(test: TestCase, by_name: Mapping[str, TestCase], release: str, name: str) -> Case:
    model = _model(test)
    base, expanded, _ = test.name.partition(MARK)
    origin = origins.BODY if expanded else origins.NODE
    domain, op_type, since = _proven(_model(by_name[base]))
    inputs, expected = _values(test)
    return Case(
        id=case_id(model, inputs),
        name=name,
        domain=domain,
        op_type=op_type,
        since_version=since,
        origin=origin,
        core=False,
        model=model.SerializeToString(deterministic=True),
        opset=opset_of(model),
        ir_version=model.ir_version,
        inputs=inputs,
        expected=expected,
        oracle=f"onnx-node-test {release}",
        oracles_agree="",
        rtol=test.rtol,
        atol=test.atol,
        compare="shape" if _is_random(model, inputs) else "values",
        timed=False,
        citation=f"{CITATION}, {test.name}",
        # A body is no evidence for the node's own signature.
        signature={} if origin == origins.BODY else _signature(model, op_type, domain),
        operators=operators_of(model),
    )


def _signature(model: onnx.ModelProto, op_type: str, domain: str) -> dict[str, Any]:
    try:
        return main_signature(model, op_type, domain)
    except onnx.shape_inference.InferenceError:
        return {}


def _model(test: TestCase) -> onnx.ModelProto:
    assert test.model is not None
    return test.model


def _proven(model: onnx.ModelProto) -> tuple[str, str, int]:
    """The operator of a single-node model: (domain, op_type, since_version)."""
    (node,) = model.graph.node
    domain = domain_name(node.domain)
    schema = onnx.defs.get_schema(node.op_type, opset_of(model, domain), node.domain)
    return domain, node.op_type, schema.since_version


def _values(test: TestCase) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    assert test.data_sets is not None
    ((inputs, outputs),) = test.data_sets
    graph = _model(test).graph
    return (
        tuple(_value(v, i.type) for v, i in zip(inputs, graph.input, strict=True)),
        tuple(_value(v, o.type) for v, o in zip(outputs, graph.output, strict=True)),
    )


def _value(raw: Any, declared: onnx.TypeProto) -> Value:
    """A test's array, scalar, proto, list or None in the type that the graph declares for it."""
    kind = declared.WhichOneof("value")
    if raw is None:
        return None
    if isinstance(raw, (onnx.TensorProto, onnx.SequenceProto, onnx.OptionalProto)):
        return from_proto(raw)
    if kind == "optional_type":
        return _value(raw, declared.optional_type.elem_type)
    if kind == "sequence_type":
        return [_value(element, declared.sequence_type.elem_type) for element in raw]
    return from_numpy(np.asarray(raw), declared.tensor_type.elem_type)


def _is_random(model: onnx.ModelProto, inputs: Sequence[Value]) -> bool:
    if any(op in RANDOM_OPERATORS for _, op in operators_of(model)):
        return True
    names = [info.name for info in model.graph.input]
    given = dict(zip(names, inputs, strict=True))
    return any(
        node.op_type == "Dropout" and _drops(node, given) for node in walk_nodes(model.graph.node)
    )


def _drops(node: onnx.NodeProto, given: Mapping[str, Value]) -> bool:
    """Whether a Dropout (inputs data, ratio, training_mode) runs in training with a ratio > 0."""
    training = given.get(node.input[2]) if len(node.input) > 2 else None
    ratio = given.get(node.input[1]) if len(node.input) > 1 else None
    trains = isinstance(training, Tensor) and any(training.data)
    return trains and not (isinstance(ratio, Tensor) and not any(ratio.data))
