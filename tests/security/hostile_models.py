"""Models made to do harm, each built where it is tested: name -> bytes."""

import itertools
from collections.abc import Callable

import onnx
from onnx import TensorProto, helper

Builder = Callable[[], bytes]
BUILDERS: dict[str, Builder] = {}

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
MODEL_GRAPH, MODEL_OPSET = 7, 8  # field numbers of ModelProto
GRAPH_NODE, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_OUTPUT = 1, 5, 11, 12


def hostile(build: Builder) -> Builder:
    BUILDERS[build.__name__] = build
    return build


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, content: bytes | int) -> bytes:
    """One protobuf field: a varint, or length-prefixed bytes."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content % (1 << 64))
    return varint(number << 3 | 2) + varint(len(content)) + content


def value(name: str, dtype: int = FLOAT, dims: object = (2, 3)) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, dims)  # type: ignore[arg-type]


def model(nodes, inputs=None, outputs=None, initializers=(), opset=17, **more) -> onnx.ModelProto:
    graph = helper.make_graph(
        list(nodes),
        more.pop("name", "g"),
        [value("x")] if inputs is None else inputs,
        [value("y", dims=None)] if outputs is None else outputs,
        list(initializers),
    )
    imports = more.pop("imports", [("", opset)])
    more.setdefault("ir_version", 9)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid(*entry) for entry in imports], **more
    )


def relu(source="x", target="y", **more) -> onnx.NodeProto:
    return helper.make_node("Relu", [source], [target], **more)


def tensor(name: str, dims, dtype=FLOAT, raw: bytes | None = None) -> TensorProto:
    made = TensorProto(name=name, data_type=dtype, dims=dims)
    if raw is not None:
        made.raw_data = raw
    return made


def external(location: str) -> bytes:
    held = tensor("k", [4])
    held.data_location = TensorProto.EXTERNAL
    held.external_data.add(key="location", value=location)
    return model(
        [helper.make_node("Add", ["x", "k"], ["y"])],
        initializers=[held],
        inputs=[value("x", dims=[4])],
    ).SerializeToString()


@hostile
def external_absolute() -> bytes:
    return external("/etc/passwd")


@hostile
def external_unc() -> bytes:
    return external(r"\\evil.example\share\w.bin")


@hostile
def external_symlink_name() -> bytes:
    return external("link/../../../proc/self/environ")


@hostile
def external_in_attribute() -> bytes:
    held = tensor("k", [4])
    held.data_location = TensorProto.EXTERNAL
    held.external_data.add(key="location", value="../../etc/passwd")
    return model(
        [
            helper.make_node("Constant", [], ["k"], value=held),
            helper.make_node("Add", ["x", "k"], ["y"]),
        ],
        inputs=[value("x", dims=[4])],
    ).SerializeToString()


@hostile
def external_only_by_location_bit() -> bytes:
    """data_location says EXTERNAL, no entry says where."""
    held = tensor("k", [4])
    held.data_location = TensorProto.EXTERNAL
    return model(
        [helper.make_node("Add", ["x", "k"], ["y"])],
        initializers=[held],
        inputs=[value("x", dims=[4])],
    ).SerializeToString()


@hostile
def dims_overflow() -> bytes:
    big = tensor("k", [2**62, 2**62, 2**62], raw=b"\0" * 16)
    return model(
        [helper.make_node("Add", ["x", "k"], ["y"])], initializers=[big]
    ).SerializeToString()


@hostile
def dims_overflow_to_zero() -> bytes:
    """2**32 * 2**32 wraps to 0 in 64 bits, as does the size of what is there."""
    big = tensor("k", [2**32, 2**32], raw=b"")
    return model(
        [helper.make_node("Add", ["x", "k"], ["y"])], initializers=[big]
    ).SerializeToString()


@hostile
def dims_of_the_largest_number() -> bytes:
    return model([relu()], inputs=[value("x", dims=[2**63 - 1, 2**63 - 1])]).SerializeToString()


@hostile
def negative_dims_of_an_input() -> bytes:
    return model([relu()], inputs=[value("x", dims=[-1, -5])]).SerializeToString()


@hostile
def many_dims() -> bytes:
    return model([relu()], inputs=[value("x", dims=[1] * 5000)]).SerializeToString()


@hostile
def initializer_without_data() -> bytes:
    return model(
        [helper.make_node("Add", ["x", "k"], ["y"])], initializers=[tensor("k", [2, 3])]
    ).SerializeToString()


@hostile
def initializer_twice() -> bytes:
    held = helper.make_tensor("k", FLOAT, [1], [1.0])
    return model(
        [helper.make_node("Add", ["x", "k"], ["y"])], initializers=[held, held]
    ).SerializeToString()


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
def sparse_indices_outside() -> bytes:
    built = model([helper.make_node("Add", ["x", "k"], ["y"])], inputs=[value("x", dims=[4])])
    sparse = built.graph.sparse_initializer.add()
    sparse.dims.extend([2**40])
    sparse.values.CopyFrom(helper.make_tensor("k", FLOAT, [1], [1.0]))
    sparse.indices.CopyFrom(helper.make_tensor("i", INT64, [1], [2**50]))
    return built.SerializeToString()


@hostile
def constant_of_two_gigabytes() -> bytes:
    big = tensor("c", [2**29])
    return model([helper.make_node("Constant", [], ["y"], value=big)]).SerializeToString()


@hostile
def constant_of_shape_of_terabytes() -> bytes:
    shape = helper.make_tensor("s", INT64, [3], [2**20, 2**20, 2**20])
    return model(
        [helper.make_node("ConstantOfShape", ["s"], ["y"])], initializers=[shape], inputs=[]
    ).SerializeToString()


@hostile
def range_without_end() -> bytes:
    """Constant propagation must not make 2**62 numbers."""
    parts = [helper.make_tensor(n, INT64, [], [v]) for n, v in (("a", 0), ("b", 2**62), ("c", 1))]
    return model(
        [helper.make_node("Range", ["a", "b", "c"], ["y"])], initializers=parts, inputs=[]
    ).SerializeToString()


@hostile
def expand_of_terabytes() -> bytes:
    shape = helper.make_tensor("s", INT64, [2], [2**40, 2**20])
    one = helper.make_tensor("k", INT64, [1], [1])
    return model(
        [
            helper.make_node("Expand", ["k", "s"], ["e"]),
            helper.make_node("Tile", ["e", "s"], ["y"]),
        ],
        initializers=[shape, one],
        inputs=[],
    ).SerializeToString()


@hostile
def a_million_strings() -> bytes:
    held = TensorProto(name="k", data_type=TensorProto.STRING, dims=[1_000_000])
    held.string_data.extend([b"a"] * 1_000_000)
    return model(
        [helper.make_node("Identity", ["k"], ["y"])],
        inputs=[],
        initializers=[held],
        outputs=[value("y", TensorProto.STRING, None)],
    ).SerializeToString()


@hostile
def a_million_ints_of_an_attribute() -> bytes:
    return model([relu(alpha=[1] * 1_000_000)]).SerializeToString()


@hostile
def string_attribute_of_megabytes() -> bytes:
    return model([relu(note="A" * 30_000_000)]).SerializeToString()


@hostile
def names_of_no_text() -> bytes:
    return model([relu()]).SerializeToString().replace(b"Relu", b"Re\xff\xfe")


@hostile
def attribute_of_no_text() -> bytes:
    node = relu()
    attr = node.attribute.add(name="mode", type=onnx.AttributeProto.STRING)
    attr.s = b"\xff\xfe\x00\xd8"
    return model([node]).SerializeToString()


@hostile
def name_of_a_megabyte() -> bytes:
    return model([relu(name="n" * 1_000_000)]).SerializeToString()


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
def node_without_an_operator() -> bytes:
    return model([relu("x", "t"), helper.make_node("", ["t"], ["y"])]).SerializeToString()


@hostile
def many_inputs_of_a_node() -> bytes:
    return model([helper.make_node("Sum", ["x"] * 200_000, ["y"])]).SerializeToString()


@hostile
def many_nodes() -> bytes:
    """A chain just within the limit."""
    names = ["x", *(f"t{i}" for i in range(49_998)), "y"]
    return model([relu(a, b) for a, b in itertools.pairwise(names)]).SerializeToString()


@hostile
def too_many_nodes() -> bytes:
    names = ["x", *(f"t{i}" for i in range(120_000)), "y"]
    return model([relu(a, b) for a, b in itertools.pairwise(names)]).SerializeToString()


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
def unknown_fields() -> bytes:
    return model([relu()]).SerializeToString() + field(999, b"x" * 500) + field(536_870_911, 7)


@hostile
def group_wire_type() -> bytes:
    return model([relu()]).SerializeToString() + bytes([0x0B, 0x0C])


@hostile
def wire_type_seven() -> bytes:
    return model([relu()]).SerializeToString() + bytes([0x0F, 0x00])


@hostile
def field_number_zero() -> bytes:
    return model([relu()]).SerializeToString() + bytes([0x02, 0x01, 0x00])


@hostile
def varint_of_ten_bytes() -> bytes:
    return b"\x08" + b"\xff" * 9 + b"\x01" + model([relu()]).SerializeToString()[2:]


@hostile
def varint_of_eleven_bytes() -> bytes:
    return b"\x08" + b"\xff" * 10 + b"\x01" + model([relu()]).SerializeToString()[2:]


@hostile
def length_past_the_end() -> bytes:
    return model([relu()]).SerializeToString() + b"\x3a" + varint(2**40) + b"abc"


@hostile
def length_of_2_63() -> bytes:
    return b"\x3a" + varint(2**63) + b"abc"


@hostile
def graph_in_pieces() -> bytes:
    """protobuf merges a repeated single field: the second graph's nodes join the first's."""
    first = model([relu("x", "t")], outputs=[]).graph
    second = model([helper.make_node("GridSample", ["t", "t"], ["y"])], inputs=[]).graph
    return (
        field(1, 9)
        + field(MODEL_GRAPH, first.SerializeToString())
        + field(MODEL_GRAPH, second.SerializeToString())
        + field(MODEL_OPSET, field(2, 17))
    )


@hostile
def fields_in_reverse() -> bytes:
    graph = model([relu()]).graph
    parts = [
        field(GRAPH_NODE, graph.node[0].SerializeToString()),
        field(GRAPH_INPUT, graph.input[0].SerializeToString()),
        field(GRAPH_OUTPUT, graph.output[0].SerializeToString()),
    ]
    return (
        field(MODEL_OPSET, field(2, 17))
        + field(MODEL_GRAPH, b"".join(reversed(parts)))
        + field(1, 9)
    )


@hostile
def dims_unpacked_and_packed() -> bytes:
    held = (
        field(1, 2) + field(1, varint(3)) + field(2, FLOAT) + field(8, b"k") + field(9, b"\0" * 24)
    )
    built = model([helper.make_node("Add", ["x", "k"], ["y"])]).graph.SerializeToString()
    return (
        field(1, 9)
        + field(MODEL_GRAPH, built + field(GRAPH_INITIALIZER, held))
        + field(MODEL_OPSET, field(2, 17))
    )


@hostile
def zip_bomb() -> bytes:
    import io
    import zipfile

    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.onnx", b"\0" * 50_000_000)
    return sink.getvalue()


@hostile
def gzip_bomb() -> bytes:
    import gzip

    return gzip.compress(b"\0" * 50_000_000)


@hostile
def onnx_as_text() -> bytes:
    return (
        b'<ir_version: 9, opset_import: ["" : 17]>\n'
        b"agraph (float[2,3] x) => (float[2,3] y) { y = Relu(x) }\n"
    )


@hostile
def onnx_as_textproto() -> bytes:
    return str(model([relu()])).encode()


@hostile
def onnx_as_json() -> bytes:
    from google.protobuf import json_format

    return json_format.MessageToJson(model([relu()])).encode()


@hostile
def pickle() -> bytes:
    return b"cposix\nsystem\n(S'touch /tmp/pwned'\ntR."


@hostile
def tensor_file() -> bytes:
    return helper.make_tensor("x", FLOAT, [2], [1.0, 2.0]).SerializeToString()


@hostile
def random_bytes() -> bytes:
    import random

    return random.Random(7).randbytes(4096)


@hostile
def zeros() -> bytes:
    return b"\0" * 4096


@hostile
def types_nested() -> bytes:
    kind = onnx.TypeProto()
    inner = kind
    for _ in range(80):
        inner = inner.sequence_type.elem_type
    inner.tensor_type.elem_type = FLOAT
    built = model([relu()])
    built.graph.input.add(name="s").type.CopyFrom(kind)
    return built.SerializeToString()


@hostile
def element_type_unknown() -> bytes:
    return model([relu()], inputs=[value("x", 99)]).SerializeToString()


@hostile
def initializer_shadows_an_input_of_another_type() -> bytes:
    return model(
        [relu()], initializers=[helper.make_tensor("x", INT64, [1], [3])]
    ).SerializeToString()


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
def reshape_to_huge() -> bytes:
    shape = helper.make_tensor("s", INT64, [2], [2**62, -1])
    return model(
        [helper.make_node("Reshape", ["x", "s"], ["y"])], initializers=[shape]
    ).SerializeToString()


@hostile
def pads_and_strides_of_2_62() -> bytes:
    node = helper.make_node(
        "MaxPool", ["x"], ["y"], kernel_shape=[2**62, 2**62], pads=[2**62] * 4, strides=[0, 0]
    )
    return model([node], inputs=[value("x", dims=[1, 1, 4, 4])]).SerializeToString()


@hostile
def split_in_2_62() -> bytes:
    node = helper.make_node("Split", ["x"], ["y"], num_outputs=2**62, axis=0)
    return model([node], opset=18).SerializeToString()


@hostile
def gather_out_of_range() -> bytes:
    index = helper.make_tensor("i", INT64, [1], [2**62])
    return model(
        [
            helper.make_node("Shape", ["x"], ["s"]),
            helper.make_node("Gather", ["s", "i"], ["g"]),
            helper.make_node("ConstantOfShape", ["g"], ["y"]),
        ],
        initializers=[index],
    ).SerializeToString()


@hostile
def transpose_outside() -> bytes:
    return model(
        [helper.make_node("Transpose", ["x"], ["y"], perm=[2**40, -9])]
    ).SerializeToString()


@hostile
def einsum_of_megabytes() -> bytes:
    return model(
        [helper.make_node("Einsum", ["x"], ["y"], equation="i" * 5_000_000 + "->i")]
    ).SerializeToString()


@hostile
def repeated_doubling() -> bytes:
    """Shape arithmetic that doubles 60 times: x, x+x, ..."""
    nodes = [helper.make_node("Shape", ["x"], ["s0"])]
    nodes += [
        helper.make_node("Concat", [f"s{i}", f"s{i}"], [f"s{i + 1}"], axis=0) for i in range(60)
    ]
    nodes += [helper.make_node("Identity", ["s60"], ["y"])]
    return model(nodes).SerializeToString()


@hostile
def power_tower() -> bytes:
    nodes = [helper.make_node("Shape", ["x"], ["s0"])]
    nodes += [helper.make_node("Mul", [f"s{i}", f"s{i}"], [f"s{i + 1}"]) for i in range(80)]
    nodes += [helper.make_node("ConstantOfShape", ["s80"], ["y"])]
    return model(nodes).SerializeToString()


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


@hostile
def many_empty_nodes() -> bytes:
    built = model([relu()]).graph.SerializeToString()
    return field(1, 9) + field(8, field(2, 17)) + field(7, built + b"\x0a\x00" * 49_000)


@hostile
def many_empty_initializers() -> bytes:
    built = model([relu()]).graph.SerializeToString()
    return field(1, 9) + field(8, field(2, 17)) + field(7, built + b"\x2a\x00" * 199_000)


@hostile
def overlong_lengths() -> bytes:
    """Lengths and tags written in more bytes than they need."""
    graph = model([relu()]).graph.SerializeToString()
    length = bytes([len(graph) & 0x7F | 0x80, 0x80, 0x80, 0x00]) if len(graph) < 128 else None
    assert length
    return field(1, 9) + b"\xba\x80\x00" + length + graph + field(8, field(2, 17))
