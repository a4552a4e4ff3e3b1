"""The case of one value of a limit, and the same in another data type."""

from __future__ import annotations

import numpy as np
import onnx

from probes.cases import origins
from probes.cases.build import (
    ORACLE,
    contents_of,
    expected_of,
    model_of,
    named_feeds,
    node_of,
    since_of,
)
from probes.cases.case import Case, case_id, operators_of
from probes.cases.fills import Array
from probes.cases.limits import limits_by_operator
from probes.cases.limits.row import LimitRow
from probes.cases.rows import Row
from probes.model.signature import main_signature
from probes.model.values import from_numpy

# ONNX's names of the types that are tried -> numpy's; the model's own is "float".
DTYPES = {
    "float": "<f4",
    "float16": "<f2",
    "double": "<f8",
    "int8": "<i1",
    "uint8": "<u1",
    "int32": "<i4",
    "int64": "<i8",
}
# What a mean of integers is, the operator does not say.
FLOATS_ONLY = frozenset({"ReduceMean", "Resize"})


def limit_case(limit: LimitRow, value: int, dtype: str = "float") -> Case:
    """The case "limit/OPERATOR/PARAMETER/VALUE"; another type than float ends its name."""
    row = limit.row(value)
    feeds, drawn = named_feeds(row), contents_of(row)
    typed = {name: _typed(drawn[name], dtype) for name in feeds if feeds[name].values is None}
    arrays = {**drawn, **typed}
    # Small whole numbers are exact in float64, in which references know no largest number.
    wide = {name: array.astype(np.float64) for name, array in typed.items()}
    results = [_narrowed(array, dtype) for array in expected_of(row, {**drawn, **wide})]
    model = model_of(row, node_of(row), arrays, results)
    inputs = tuple(from_numpy(arrays[name]) for name in _run_time(row))
    suffix = "" if dtype == "float" else f"/{dtype}"
    return Case(
        id=case_id(model, inputs),
        name=f"{origins.LIMIT}/{limit.op}/{_plain(limit.parameter)}/{value}{suffix}",
        domain=row.domain,
        op_type=row.op,
        since_version=since_of(row),
        origin=origins.LIMIT,
        core=False,
        model=model.SerializeToString(deterministic=True),
        opset=row.opset,
        ir_version=row.ir,
        inputs=inputs,
        expected=tuple(map(from_numpy, results)),
        oracle=ORACLE,
        oracles_agree="",
        rtol=_tolerance(row, dtype),
        atol=row.atol,
        compare="values",
        timed=False,
        citation=row.cite,
        signature=main_signature(model, row.op, row.domain),
        operators=operators_of(model),
    )


def case_named(name: str) -> Case:
    """The case of a name like "limit/Conv/kernel/63" or ".../3/float16"; raises LookupError."""
    kind, op, parameter, value, *dtype = [*name.split("/"), *[""] * 4]
    rows = limits_by_operator().get(op, ()) if kind == origins.LIMIT else ()
    for row in rows:
        if parameter == _plain(row.parameter) and value.isdecimal():
            return limit_case(row, int(value), dtype[0] or "float")
    raise LookupError(f"There is no limit of the name {name}.")


def _plain(parameter: str) -> str:
    return parameter.replace(" ", "-")


def typed_cases(limit: LimitRow) -> dict[str, Case]:
    """The usual value in each type that the operator's schema allows its first input."""
    allowed = _allowed(limit)
    return {
        name: limit_case(limit, limit.usual, name)
        for name in DTYPES
        if name in allowed and not (limit.op in FLOATS_ONLY and "int" in name)
    }


def first_inputs(limit: LimitRow) -> tuple[str, ...]:
    """The schema's names of the inputs that share the type of the first."""
    schema = _schema(limit)
    shared = schema.inputs[0].type_str
    return tuple(each.name for each in schema.inputs if each.type_str == shared)


def _allowed(limit: LimitRow) -> set[str]:
    schema = _schema(limit)
    first = schema.inputs[0]
    types = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
    return {name[7:-1] for name in types.get(first.type_str, [first.type_str])}


def _schema(limit: LimitRow) -> onnx.defs.OpSchema:
    return onnx.defs.get_schema(limit.op, limit.row(limit.usual).opset)


def _run_time(row: Row) -> list[str]:
    return [name for name, feed in named_feeds(row).items() if not feed.constant]


def _typed(array: Array, dtype: str) -> Array:
    """Drawn contents in another type; of whole numbers, small ones that are not all equal."""
    if "int" not in dtype:
        return array.astype(DTYPES[dtype])
    whole: Array = np.rint(array * 8)
    return (np.abs(whole) if dtype.startswith("u") else whole).astype(DTYPES[dtype])


def _narrowed(result: Array, dtype: str) -> Array:
    """expected_of gives float32 but for indices, which are int64 in every type."""
    return result.astype(DTYPES[dtype]) if result.dtype.kind == "f" else result


def _tolerance(row: Row, dtype: str) -> float:
    return 2**-8 if dtype == "float16" else row.rtol
