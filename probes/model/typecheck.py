"""Whether the types that meet at a node may meet, by the operator's own schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from onnx import defs

from probes.model.attributes import find_schema
from probes.model.checks import label
from probes.model.refusals import Problem
from probes.model.scopes import Visit
from probes.model.types import ABSENT, UNKNOWN


def find_type_problems(visits: Iterable[Visit], opsets: Mapping[str, int]) -> Iterator[Problem]:
    """A problem for each node whose inputs contradict each other or a fixed type."""
    for visit in visits:
        domain = visit.node.domain or "ai.onnx"
        schema = find_schema(visit.node.op_type, opsets.get(domain, 0), domain)
        formals = formal_inputs(schema) if schema is not None else []
        problem = check_node(visit, formals) if formals else None
        if problem:
            yield problem


class Formal(NamedTuple):
    """variable: the type variable that inputs share; fixed: the only type allowed, or ""."""

    variable: str
    fixed: str
    free: bool


@cache
def formal_inputs(schema: defs.OpSchema) -> list[Formal]:
    """The declared inputs; the last one stands for all that a variadic operator takes."""
    variadic = defs.OpSchema.FormalParameterOption.Variadic
    return [
        Formal(
            one.type_str,
            plain_type(*one.types) if len(one.types) == 1 else "",
            one.option == variadic and not one.is_homogeneous,
        )
        for one in schema.inputs
    ]


def check_node(visit: Visit, formals: list[Formal]) -> Problem | None:
    bound: dict[str, tuple[str, str]] = {}
    for slot, (name, info) in enumerate(zip(visit.node.input, visit.inputs, strict=True)):
        formal = formals[min(slot, len(formals) - 1)]
        if info.dtype in (UNKNOWN, ABSENT) or formal.free:
            continue
        if formal.fixed:
            other, wanted = f"input {slot}", formal.fixed
        else:
            other, wanted = bound.setdefault(formal.variable, (f"'{name}'", info.dtype))
        if wanted != info.dtype:
            return "type_mismatch", {
                "node": label(visit.node),
                "op": visit.node.op_type,
                "left": other,
                "left_type": wanted,
                "right": f"'{name}'",
                "right_type": info.dtype,
            }
    return None


def plain_type(text: str) -> str:
    """The document's name of a schema type: "seq(tensor(float))" is "seq(float)"."""
    return re.sub(r"tensor\(([^()]*)\)", r"\1", text.replace(" ", ""))
