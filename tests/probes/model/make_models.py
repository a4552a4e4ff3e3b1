"""Small models for the reader's tests, built where they are read."""

from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT


def make_model(
    nodes, inputs=(("x", FLOAT, [2, 3]),), outputs=("y",), initializers=(), opset=17, **more
):
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info(*one) for one in inputs],
        [helper.make_empty_tensor_value_info(one) for one in outputs],
        list(initializers),
    )
    imports = [helper.make_opsetid("", opset)] if opset else []
    imports += [helper.make_opsetid(domain, 1) for domain in more.pop("domains", ())]
    return helper.make_model(graph, opset_imports=imports, **more)


def save(model, path):
    path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    return path


def relu(source="x", target="y", **more):
    return helper.make_node("Relu", [source], [target], **more)


def make_function(name, nodes, inputs=("a",), outputs=("b",), **more):
    return helper.make_function(
        "local", name, list(inputs), list(outputs), nodes, [helper.make_opsetid("", 17)], **more
    )
