"""Template filters for documents whose names strangers gave."""

from collections.abc import Mapping
from typing import Any

from django import template

register = template.Library()


@register.filter
def pairs(document: Any) -> tuple[tuple[Any, Any], ...]:
    """Name and value of each member; `document.items` is a member's value if one is called so."""
    return tuple(document.items()) if isinstance(document, Mapping) else ()
