"""What a vendor's list says of data types, held against those of a node."""

from collections.abc import Mapping
from typing import Any

# A list's word -> the ONNX types that it covers: converters narrow float to half precision and
# int64 to int32 by themselves.
COVERS: dict[str, frozenset[str]] = {
    "fp64": frozenset({"double"}),
    "fp32": frozenset({"float"}),
    "fp16": frozenset({"float16", "float"}),
    "bf16": frozenset({"bfloat16", "float"}),
    "fp8": frozenset({"float8e4m3fn", "float8e5m2"}),
    "fp4": frozenset({"float4e2m1"}),
    "int64": frozenset({"int64"}),
    "int32": frozenset({"int32", "int64"}),
    "bool": frozenset({"bool"}),
    **{name: frozenset({name}) for name in ("int4", "int8", "int16")},
    **{name: frozenset({name}) for name in ("uint4", "uint8", "uint16", "uint32", "uint64")},
}


def listed_types(text: str) -> list[str]:
    """The words of a list such as "fp16;int8"; none where one of them is not a type."""
    words = [word.strip() for word in text.replace(",", ";").split(";") if word.strip()]
    return words if all(word in COVERS for word in words) else []


def unlisted_type(text: str, signature: Mapping[str, Any]) -> str:
    """The type of the node's first input when the list leaves it out, else ""."""
    words = listed_types(text)
    first = next(iter(signature["inputs"]), None)
    if not words or first is None or first["dtype"] in ("unknown", "absent"):
        return ""
    covered = any(first["dtype"] in COVERS[word] for word in words)
    return "" if covered else str(first["dtype"])
