"""Bodies of requests: JSON that is bounded before it is read."""

import json
import re
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
BRACKETS = 1_000_000  # each is an object in memory, far larger than its two characters


class BodyTooLarge(APIException):
    status_code = 413
    default_detail = "The body is too large."
    default_code = "too_large"


class BoundedJson(BaseParser):
    """Standard JSON (no NaN) of at most `limit()` bytes, however it is nested."""

    media_type = "application/json"

    def limit(self) -> int:
        return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The document; raises ParseError, BodyTooLarge."""
        body = stream.read(self.limit() + 1)
        if len(body) > self.limit():
            raise BodyTooLarge(f"The body has more than {self.limit()} bytes.")
        if body.count(b"[") + body.count(b"{") > BRACKETS:
            raise BodyTooLarge(f"The body has more than {BRACKETS} lists and objects.")
        try:
            return self.checked(json.loads(body, parse_constant=_refuse_constant))
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None
        except ValueError as error:
            raise ParseError(f"The body is no JSON: {error}") from error

    def checked(self, document: Any) -> Any:
        """Raises ValueError for text that no database holds."""
        waiting = [document]
        while waiting:
            item = waiting.pop()
            if isinstance(item, str) and _UNSTORABLE.search(item):
                raise ValueError("it has the character NUL or half a surrogate pair")
            if isinstance(item, dict):
                waiting += [*item, *item.values()]
            elif isinstance(item, list):
                waiting += item
        return document


class FactsJson(BoundedJson):
    """The facts of a large model are longer than other documents; their text is made plain."""

    def limit(self) -> int:
        return int(settings.FACTS_LIMIT_BYTES)

    def checked(self, document: Any) -> Any:
        return document


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not in JSON")
