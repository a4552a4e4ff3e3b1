"""A case id changes with what a runtime computes, and with nothing else."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from probes.cases.case import case_id, operators_of
from probes.model.values import Tensor
from tests.probes.cases.make import make_inputs, make_model, reload

INPUTS = make_inputs(np.ones((2, 3), np.float32))
PINNED = "92b87c18b36d32abfc91fb9ec70aff52"


def described(model):
    model.doc_string = "a description"
    model.graph.doc_string = "another"
    model.graph.node[0].doc_string = "a third"
    model.model_version = 7
    helper.set_model_props(model, {"author": "someone"})
    return model


def with_typed_data(model):
    """The same weight in float_data instead of raw bytes."""
    (weight,) = model.graph.initializer
    value = numpy_helper.to_array(weight)
    weight.ClearField("raw_data")
    weight.float_data.append(float(value))
    return model


def spelled_out(model):
    model.opset_import[0].domain = "ai.onnx"
    return model


SAME = {
    "names": make_model(prefix="other/"),
    "producer": make_model(producer="pytorch"),
    "ir version": make_model(ir=10),
    "docs and metadata": described(make_model()),
    "weight encoding": with_typed_data(make_model()),
    "domain spelling": spelled_out(make_model()),
    "a round trip": reload(make_model()),
}
OTHER = {
    "opset": make_model(opset=12),
    "weight": make_model(scale=3.0),
    "attribute": make_model(axis=0),
    "shape": make_model(shape=(3, 2)),
    "symbolic shape": make_model(shape=("n", 3)),
}


@pytest.mark.parametrize("change", SAME)
def test_id_ignores(change):
    assert case_id(SAME[change], INPUTS) == case_id(make_model(), INPUTS)


@pytest.mark.parametrize("change", OTHER)
def test_id_sees(change):
    assert case_id(OTHER[change], INPUTS) != case_id(make_model(), INPUTS)


def test_symbols_are_names_too():
    first, second = make_model(shape=("n", 3)), make_model(shape=("batch", 3))
    twice = make_model(shape=("n", "n"))
    assert case_id(first, INPUTS) == case_id(second, INPUTS)
    assert case_id(twice, INPUTS) != case_id(make_model(shape=("n", "m")), INPUTS)


@pytest.mark.parametrize(
    "inputs",
    [
        make_inputs(np.full((2, 3), 2, np.float32)),
        make_inputs(np.ones((3, 2), np.float32)),
        (Tensor(6, (2, 3), np.ones((2, 3), np.float32).tobytes()),),
        (list(INPUTS),),
        (None,),
        (),
    ],
    ids=["values", "shape", "type", "sequence", "absent", "none at all"],
)
def test_id_sees_changed_inputs(inputs):
    assert case_id(make_model(), inputs) != case_id(make_model(), INPUTS)


def test_id_is_pinned():
    """A new onnx, protobuf or Python must not move the ids that results are filed under."""
    assert case_id(make_model(), INPUTS) == PINNED


def branches(first, second, outer="x"):
    return parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]>
        main (bool c, float[2] {outer}) => (float[2] y) {{
            y = If (c) <then_branch = a () => (float[2] p) {{ p = {first} ({outer}) }},
                        else_branch = b () => (float[2] q) {{ q = {second} ({outer}) }}>
        }}"""
    )


def test_bodies_count_and_their_outer_names_do_not():
    assert case_id(branches("Relu", "Neg"), ()) == case_id(branches("Relu", "Neg", "renamed"), ())
    assert case_id(branches("Relu", "Neg"), ()) != case_id(branches("Neg", "Relu"), ())
    assert ("ai.onnx", "Neg") in operators_of(branches("Relu", "Neg"))


def test_which_input_is_used_matters():
    def subtract(first, second):
        node = helper.make_node("Sub", [first, second], ["y"])
        infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (2,)) for n in "aby"]
        graph = helper.make_graph([node], "g", infos[:2], infos[2:])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])

    assert case_id(subtract("a", "b"), ()) != case_id(subtract("b", "a"), ())


def test_weights_outside_the_file_are_refused():
    model = make_model()
    model.graph.initializer[0].data_location = onnx.TensorProto.EXTERNAL
    with pytest.raises(ValueError, match="external data"):
        case_id(model, INPUTS)
