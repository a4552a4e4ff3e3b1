"""Whether the types that meet at a node may meet, by the operator's own schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

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
        if schema is not None and schema.inputs:
            problem = check_node(visit, schema)
            if problem:
                yield problem


def check_node(visit: Visit, schema: defs.OpSchema) -> Problem | None:
    bound: dict[str, tuple[str, str]] = {}
    for slot, (name, info) in enumerate(zip(visit.node.input, visit.inputs, strict=True)):
        formal = schema.inputs[min(slot, len(schema.inputs) - 1)]
        variadic = formal.option == defs.OpSchema.FormalParameterOption.Variadic
        if info.dtype in (UNKNOWN, ABSENT) or (variadic and not formal.is_homogeneous):
            continue
        if len(formal.types) == 1:
            other, wanted = f"input {slot}", plain_type(*formal.types)
        else:
            other, wanted = bound.setdefault(formal.type_str, (f"'{name}'", info.dtype))
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
