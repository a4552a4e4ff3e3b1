"""A facts document from a stranger: nothing in it is believed before it is checked here."""

from collections.abc import Iterable
from typing import Any

from compat.shapes import (
    Check,
    ShapeError,
    absent,
    any_of,
    flag,
    many,
    maybe,
    named,
    number,
    real,
    record,
    text,
)
from probes.judge.knowledge import Keys, signature_keys
from probes.model.attributes import LONGEST_LIST
from probes.model.facts import LEFT_OUT, SCHEMA, check_variety
from probes.model.refusals import LIMITS, WARNINGS, ModelFileError
from probes.model.signature import SCHEMA as SIGNATURE_SCHEMA

Facts = dict[str, Any]

WORD = 300  # characters of an operator, a type, an attribute's name
NAME = LIMITS.name_bytes
INT32, INT63 = 2**31 - 1, 2**63 - 1
TENSORS = 4 * LIMITS.expanded_nodes
MOST_OPSETS, MOST_WARNINGS, MOST_ATTRIBUTES = 1_000, 1_000, 1_000
MOST_PARAMS = 20

# An attribute or a telling value: numbers and text, lists of them, {"dtype", "shape", "sha256"}.
_SCALARS = {"str": text(WORD), "int": number(), "float": real, "bool": flag, "none": absent}
_SMALL = many(any_of("a number or text", **_SCALARS), LONGEST_LIST)
_TENSOR = named(text(WORD), any_of("a number, text or a list", **_SCALARS, list=_SMALL), 8)
_ITEMS = any_of("a number, text or a tensor", **_SCALARS, dict=_TENSOR)
_ATTRIBUTE = any_of(
    "a number, text, a list or a tensor", **_SCALARS, dict=_TENSOR, list=many(_ITEMS, LONGEST_LIST)
)
_SHAPE = maybe(many(maybe(number(0, INT63)), LIMITS.dims))
_TYPE: dict[str, Check] = {"dtype": text(WORD), "shape": _SHAPE}
_SIGNATURE = record(
    {
        "schema": number(SIGNATURE_SCHEMA, SIGNATURE_SCHEMA),
        "domain": text(NAME),
        "op": text(NAME),
        "since": number(0, INT32),
        "inputs": many(record({**_TYPE, "const": flag}, {"value": _SMALL}), TENSORS),
        "outputs": many(record(_TYPE), TENSORS),
        "attrs": named(text(WORD), _ATTRIBUTE, MOST_ATTRIBUTES),
        "subgraphs": number(0, LIMITS.subgraphs),
    }
)
_TENSOR_ID = number(LEFT_OUT, TENSORS)
_NODE = record(
    {
        "id": number(0, LIMITS.expanded_nodes),
        "name": text(NAME),
        "op": text(NAME),
        "domain": text(NAME),
        "sig": maybe(number(0, LIMITS.expanded_nodes)),
        "inputs": many(_TENSOR_ID, TENSORS),
        "outputs": many(_TENSOR_ID, TENSORS),
        "path": text(NAME),
        "folds": flag,
    }
)
_PARAM = any_of("a number, text or a list", **_SCALARS, list=_SMALL)
_VALUE = record({**_TYPE, "name": text(NAME), "tensor": _TENSOR_ID})
_FACTS = record(
    {
        "schema": number(SCHEMA, SCHEMA),
        "model": record(
            {
                "sha256": text(64, "[0-9a-f]{64}"),
                "bytes": number(0, INT63),
                "ir_version": number(0, INT32),
                "opsets": named(text(NAME), number(0, INT32), MOST_OPSETS),
                "producer": text(NAME),
                "functions": number(0, LIMITS.functions),
                "inferred": flag,
            }
        ),
        "signatures": many(_SIGNATURE, LIMITS.expanded_nodes),
        "nodes": many(_NODE, LIMITS.expanded_nodes),
        "tensors": record(
            {
                "dtypes": many(text(WORD), TENSORS),
                "shapes": many(_SHAPE, TENSORS),
                "constant": many(number(0, TENSORS), TENSORS),
            },
            {"names": many(text(NAME), TENSORS)},
        ),
        "inputs": many(_VALUE, TENSORS),
        "outputs": many(_VALUE, TENSORS),
        "initializers": record(
            {name: number(0, INT63) for name in ("count", "bytes", "weight_bytes")}
        ),
        "warnings": many(
            record({"code": text(WORD), "params": named(text(WORD), _PARAM, MOST_PARAMS)}),
            MOST_WARNINGS,
        ),
    }
)


