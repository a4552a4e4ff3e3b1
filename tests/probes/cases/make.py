"""Small models for the tests of cases."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from probes.cases.case import Case, case_id, operators_of, opset_of
from probes.model.values import from_numpy


def make_model(opset=13, ir=8, prefix="", scale=2.0, producer="", shape=(2, 3), axis=-1):
    """softmax(x * constant): two nodes, so that an inner name exists."""
    x, factor, inner, y = (f"{prefix}{name}" for name in ("x", "factor", "inner", "y"))
    graph = helper.make_graph(
        [
            helper.make_node("Mul", [x, factor], [inner], name=f"{prefix}first"),
            helper.make_node("Softmax", [inner], [y], axis=axis),
        ],
        f"{prefix}graph",
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(y, TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(np.float32(scale), factor)],
    )
    return helper.make_model(
        graph,
        ir_version=ir,
        producer_name=producer,
        opset_imports=[helper.make_opsetid("", opset)],
    )


def make_node_model(op, inputs, outputs, opset, ir=8, domain="", imports=(), **attrs):
    """One node; inputs and outputs are (dtype, shape) in order."""
    ins = {f"i{at}": pair for at, pair in enumerate(inputs)}
    outs = {f"o{at}": pair for at, pair in enumerate(outputs)}
    graph = helper.make_graph(
        [helper.make_node(op, list(ins), list(outs), domain=domain, **attrs)],
        "graph",
        [helper.make_tensor_value_info(name, *pair) for name, pair in ins.items()],
        [helper.make_tensor_value_info(name, *pair) for name, pair in outs.items()],
    )
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(*pair) for pair in imports)]
    return helper.make_model(graph, ir_version=ir, opset_imports=opsets)


def make_inputs(*arrays):
    return tuple(from_numpy(np.asarray(array)) for array in arrays)


def make_case(model=None, inputs=None, **changes):
    """A case of make_model with its true answer."""
    model = model or make_model()
    inputs = make_inputs(np.ones((2, 3), np.float32)) if inputs is None else inputs
    fields = {
        "id": case_id(model, inputs),
        "name": "node/test_made",
        "domain": "ai.onnx",
        "op_type": "Softmax",
        "since_version": 13,
        "origin": "node",
        "core": False,
        "model": model.SerializeToString(),
        "opset": opset_of(model),
        "ir_version": model.ir_version,
        "inputs": inputs,
        "expected": make_inputs(np.full((2, 3), 1 / 3, np.float32)),
        "oracle": "by hand",
        "oracles_agree": "both",
        "rtol": 1e-3,
        "atol": 1e-7,
        "compare": "values",
        "timed": False,
        "citation": "made here",
        "signature": {},
        "operators": operators_of(model),
    }
    return Case(**{**fields, **changes})


def reload(model):
    return onnx.load_from_string(model.SerializeToString())
