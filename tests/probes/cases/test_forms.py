"""Forms present a case differently and never change what it computes."""

from dataclasses import dataclass, replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper, parser
from onnx.reference import ReferenceEvaluator

from probes.cases.casting import fits, narrowed
from probes.cases.forms import FORMS, apply_form, forms_for
from probes.model.values import from_numpy, to_numpy
from tests.probes.cases.make import make_case, make_inputs, make_model, make_node_model

FLOAT = TensorProto.FLOAT
ONE = make_inputs(np.ones((2, 3), np.float32))


@dataclass(frozen=True)
class Stamps:
    max_opset: int | None = None
    max_ir: int | None = None
    min_opset: int | None = None
    dtypes: tuple = ()
    static_shapes: bool = False
    constant_inputs: bool = False
    explicit_attributes: bool = False


ANY = Stamps()


def restamp(model, opset=None, ir=None, inputs=ONE):
    formed = apply_form("restamped", model.SerializeToString(), inputs, Stamps(opset, ir))
    return formed and onnx.load_from_string(formed[0])


def stamps(model):
    return model.opset_import[0].version, model.ir_version


def test_as_is_changes_nothing():
    case = make_case()
    assert apply_form("as_is", case.model, case.inputs, ANY) == (case.model, case.inputs)


def test_lowered_where_the_operators_are_old_enough():
    assert stamps(restamp(make_model(opset=21, ir=10), opset=17, ir=8)) == (17, 8)
    assert stamps(restamp(make_model(opset=21, ir=10), opset=19)) == (19, 10)
    assert stamps(restamp(make_model(opset=21, ir=10), ir=9)) == (21, 9)


@pytest.mark.parametrize(
    ("op", "opset", "lower"), [("Softmax", 17, 12), ("Gelu", 20, 19), ("Softmax", 13, 6)]
)
def test_refused_where_an_operator_meant_something_else_before(op, opset, lower):
    model = make_node_model(op, [(FLOAT, (2, 3))], [(FLOAT, (2, 3))], opset)
    assert restamp(model, opset=lower) is None


def test_refused_when_nothing_is_too_new():
    assert restamp(make_model(opset=17, ir=8), opset=17, ir=8) is None
    assert restamp(make_model(opset=17, ir=8)) is None


def test_refused_for_an_opset_that_this_onnx_does_not_know():
    assert restamp(make_model(opset=999), opset=17) is None


