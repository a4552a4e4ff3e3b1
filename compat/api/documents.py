"""Documents of the API from the dataclasses that reads return: one description for both."""

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_array_type
from drf_spectacular.utils import Direction
from rest_framework import serializers

from probes.judge.told import sentence

Document = dict[str, Any]
Field = serializers.Field[Any, Any, Any, Any]

_PLAIN: dict[Any, Callable[..., Field]] = {
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    str: serializers.CharField,
    datetime: serializers.DateTimeField,
    Any: serializers.JSONField,
}


def document(value: Any) -> Any:
    """A dataclass or named tuple as JSON-ready values.

    Where a dataclass has a reason's code, the reason in English words stands beside it.
    """
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return value._asdict()
    if is_dataclass(value) and not isinstance(value, type):
        return _document(value)
    if isinstance(value, tuple | list):
        return [document(item) for item in value]
    return value


def _document(value: Any) -> Document:
    found = {row.name: document(getattr(value, row.name)) for row in fields(value)}
    if "reason_code" in found:
        reason = {"code": found["reason_code"], "params": found["reason_params"]}
        found["reason"] = sentence(reason)
    return found


class GappyListField(serializers.ListField):
    """A list of documents in which some are null."""


class GappyListSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """The schema generator forgets that a list's items may be null."""

    target_class = GappyListField

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> Document:
        component = auto_schema.resolve_serializer(self.target.child, direction)
        return build_array_type({"allOf": [component.ref], "nullable": True})


@cache
def serializer_of(kind: type) -> type[serializers.Serializer[Any]]:
    """A serializer that describes `document(kind(...))` to the schema; it serializes nothing."""
    members = {name: _field(hint) for name, hint in typing.get_type_hints(kind).items()}
    if is_dataclass(kind) and "reason_code" in members:
        members["reason"] = serializers.CharField(help_text="The reason in English.")
    name = f"{kind.__name__}Serializer"
    body: dict[str, Any] = {**members, "__doc__": kind.__doc__ if _is_written(kind) else ""}
    return type(name, (serializers.Serializer,), body)


def _is_written(kind: type) -> bool:
    """Dataclasses and named tuples without a docstring get their signature as one."""
    return not (kind.__doc__ or "").startswith(kind.__name__ + "(")


def _field(hint: Any, **options: Any) -> Field:
    if isinstance(hint, types.UnionType):
        (inner,) = (part for part in typing.get_args(hint) if part is not type(None))
        return _field(inner, allow_null=True, **options)
    if hint in _PLAIN:
        return _PLAIN[hint](**options)
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        child = _field(inside[0])
        has_gaps = child.allow_null and isinstance(child, serializers.Serializer)
        return (GappyListField if has_gaps else serializers.ListField)(child=child, **options)
    if origin in (dict, Mapping):
        return serializers.DictField(child=_field(inside[1]), **options)
    return serializer_of(hint)(**options)
