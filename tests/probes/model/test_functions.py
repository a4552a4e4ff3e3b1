from dataclasses import replace
from itertools import pairwise

import onnx
import pytest
from onnx import TensorProto, helper

from probes.model.facts import make_facts
from probes.model.refusals import LIMITS, ModelFileError
from tests.probes.model.make_models import FLOAT, make_function, make_model, relu, save


def call(function, source, target, **attrs):
    return helper.make_node(function, [source], [target], domain="local", **attrs)


def facts_of(tmp_path, nodes, functions, **more):
    model = make_model(nodes, functions=functions, domains=["local"], **more)
    return make_facts(save(model, tmp_path / "m.onnx"))


def test_bodies_stand_where_they_are_called(tmp_path):
    inner = make_function("Inner", [relu("a", "t"), helper.make_node("Neg", ["t"], ["b"])])
    outer = make_function("Outer", [call("Inner", "a", "m", name="in"), relu("m", "b")])
    nodes = [call("Outer", "x", "h", name="one"), call("Outer", "h", "y", name="two")]
    facts = facts_of(tmp_path, nodes, [inner, outer])
    assert [(node["op"], node["path"]) for node in facts["nodes"]] == [
        ("Relu", "one/in"),
        ("Neg", "one/in"),
        ("Relu", "one"),
        ("Relu", "two/in"),
        ("Neg", "two/in"),
        ("Relu", "two"),
    ]
    links = [(node["inputs"][0], node["outputs"][0]) for node in facts["nodes"]]
    assert all(before[1] == after[0] for before, after in pairwise(links))
    assert facts["model"]["functions"] == 2
    assert facts["outputs"][0]["shape"] == [2, 3]


def test_attributes_come_from_the_call_or_the_default(tmp_path):
    leaky = helper.make_node("LeakyRelu", ["a"], ["b"])
    leaky.attribute.append(
        onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    )
    function = make_function("F", [leaky], attribute_protos=[helper.make_attribute("slope", 0.5)])
    nodes = [call("F", "x", "h"), call("F", "h", "y", slope=0.25)]
    facts = facts_of(tmp_path, nodes, [function])
    alphas = [facts["signatures"][node["sig"]]["attrs"]["alpha"] for node in facts["nodes"]]
    assert alphas == [0.5, 0.25]


def test_an_optional_input_left_out_and_an_input_handed_out(tmp_path):
    clip = helper.make_node("Clip", ["a", "low"], ["b"])
    function = make_function("F", [clip], inputs=("a", "low"), outputs=("b", "a"))
    node = helper.make_node("F", ["x"], ["y", "z"], domain="local")
    facts = facts_of(tmp_path, [node], [function], outputs=("y", "z"))
    assert [node["op"] for node in facts["nodes"]] == ["Clip", "Identity"]
    assert facts["nodes"][0]["inputs"][1] == -1
    assert facts["outputs"][1]["dtype"] == "float"


def test_subgraphs_inside_functions_are_renamed_too(tmp_path):
    def branch(label):
        return helper.make_graph(
            [relu("a", "t")], label, [], [helper.make_empty_tensor_value_info("t")]
        )

    pick = helper.make_node(
        "If", ["c"], ["b"], then_branch=branch("then"), else_branch=branch("else")
    )
    function = make_function("F", [pick], inputs=("c", "a"))
    node = helper.make_node("F", ["c", "x"], ["y"], domain="local", name="f")
    inputs = [("c", TensorProto.BOOL, []), ("x", FLOAT, [2, 3])]
    facts = facts_of(tmp_path, [node], [function], inputs=inputs)
    assert [node["op"] for node in facts["nodes"]] == ["If", "Relu", "Relu"]
    assert {node["inputs"][0] for node in facts["nodes"][1:]} == {facts["inputs"][1]["tensor"]}


def refused(tmp_path, graph, functions, **limits):
    model = make_model(graph, functions=functions, domains=["local"])
    with pytest.raises(ModelFileError) as caught:
        make_facts(save(model, tmp_path / "m.onnx"), limits=replace(LIMITS, **limits))
    return caught.value.code


def test_functions_that_call_each_other_are_refused(tmp_path):
    functions = [
        make_function("F", [call("G", "a", "b")]),
        make_function("G", [call("F", "a", "b")]),
    ]
    assert refused(tmp_path, [call("F", "x", "y")], functions) == "function_recursion"


def test_expansion_is_bounded_in_nodes_bytes_and_depth(tmp_path):
    chain = [make_function("F0", [relu("a", "b")])]
    for at in range(1, 6):
        body = [call(f"F{at - 1}", "a", "t"), call(f"F{at - 1}", "t", "b")]
        chain.append(make_function(f"F{at}", body))
    nodes = [call("F5", "x", "y")]
    assert refused(tmp_path, nodes, chain, expanded_nodes=31) == "function_bomb"
    assert refused(tmp_path, nodes, chain, calls=5) == "too_many"
    assert refused(tmp_path, nodes, chain, nodes=5) == "too_many"


def test_too_many_inputs_are_refused(tmp_path):
    node = helper.make_node("F", ["x", "x"], ["y"], domain="local")
    assert refused(tmp_path, [node], [make_function("F", [relu("a", "b")])]) == (
        "function_missing_input"
    )


def test_functions_of_nothing_are_counted_by_their_calls(tmp_path):
    chain = [make_function("F0", [])]
    for at in range(1, 41):
        body = [call(f"F{at - 1}", "a", "t"), call(f"F{at - 1}", "t", "b")]
        chain.append(make_function(f"F{at}", body))
    assert refused(tmp_path, [call("F40", "x", "y")], chain) == "function_bomb"