def test_bodies_are_looked_into():
    model = parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 20]>
        main (bool c, float[2] x) => (float[2] y) {
            y = If (c) <then_branch = a () => (float[2] p) { p = Gelu (x) },
                        else_branch = b () => (float[2] q) { q = Identity (x) }>
        }"""
    )
    assert restamp(model, opset=19) is None


def test_functions_keep_their_meaning_too():
    text = """<ir_version: 9, opset_import: ["" : {0}, "local" : 1]>
        main (float[2] x) => (float[2] y) {{ y = local.Twice (x) }}
        <domain: "local", opset_import: ["" : {0}]>
        Twice (a) => (b) {{ b = {1} (a) }}"""
    lowered = restamp(parser.parse_model(text.format(20, "Relu")), opset=17)
    assert [entry.version for entry in lowered.functions[0].opset_import] == [17]
    assert restamp(parser.parse_model(text.format(20, "Gelu")), opset=17) is None
    assert restamp(parser.parse_model(text.format(17, "Relu")), ir=7) is None


@pytest.mark.parametrize(
    ("dtype", "lowest"), [(TensorProto.INT4, 10), (TensorProto.FLOAT8E5M2, 9), (FLOAT, 3)]
)
def test_ir_is_not_lowered_below_what_a_type_needs(dtype, lowest):
    model = make_node_model("Identity", [(dtype, (2,))], [(dtype, (2,))], 21, ir=11)
    assert restamp(model, ir=lowest).ir_version == lowest
    assert restamp(model, ir=lowest - 1) is None or dtype == FLOAT


def test_initializers_without_inputs_need_ir_4():
    assert restamp(make_model(ir=8), ir=3) is None


def test_constant_bakes_all_but_the_first_input():
    model = make_node_model("Sub", [(FLOAT, (2,)), (FLOAT, ())], [(FLOAT, (2,))], 13, ir=3)
    inputs = make_inputs(np.float32([5, 6]), np.float32(2))
    formed, left = apply_form("constant", model.SerializeToString(), inputs, ANY)
    proto = onnx.load_from_string(formed)
    assert [info.name for info in proto.graph.input] == ["i0"]
    assert left == inputs[:1]
    (baked,) = proto.graph.initializer
    assert (baked.name, numpy_helper.to_array(baked).shape) == ("i1", ())
    assert proto.ir_version == 4


def test_constant_keeps_text_and_refuses_what_cannot_be_baked():
    text = TensorProto.STRING
    model = make_node_model("StringConcat", [(text, (1,)), (text, (1,))], [(text, (1,))], 20)
    inputs = make_inputs(np.asarray(["a"], object), np.asarray(["é"], object))
    formed, _ = apply_form("constant", model.SerializeToString(), inputs, ANY)
    baked = onnx.load_from_string(formed).graph.initializer[0]
    assert baked.string_data[0].decode() == "é"
    case = make_case()
    assert apply_form("constant", case.model, case.inputs, ANY) is None
    assert apply_form("constant", case.model, (case.inputs[0], None), ANY) is None


def test_forms_combine():
    model = make_node_model("Sub", [(FLOAT, (2,)), (FLOAT, ())], [(FLOAT, (2,))], 21, ir=10)
    inputs = make_inputs(np.float32([5, 6]), np.float32(2))
    formed, left = apply_form(
        "restamped+constant", model.SerializeToString(), inputs, Stamps(17, 8)
    )
    assert stamps(onnx.load_from_string(formed)) == (17, 8)
    assert len(left) == 1


def test_forms_for_a_runtime():
    case = make_case(make_model(opset=21, ir=10))
    assert forms_for(case, Stamps()) == ("as_is",)
    assert forms_for(case, Stamps(21, 10)) == ("as_is",)
    assert forms_for(case, Stamps(17, 10)) == ("as_is", "restamped")
    assert forms_for(case, Stamps(None, 9)) == ("as_is", "restamped")
    assert set(FORMS) >= {"as_is", "restamped", "constant"}


def test_a_restamp_that_cannot_be_is_not_planned():
    gelu = make_case(make_node_model("Gelu", [(FLOAT, (2, 3))], [(FLOAT, (2, 3))], 20))
    assert forms_for(gelu, Stamps(19)) == ("as_is",)


def test_a_graph_that_is_all_constants_is_told():
    shape = make_node_model("Shape", [(FLOAT, (2, 3))], [(7, (2,))], 17)
    assert make_case(shape).traits["folds"]
    open_ = make_node_model("Shape", [(FLOAT, ("n", 3))], [(7, (2,))], 17)
    assert not make_case(open_).traits["folds"]
    drawn = make_node_model("RandomNormal", [], [(FLOAT, (2,))], 17, shape=[2])
    assert not make_case(drawn, ()).traits["folds"], "it draws anew in every run"
    filled = make_node_model("Constant", [], [(FLOAT, ())], 17, value_float=1.0)
    assert make_case(filled, ()).traits["folds"]
    assert not make_case().traits["folds"]


def test_raised_to_the_oldest_that_is_read():
    old = make_node_model("Relu", [(FLOAT, (2, 3))], [(FLOAT, (2, 3))], 6, ir=4)
    assert forms_for(make_case(old), Stamps(min_opset=7)) == ("as_is", "restamped")
    formed, _ = apply_form("restamped", old.SerializeToString(), ONE, Stamps(min_opset=7))
    assert stamps(onnx.load_from_string(formed)) == (7, 4)
    softmax = make_node_model("Softmax", [(FLOAT, (2, 3))], [(FLOAT, (2, 3))], 11, ir=4)
    assert forms_for(make_case(softmax), Stamps(min_opset=13)) == ("as_is",)


def test_forms_follow_what_the_runtime_wants():
    model = make_node_model("LayerNormalization", [(FLOAT, (2, 3))] * 2, [(FLOAT, (2, 3))], 17)
    case = make_case(model, make_inputs(*[np.ones((2, 3), np.float32)] * 2))
    wants = Stamps(constant_inputs=True, explicit_attributes=True, dtypes=("float",))
    assert forms_for(case, wants) == ("as_is", "defaults", "constant", "defaults+constant")
    low = replace(wants, max_opset=16, dtypes=("double",))
    assert forms_for(case, low) == ("as_is",)  # the operator came with opset 17
    half = make_case(make_node_model("Relu", [(10, (2, 3))], [(10, (2, 3))], 17))
    assert forms_for(half, Stamps(16, dtypes=("float",))) == (
        "as_is", "restamped", "restamped+cast",
    )  # fmt: skip
    assert forms_for(half, Stamps(dtypes=("int8",))) == ("as_is",)


def test_static_takes_its_shapes_from_what_is_fed():
    model = make_node_model("Relu", [(FLOAT, ("n", 3))], [(FLOAT, ("n", 3))], 17)
    assert forms_for(make_case(model, ONE), Stamps(static_shapes=True)) == ("as_is", "static")
    formed, fed = apply_form("static", model.SerializeToString(), ONE, ANY)
    shape = onnx.load_from_string(formed).graph.input[0].type.tensor_type.shape
    assert [dim.dim_value for dim in shape.dim] == [2, 3]
    assert fed == ONE
    fixed = make_node_model("Relu", [(FLOAT, (2, 3))], [(FLOAT, (2, 3))], 17)
    assert apply_form("static", fixed.SerializeToString(), ONE, ANY) is None


def test_defaults_writes_out_what_the_schema_says():
    model = make_node_model("LayerNormalization", [(FLOAT, (2, 3))] * 2, [(FLOAT, (2, 3))], 17)
    formed, _ = apply_form("defaults", model.SerializeToString(), ONE * 2, ANY)
    (node,) = onnx.load_from_string(formed).graph.node
    told = {
        attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute
    }
    assert told["axis"] == -1
    assert told["epsilon"] == pytest.approx(1e-5)
    relu = make_node_model("Relu", [(FLOAT, (2, 3))], [(FLOAT, (2, 3))], 17)
    assert apply_form("defaults", relu.SerializeToString(), ONE, ANY) is None


def test_cast_wraps_the_edge_and_rounds_nothing():
    model = make_node_model("Add", [(10, (2,)), (10, (2,))], [(10, (2,))], 17)
    inputs = make_inputs(np.float16([1.5, 2]), np.float16([0.1, 3]))
    formed, fed = apply_form("cast", model.SerializeToString(), inputs, Stamps(dtypes=("float",)))
    proto = onnx.load_from_string(formed)
    onnx.checker.check_model(proto, full_check=True)
    assert [node.op_type for node in proto.graph.node] == ["Cast", "Cast", "Add", "Cast"]
    assert {value.dtype for value in fed} == {FLOAT}
    assert {info.type.tensor_type.elem_type for info in proto.graph.output} == {FLOAT}
    (wide,) = ReferenceEvaluator(proto).run(
        None, {info.name: to_numpy(v) for info, v in zip(proto.graph.input, fed, strict=True)}
    )
    (expected,) = make_inputs(np.float16([1.5, 2]) + np.float16([0.1, 3]))
    assert narrowed(from_numpy(wide), expected) == expected


def test_cast_waits_for_the_opset_that_names_types_by_number():
    old = make_node_model("Not", [(9, (2,))], [(9, (2,))], 1)
    fed, wants = make_inputs(np.array([True, False])), Stamps(dtypes=("float",))
    assert apply_form("cast", old.SerializeToString(), fed, wants) is None
    assert forms_for(make_case(old, fed), wants) == ("as_is",)
    raised = replace(wants, min_opset=7)
    assert forms_for(make_case(old, fed), raised)[-1] == "restamped+cast"
    assert apply_form("restamped+cast", old.SerializeToString(), fed, raised)


@pytest.mark.parametrize(
    ("expected", "told", "is_narrowed"),
    [(np.int8([3]), [3.0], True), (np.int8([3]), [3.5], False), (np.int8([0]), [np.nan], False),
     (np.array([True]), [0.3], False), (np.float16([0.1]), [0.1], True)],
)  # fmt: skip
def test_a_wide_answer_is_narrowed_where_it_is_one_of_the_type(expected, told, is_narrowed):
    (wanted,), (wide,) = make_inputs(expected), make_inputs(np.float32(told))
    assert narrowed(wide, wanted) == (wanted if is_narrowed else wide)


def test_cast_does_not_apply_to_what_is_optional():
    inside = onnx.helper.make_optional_type_proto(
        onnx.helper.make_tensor_type_proto(TensorProto.FLOAT16, [1])
    )
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("OptionalHasElement", ["x"], ["y"])],
        "g",
        [onnx.helper.make_value_info("x", inside)],
        [onnx.helper.make_tensor_value_info("y", TensorProto.BOOL, [])],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])
    fed, takes = make_inputs(np.float16([1])), Stamps(dtypes=("float",))
    assert apply_form("cast", model.SerializeToString(), fed, takes) is None


def test_cast_does_not_apply_where_a_value_has_no_place():
    model = make_node_model("Abs", [(7, (2,))], [(7, (2,))], 17).SerializeToString()
    small, large = make_inputs(np.int64([1, 2])), make_inputs(np.int64([1, 2**40]))
    assert apply_form("cast", model, small, Stamps(dtypes=("int32",)))
    assert apply_form("cast", model, large, Stamps(dtypes=("int32",))) is None
    assert not fits(large, ("int32",))
    double = make_node_model("Abs", [(11, (2,))], [(11, (2,))], 17).SerializeToString()
    wide = make_inputs(np.float64([0.1, 2]))
    assert apply_form("cast", double, wide, Stamps(dtypes=("float",))) is None
