"""Cases for the tests of the sandbox: one small model each, told what to do by its doc string."""

from dataclasses import replace

import numpy as np
from onnx import TensorProto, helper

from probes.cases.case import Case, case_id
from probes.model.values import Tensor, from_numpy

_F = TensorProto.FLOAT


def make_model(op, *, inputs, outputs, doc="", opset=17, ir=8, initializers=(), **attributes):
    """`inputs`, `outputs`: (dtype, shape) of x0, x1, ... and y0, y1, ..."""
    names = [f"x{i}" for i in range(len(inputs))]
    results = [f"y{i}" for i in range(len(outputs))]
    node = helper.make_node(op, [*names, *(t.name for t in initializers)], results, **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(n, *spec) for n, spec in zip(names, inputs, strict=True)],
        [helper.make_tensor_value_info(n, *spec) for n, spec in zip(results, outputs, strict=True)],
        list(initializers),
    )
    imports = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=ir)
    model.doc_string = doc
    return model.SerializeToString()


def make_case(model=None, inputs=(), expected=(), **changes):
    model = model or make_model("Relu", inputs=[(_F, [3])], outputs=[(_F, [3])])
    fields = {
        "id": case_id(model, inputs),
        "name": "test/case",
        "domain": "ai.onnx",
        "op_type": "Relu",
        "since_version": 14,
        "origin": "mainstream",
        "core": True,
        "model": model,
        "opset": 17,
        "ir_version": 8,
        "inputs": tuple(inputs),
        "expected": tuple(expected),
        "oracle": "by hand",
        "oracles_agree": "both",
        "rtol": 1e-5,
        "atol": 1e-6,
        "compare": "values",
        "timed": False,
        "citation": "",
        "signature": {},
        "operators": (("ai.onnx", "Relu"),),
    }
    return Case(**{**fields, **changes})


def tensor(values, dtype=np.float32):
    return from_numpy(np.array(values, dtype=dtype))


def relu_case(doc="", number=0, **changes):
    """Relu of three numbers that differ by `number`, so that every case has an id of its own."""
    model = make_model("Relu", inputs=[(_F, [3])], outputs=[(_F, [3])], doc=doc)
    values = np.array([-1, 0, number + 1], np.float32)
    inputs, expected = [tensor(values)], [tensor(np.maximum(values, 0))]
    case = make_case(model, inputs, expected, name=f"test/{doc or number}")
    return replace(case, **changes)


def echo_case(doc="", number=0):
    """A case that a fake passes by giving its inputs back."""
    case = relu_case(doc, number)
    return replace(case, expected=case.inputs)


def numbers_of(value):
    """Plain nested lists of a tensor's numbers."""
    from probes.model.values import to_numpy

    assert isinstance(value, Tensor)
    return to_numpy(value).astype(np.float64).tolist()
