"""Control flow, sequences, optionals, strings, and operators whose outputs are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx
from onnx import TensorProto, helper

from probes.cases.variants.vocabulary import FLOATS, Choice, Draft, Spec, attributes, t, v
from probes.model.values import NUMBER_OF

ANY = ("float", "float16", "double", "int64", "int32", "uint8", "bool")


def _info(name: str, dtype: int, shape: Sequence[int] | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def _if(c: Choice) -> Draft:
    """Branches without inputs; what they give has one or two shapes."""
    number = NUMBER_OF[c.dtype]
    other = [2, 3] if c["branches"] == "alike" else [4]
    branches = []
    for name, shape in (("then", [2, 3]), ("else", other)):
        size = 1
        for length in shape:
            size *= length
        value = helper.make_tensor("c", number, shape, [1 + len(name) % 2] * size)
        node = helper.make_node("Constant", [], [f"{name}_out"], value=value)
        branches.append(helper.make_graph([node], name, [], [_info(f"{name}_out", number, shape)]))
    return Draft(
        [v(c["condition"], "bool")], {"then_branch": branches[0], "else_branch": branches[1]}
    )


def _loop(c: Choice) -> Draft:
    """Carries a sum; the scan output collects it."""
    number = NUMBER_OF[c.dtype]
    nodes = [
        helper.make_node("Add", ["carried", "carried"], ["sum"]),
        helper.make_node("Identity", ["go"], ["go_on"]),
        helper.make_node("Identity", ["sum"], ["seen"]),
    ]
    inputs = [_info("i", TensorProto.INT64, []), _info("go", TensorProto.BOOL, []),
              _info("carried", number, [2])]  # fmt: skip
    outputs = [_info("go_on", TensorProto.BOOL, []), _info("sum", number, [2])]
    if c["scans"]:
        outputs.append(_info("seen", number, [2]))
    body = helper.make_graph(nodes if c["scans"] else nodes[:2], "body", inputs, outputs)
    trips = {"three": 3, "none": 0, "one": 1}[c["trips"]]
    go = None if c["condition"] is None else v(bool(c["condition"]), "bool")
    return Draft([v(trips), go, t(2)], {"body": body}, 2 if c["scans"] else 1)


def _scan(c: Choice) -> Draft:
    """The running sum over rows."""
    number = NUMBER_OF[c.dtype]
    nodes = [
        helper.make_node("Add", ["state", "row"], ["next"]),
        helper.make_node("Identity", ["next"], ["seen"]),
    ]
    inputs = [_info("state", number, [3]), _info("row", number, [3])]
    outputs = [_info("next", number, [3]), _info("seen", number, [3])]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    params: dict[str, Any] = {"num_scan_inputs": 1, "body": body}
    if c["direction"]:
        params["scan_input_directions"] = [1]
    axis = c["axis"]
    if axis:
        params["scan_input_axes"] = [1]
    return Draft([t(3), t(*((3, 4) if axis else (4, 3)))], params, 2)


def _construct(c: Choice) -> Draft:
    return Draft([t(2, 3), t(2, 3), t(1, 3)][: c["count"]])


def _sequence(c: Choice, *more: Any, **params: Any) -> Draft:
    """Fed with a sequence of three tensors."""
    return Draft([(t(2, 3), t(1, 3), t(2, 3)), *more], params)


def _at(c: Choice) -> Draft:
    return _sequence(c, v(c["at"], c["index"]))


def _erase(c: Choice) -> Draft:
    return _sequence(c) if c["at"] is None else _sequence(c, v(c["at"], c["index"]))


def _insert(c: Choice) -> Draft:
    more = [t(2, 3)] if c["at"] is None else [t(2, 3), v(c["at"], c["index"])]
    return _sequence(c, *more)


def _length(c: Choice) -> Draft:
    return _sequence(c)


def _empty(c: Choice) -> Draft:
    return Draft([], {"dtype": NUMBER_OF[c["to"]] if c["to"] else None})


def _concat_sequence(c: Choice) -> Draft | None:
    if c["new"]:
        return Draft([(t(2, 3), t(2, 3))], {"axis": c["axis"], "new_axis": 1})
    if c["axis"] not in (0, -2):
        return Draft([(t(2, 3), t(2, 3))], {"axis": c["axis"]})
    return _sequence(c, axis=c["axis"])


def _split_sequence(c: Choice) -> Draft:
    slots: list[Any] = [t(6, 4)]
    if c["split"] is not None:
        slots.append(v(c["split"]) if c["split"] != "uneven" else v([1, 3] if c["axis"] == 1 else
                                                                     [1, 5]))  # fmt: skip
    return Draft(slots, {"axis": c["axis"], "keepdims": c["keepdims"]})


def _map(c: Choice) -> Draft:
    number = NUMBER_OF[c.dtype]
    node = helper.make_node("Identity" if c["body"] == "identity" else "Shape", ["each"], ["out"])
    to = number if c["body"] == "identity" else TensorProto.INT64
    body = helper.make_graph([node], "body", [_info("each", number, None)],
                             [_info("out", to, None)])  # fmt: skip
    return _sequence(c, body=body)


def _optional(c: Choice) -> Draft:
    return Draft([t(2, 3)])


def _concat_text(c: Choice) -> Draft:
    words = [["a", "b c", ""], ["é", "日本", "x"]]
    other: Any = {"same": [["1", "2", "3"], ["", "5", "6"]], "row": ["x", "y", "z"],
                  "scalar": "!"}[c["broadcast"]]  # fmt: skip
    return Draft([v(words, "string"), v(other, "string")])


def _split_text(c: Choice) -> Draft:
    texts = ["a b  c", " x ", "", "no-split,here,too"]
    return Draft([v(texts, "string")], {"delimiter": c["delimiter"], "maxsplit": c["most"]}, 2)


def _match(c: Choice) -> Draft:
    texts = ["www.a.com", "abc", "", "12-34"]
    return Draft([v(texts, "string")], {"pattern": c["pattern"]})


def _normalize(c: Choice) -> Draft:
    texts = ["Monday", "tuesday", "WEDNESDAY", "thursday"]
    stop = ["monday", "tuesday"] if c["stop"] else None
    return Draft(
        [v(texts, "string")],
        {"case_change_action": c["case"], "is_case_sensitive": c["exact"], "stopwords": stop},
    )


def _frequencies(c: Choice) -> Draft:
    params = {
        "mode": c["mode"], "min_gram_length": c["least"], "max_gram_length": 2,
        "max_skip_count": c["skips"], "ngram_counts": [0, 4], "ngram_indexes": [0, 1, 2, 3, 4, 5],
        "pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8],
        "weights": [0.5, 1.0, 2.0, 1.0, 0.25, 4.0] if c["mode"] != "TF" else None,
    }  # fmt: skip
    return Draft([v([[1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8]], c.dtype)], params)


def _drawn(c: Choice) -> Draft:
    return Draft([], {"shape": [2, 3], **attributes(c)})


def _drawn_like(c: Choice) -> Draft:
    return Draft([t(2, 3, kind="unit")], attributes(c))


_INDEX = {"at": (0, 2, -1, 1), "index": ("int64", "int32")}
_OPTIONAL_INDEX = {"at": (None, 0, -1, 1), "index": ("int64", "int32")}
_STATIC = ("static",)
SPECS = (
    Spec("If", _if, {"branches": ("alike", "different"), "condition": (True, False)}, dtypes=
         ("bool",), budget=4, older=2, sizes=_STATIC),
    Spec("Loop", _loop, {"trips": ("three", "none", "one"), "condition": (None, 1, 0), "scans":
         (1, 0)}, typed=2, dtypes=("float", "int64", "double"), budget=10, older=2,
         sizes=_STATIC),
    Spec("Scan", _scan, {"direction": (None, 1), "axis": (0, 1)}, since=9, dtypes=("float",
         "double", "int32"), budget=8, older=2, sizes=_STATIC),
    Spec("SequenceConstruct", _construct, {"count": (3, 1, 2)}, dtypes=ANY, budget=8),
    Spec("SequenceAt", _at, _INDEX, dtypes=ANY, budget=10, sizes=_STATIC),
    Spec("SequenceErase", _erase, _OPTIONAL_INDEX, dtypes=ANY, budget=10, sizes=_STATIC),
    Spec("SequenceInsert", _insert, _OPTIONAL_INDEX, typed=1, dtypes=ANY, budget=10,
         sizes=_STATIC),
    Spec("SequenceLength", _length, {}, dtypes=("float", "int64"), budget=4, sizes=_STATIC),
    Spec("SequenceEmpty", _empty, {"to": (None, "int64", "double", "bool")}, dtypes=("float",),
         budget=4, sizes=_STATIC),
    Spec("ConcatFromSequence", _concat_sequence, {"axis": (0, -2, 1), "new": (0, 1)},
         dtypes=("float", "int64", "double"), budget=8, sizes=_STATIC),
    Spec("SplitToSequence", _split_sequence, {"axis": (None, 1, -1), "split": (None, 2, "uneven"),
         "keepdims": (None, 0)}, dtypes=ANY, budget=12, sizes=_STATIC, without=({"split":
         ("uneven",), "axis": (-1,)},)),
    Spec("SequenceMap", _map, {"body": ("identity", "shape")}, dtypes=("float", "int64"),
         budget=4, sizes=_STATIC),
    Spec("Optional", _optional, {}, dtypes=("float", "int64", "bool"), budget=4),
    Spec("OptionalHasElement OptionalGetElement", _optional, {}, since=18, dtypes=("float",
         "int64", "bool"), budget=4),
    Spec("StringConcat", _concat_text, {"broadcast": ("same", "row", "scalar")}, dtypes=
         ("string",), budget=6),
    Spec("StringSplit", _split_text, {"delimiter": (None, ",", "-"), "most": (None, 1)}, dtypes=
         ("string",), budget=6),
    Spec("RegexFullMatch", _match, {"pattern": ("[a-z]+", "www.[a-z].com", "[0-9]*-?[0-9]*")},
         dtypes=("string",), budget=6),
    Spec("StringNormalizer", _normalize, {"case": ("LOWER", "UPPER", "NONE"), "exact": (0, 1),
         "stop": (1, 0)}, dtypes=("string",), budget=8, without=({"exact": (0,), "case":
         ("NONE",)},)),
    Spec("TfIdfVectorizer", _frequencies, {"mode": ("TF", "IDF", "TFIDF"), "least": (1, 2),
         "skips": (0, 1, 5)}, dtypes=("int64", "int32"), budget=10),
    Spec("RandomNormal RandomUniform", _drawn, {"seed": (1.0,)}, dtypes=("float",), budget=2,
         compare="shape", sizes=_STATIC),
    Spec("RandomNormalLike RandomUniformLike", _drawn_like, {"seed": (1.0,) },
         dtypes=FLOATS, budget=4, compare="shape"),
    Spec("Bernoulli", _drawn_like, {"seed": (1.0,)}, dtypes=FLOATS, budget=4, compare="shape"),
    Spec("Multinomial", _drawn_like, {"sample_size": (1, 4), "seed": (1.0,)}, dtypes=("float",
         "double"), budget=4, compare="shape"),
)  # fmt: skip
