"""The signature of a node in words: its inputs, small constants and telling attributes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from probes.model.attributes import find_schema, schema_defaults

SHOWN_VALUES = 16
NEUTRAL = {"auto_pad": ("NOTSET", ""), "pads": (0,), "dilations": (1,), "group": (1,)}


def signature_text(signature: Mapping[str, Any]) -> str:
    """float[1,3,224,224], int64[1] const axes=[2] · strides=[2, 2]"""
    inputs = ", ".join(_input_text(signature, at) for at in range(len(signature["inputs"])))
    attributes = " ".join(telling_attributes(signature))
    return " · ".join(part for part in (inputs, attributes) if part)


def tensor_text(tensor: Mapping[str, Any] | None) -> str:
    """A tensor of a signature in words; "–" for an input that is left out."""
    if not tensor or not tensor.get("dtype"):
        return "–"
    shape = tensor.get("shape")
    dims = "" if shape is None else f"[{','.join('?' if d is None else str(d) for d in shape)}]"
    return f"{tensor['dtype']}{dims}" + (" const" if tensor.get("const") else "")


def telling_attributes(signature: Mapping[str, Any]) -> Iterator[str]:
    """Attributes with another value than the schema's default or the one that changes nothing."""
    schema = _schema(signature)
    defaults = schema_defaults(schema) if schema else {}
    for name, value in signature.get("attrs", {}).items():
        if name in defaults and value == defaults[name]:
            continue
        if not _is_neutral(name, value):
            yield f"{name}={value_text(value)}"


def value_text(value: Any) -> str:
    """A value on a few characters: lists cut, tensors by type and shape."""
    if isinstance(value, Mapping):
        return tensor_text(value) if "dtype" in value else f"{value.get('count', '?')}×…"
    if not isinstance(value, list):
        return f"{value:g}" if isinstance(value, float) else str(value)
    shown = ", ".join(value_text(each) for each in value[:SHOWN_VALUES])
    return f"[{shown}{', …' if len(value) > SHOWN_VALUES else ''}]"


def _input_text(signature: Mapping[str, Any], at: int) -> str:
    tensor = signature["inputs"][at]
    text = tensor_text(tensor)
    if not tensor or "value" not in tensor:
        return text
    value = tensor["value"]
    single = value[0] if len(value) == 1 and tensor.get("shape") == [] else value
    return f"{text} {_input_name(signature, at)}={value_text(single)}"


def _input_name(signature: Mapping[str, Any], at: int) -> str:
    schema = _schema(signature)
    names: Sequence[str] = [each.name for each in schema.inputs] if schema else []
    return names[at] if at < len(names) else "value"


def _schema(signature: Mapping[str, Any]) -> Any:
    op, domain, since = (signature.get(name) for name in ("op", "domain", "since"))
    is_known = isinstance(op, str) and isinstance(domain, str) and isinstance(since, int)
    return find_schema(op, since, domain) if is_known else None


def _is_neutral(name: str, value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return name in NEUTRAL and all(each in NEUTRAL[name] for each in values)
