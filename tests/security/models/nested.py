"""Hostile models: functions, sub-graphs, recursion."""

import onnx
from onnx import helper

from tests.security.models.make import BOOL, INT64, hostile, model, relu, value


@hostile
def graph_in_an_unknown_operator() -> bytes:
    body = helper.make_graph(
        [helper.make_node("GridSample", ["x", "x"], ["z"])], "b", [], [value("z", dims=None)]
    )
    node = helper.make_node("Mystery", ["x"], ["y"], domain="evil", body=body)
    return model([node], imports=[("", 17), ("evil", 1)]).SerializeToString()


@hostile
def graph_in_a_plain_operator() -> bytes:
    body = helper.make_graph([relu("x", "z")], "b", [], [value("z", dims=None)])
    return model([relu(body=body)]).SerializeToString()


@hostile
def functions_in_a_circle() -> bytes:
    def call(me, other):
        return helper.make_function(
            "evil",
            me,
            ["a"],
            ["b"],
            [helper.make_node(other, ["a"], ["b"], domain="evil")],
            [helper.make_opsetid("evil", 1)],
        )

    return model(
        [helper.make_node("F", ["x"], ["y"], domain="evil")],
        imports=[("", 17), ("evil", 1)],
        functions=[call("F", "G"), call("G", "F")],
    ).SerializeToString()


@hostile
def function_calls_itself_in_a_branch() -> bytes:
    inner = helper.make_graph(
        [helper.make_node("F", ["a"], ["r"], domain="evil")], "t", [], [value("r", dims=None)]
    )
    body = [
        helper.make_node("Cast", ["a"], ["c"], to=BOOL),
        helper.make_node("If", ["c"], ["b"], then_branch=inner, else_branch=inner),
    ]
    made = helper.make_function(
        "evil",
        "F",
        ["a"],
        ["b"],
        body,
        [helper.make_opsetid("evil", 1), helper.make_opsetid("", 17)],
    )
    return model(
        [helper.make_node("F", ["x"], ["y"], domain="evil")],
        imports=[("", 17), ("evil", 1)],
        functions=[made],
    ).SerializeToString()


@hostile
def function_named_as_an_operator() -> bytes:
    made = helper.make_function(
        "",
        "Relu",
        ["a"],
        ["b"],
        [helper.make_node("Relu", ["a"], ["b"])],
        [helper.make_opsetid("", 17)],
    )
    return model([relu()], functions=[made]).SerializeToString()


@hostile
def function_twice() -> bytes:
    def one(op):
        return helper.make_function(
            "evil",
            "F",
            ["a"],
            ["b"],
            [helper.make_node(op, ["a"], ["b"])],
            [helper.make_opsetid("", 17)],
        )

    return model(
        [helper.make_node("F", ["x"], ["y"], domain="evil")],
        imports=[("", 17), ("evil", 1)],
        functions=[one("Relu"), one("Exp")],
    ).SerializeToString()


@hostile
def function_imports_another_opset() -> bytes:
    made = helper.make_function(
        "evil",
        "F",
        ["a"],
        ["b"],
        [helper.make_node("Relu", ["a"], ["b"])],
        [helper.make_opsetid("", 999)],
    )
    return model(
        [helper.make_node("F", ["x"], ["y"], domain="evil")],
        imports=[("", 17), ("evil", 1)],
        functions=[made],
    ).SerializeToString()


@hostile
def names_hidden_by_a_branch() -> bytes:
    """The branch makes a tensor of the outer graph's name: shadowing is not allowed."""
    inner = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["t"])], "b", [], [value("t", dims=None)]
    )
    return model(
        [
            relu("x", "t"),
            helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner),
        ],
        inputs=[value("x"), value("c", BOOL, [])],
    ).SerializeToString()


@hostile
def if_on_a_number() -> bytes:
    inner = helper.make_graph([relu("x", "z")], "b", [], [value("z", dims=None)])
    return model(
        [helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner)]
    ).SerializeToString()


@hostile
def if_without_branches() -> bytes:
    return model(
        [helper.make_node("If", ["c"], ["y"])], inputs=[value("c", BOOL, [])]
    ).SerializeToString()


@hostile
def loop_for_ever() -> bytes:
    body = helper.make_graph(
        [helper.make_node("Identity", ["c_in"], ["c"]), helper.make_node("Add", ["a", "a"], ["b"])],
        "b",
        [value("i", INT64, []), value("c_in", BOOL, []), value("a")],
        [value("c", BOOL, []), value("b")],
    )
    trip = helper.make_tensor("m", INT64, [], [2**63 - 1])
    true = helper.make_tensor("t", BOOL, [], [True])
    return model(
        [helper.make_node("Loop", ["m", "t", "x"], ["y"], body=body)], initializers=[trip, true]
    ).SerializeToString()


@hostile
def scan_of_nothing() -> bytes:
    body = helper.make_graph([], "b", [], [])
    return model(
        [helper.make_node("Scan", ["x"], ["y"], body=body, num_scan_inputs=2**62)]
    ).SerializeToString()


@hostile
def reference_attribute_outside_a_function() -> bytes:
    node = helper.make_node("Softmax", ["x"], ["y"])
    attr = node.attribute.add(name="axis", type=onnx.AttributeProto.INT)
    attr.ref_attr_name = "nothing"
    return model([node]).SerializeToString()


@hostile
def many_subgraphs_of_a_node() -> bytes:
    body = helper.make_graph([relu("x", "z")], "b", [], [value("z", dims=None)])
    node = helper.make_node("Mystery", ["x"], ["y"], domain="evil", bodies=[body] * 1900)
    return model([node], imports=[("", 17), ("evil", 1)]).SerializeToString()


@hostile
def deep_if() -> bytes:
    graph = helper.make_graph([relu("x", "r")], "b", [], [value("r", dims=None)])
    for depth in range(30):
        node = helper.make_node(
            "If",
            ["c"],
            [f"r{depth}"],
            then_branch=graph,
            else_branch=helper.make_graph([relu("x", "q")], "e", [], [value("q", dims=None)]),
        )
        graph = helper.make_graph([node], "b", [], [value(f"r{depth}", dims=None)])
    return model(
        [helper.make_node("If", ["c"], ["y"], then_branch=graph, else_branch=graph)],
        inputs=[value("x"), value("c", BOOL, [])],
    ).SerializeToString()
