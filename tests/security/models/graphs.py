"""Hostile models: names, operator sets, attributes, order."""

import itertools

import onnx
from onnx import helper

from tests.security.models.make import INT64, hostile, model, relu, tensor, value


@hostile
def negative_dims_of_an_input() -> bytes:
    return model([relu()], inputs=[value("x", dims=[-1, -5])]).SerializeToString()


@hostile
def many_dims() -> bytes:
    return model([relu()], inputs=[value("x", dims=[1] * 5000)]).SerializeToString()


@hostile
def input_twice() -> bytes:
    return model([relu()], inputs=[value("x"), value("x", INT64)]).SerializeToString()


@hostile
def two_payloads() -> bytes:
    held = tensor("k", [2], raw=b"\0" * 8)
    held.float_data.extend([1.0, 2.0])
    return model(
        [helper.make_node("Add", ["x", "k"], ["y"])],
        initializers=[held],
        inputs=[value("x", dims=[2])],
    ).SerializeToString()


@hostile
def many_ints_of_an_attribute() -> bytes:
    return model([relu(alpha=[1] * 250_000)]).SerializeToString()


@hostile
def string_attribute_of_megabytes() -> bytes:
    return model([relu(note="A" * 30_000_000)]).SerializeToString()


@hostile
def attribute_of_no_text() -> bytes:
    node = relu()
    attr = node.attribute.add(name="mode", type=onnx.AttributeProto.STRING)
    attr.s = b"\xff\xfe\x00\xd8"
    return model([node]).SerializeToString()


@hostile
def name_of_many_bytes() -> bytes:
    return model([relu(name="n" * 250_000)]).SerializeToString()


@hostile
def opset_missing() -> bytes:
    return model([relu()], imports=[]).SerializeToString()


@hostile
def opset_twice() -> bytes:
    return model([relu()], imports=[("", 17), ("", 1), ("ai.onnx", 9)]).SerializeToString()


@hostile
def opset_negative() -> bytes:
    return model([relu()], opset=-3).SerializeToString()


@hostile
def opset_zero() -> bytes:
    return model([relu()], opset=0).SerializeToString()


@hostile
def opset_999() -> bytes:
    return model([relu()], opset=999).SerializeToString()


@hostile
def opset_largest() -> bytes:
    return model([relu()], opset=2**63 - 1).SerializeToString()


@hostile
def ir_version_negative() -> bytes:
    return model([relu()], ir_version=-1).SerializeToString()


@hostile
def attribute_twice() -> bytes:
    node = helper.make_node("Softmax", ["x"], ["y"], axis=1)
    node.attribute.append(helper.make_attribute("axis", 0))
    return model([node]).SerializeToString()


@hostile
def attribute_of_the_wrong_type() -> bytes:
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads="evil", group=1.5, kernel_shape="k")
    return model(
        [node], inputs=[value("x", dims=[1, 1, 4, 4]), value("w", dims=[1, 1, 3, 3])]
    ).SerializeToString()


@hostile
def attribute_type_unknown() -> bytes:
    node = relu()
    node.attribute.add(name="a", type=5, i=3)
    raw = model([node]).SerializeToString()
    return raw.replace(b"\xa0\x01\x05", b"\xa0\x01\x7f")


@hostile
def node_without_an_operator() -> bytes:
    return model([relu("x", "t"), helper.make_node("", ["t"], ["y"])]).SerializeToString()


@hostile
def many_inputs_of_a_node() -> bytes:
    return model([helper.make_node("Sum", ["x"] * 50_000, ["y"])]).SerializeToString()


@hostile
def many_nodes() -> bytes:
    """A long chain, within the limit."""
    names = ["x", *(f"t{i}" for i in range(14_998)), "y"]
    return model([relu(a, b) for a, b in itertools.pairwise(names)]).SerializeToString()


@hostile
def too_many_nodes() -> bytes:
    names = ["x", *(f"t{i}" for i in range(60_000)), "y"]
    return model([relu(a, b) for a, b in itertools.pairwise(names)]).SerializeToString()


@hostile
def cycle() -> bytes:
    return model(
        [helper.make_node("Add", ["x", "b"], ["a"]), relu("a", "b"), relu("b", "y")]
    ).SerializeToString()


@hostile
def node_reads_itself() -> bytes:
    return model([helper.make_node("Add", ["x", "y"], ["y"])]).SerializeToString()


@hostile
def training_info() -> bytes:
    built = model([relu()])
    step = built.training_info.add()
    step.algorithm.node.append(helper.make_node("Evil", ["a"], ["b"]))
    step.update_binding.add(key="w", value="nothing")
    return built.SerializeToString()


@hostile
def quantization_annotation() -> bytes:
    built = model([relu()])
    note = built.graph.quantization_annotation.add(tensor_name="../../etc/passwd")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="nothing")
    return built.SerializeToString()


@hostile
def metadata_of_scripts() -> bytes:
    built = model([relu()], producer_name="<script>alert(1)</script>")
    built.metadata_props.add(key="=cmd|'/c calc'!A1", value="{{7*7}}\n\r\0")
    return built.SerializeToString()


@hostile
def output_that_nothing_makes() -> bytes:
    return model([relu("x", "t")]).SerializeToString()


@hostile
def outputs_listed_twice() -> bytes:
    return model([relu()], outputs=[value("y"), value("y")]).SerializeToString()


@hostile
def graph_without_outputs() -> bytes:
    return model([relu()], outputs=[]).SerializeToString()


@hostile
def einsum_of_megabytes() -> bytes:
    return model(
        [helper.make_node("Einsum", ["x"], ["y"], equation="i" * 5_000_000 + "->i")]
    ).SerializeToString()


@hostile
def evil_names() -> bytes:
    names = [
        '=HYPERLINK("http://evil")',
        "<img src=x onerror=alert(1)>",
        "a\nINFO forged log line",
        "$(touch /tmp/pwned)",
        "'; DROP TABLE compat_probe; --",
        "../../../etc/passwd",
        "{{ 7*7 }}{% load x %}",
        "%s%n%(x)s",
        "\u202egnp",
        "\x1b[31mred\x07",
        "a\0b",
        "@SUM(1)",
        "+1",
        "-1",
        "\t=1",
        "{0.__class__}",
    ]
    nodes = []
    last = "x"
    for i, name in enumerate(names):
        out = f"{name}{i}"
        nodes.append(
            helper.make_node(
                ["Relu", "Evil" + name][i % 2], [last], [out], name=name, domain=["", "evil"][i % 2]
            )
        )
        last = out
    nodes.append(relu(last, "y"))
    return model(
        nodes, imports=[("", 17), ("evil", 1)], producer_name=names[1], name=names[2]
    ).SerializeToString()


@hostile
def percent_in_a_problem() -> bytes:
    return model([relu("%(detail)s%s{}", "y", name="%s %(x)d {0}")]).SerializeToString()