class FactsError(ValueError):
    """A document that cannot be judged; the message is a sentence that says where and why."""

    code = "bad_facts"


class FactsTooManyError(FactsError):
    """More in it than is judged of a file."""

    code = "too_many"


def check_facts(facts: Any) -> list[Keys]:
    """The keys of its signatures, when everything in the document is as it must be."""
    schema = facts.get("schema") if isinstance(facts, dict) else None
    if type(schema) is int and schema != SCHEMA:
        raise FactsError(
            f"The facts have schema {schema}, this server reads {SCHEMA}: "
            "use the opatlas-probes of this server's version."
        )
    try:
        _FACTS(facts, "")
        _check_variety(facts)
        _check_numbers(facts)
        return _keys(facts)
    except ShapeError as error:
        raise FactsError(
            f"The facts cannot be read: {error} Make them with python -m probes check."
        ) from error


def _check_variety(facts: Facts) -> None:
    """As for a file: each signature costs a judgement for each target."""
    operators = {(node["domain"], node["op"]) for node in facts["nodes"]}
    try:
        check_variety(len(facts["signatures"]), len(operators))
    except ModelFileError as error:
        raise FactsTooManyError(error.sentence) from error


def _check_numbers(facts: Facts) -> None:
    """Each number that stands for a tensor, a signature or a node stands for one that is there."""
    tensors = facts["tensors"]
    count = len(tensors["dtypes"])
    if any(len(tensors[name]) != count for name in ("shapes", "names") if name in tensors):
        raise ShapeError("the lists in tensors must be equally long.")
    _check_range("tensors.constant", tensors["constant"], count)
    for side in ("inputs", "outputs"):
        _check_range(side, (value["tensor"] for value in facts[side]), count)
    for at, node in enumerate(facts["nodes"]):
        _check_node(facts, node, at, count)
    for warning in facts["warnings"]:
        _check_warning(warning)


def _check_node(facts: Facts, node: Facts, at: int, tensors: int) -> None:
    where = f"nodes[{at}]"
    if node["id"] != at:
        raise ShapeError(f"{where}.id must be {at}.")
    _check_range(f"{where}.inputs", node["inputs"], tensors, LEFT_OUT)
    _check_range(f"{where}.outputs", node["outputs"], tensors, LEFT_OUT)
    if node["sig"] is None:
        return
    _check_range(f"{where}.sig", [node["sig"]], len(facts["signatures"]))
    signature = facts["signatures"][node["sig"]]
    if (signature["domain"], signature["op"]) != (node["domain"] or "ai.onnx", node["op"]):
        raise ShapeError(f"{where}.sig is the signature of another operator.")


def _check_range(where: str, numbers: Iterable[int], end: int, least: int = 0) -> None:
    if any(not least <= number < end for number in numbers):
        raise ShapeError(f"{where} has a number of something that is not there.")


def _check_warning(warning: Facts) -> None:
    """A warning that is known can be told with its parameters."""
    try:
        _ = WARNINGS.get(warning["code"], "") % warning["params"]
    except (KeyError, TypeError, ValueError) as error:
        raise ShapeError(f"the warning {warning['code']} has other parameters.") from error


def _keys(facts: Facts) -> list[Keys]:
    """Attributes of types that no such operator has are found by who reads them."""
    try:
        return signature_keys(facts)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ShapeError("a signature has attributes that its operator cannot have.") from error
