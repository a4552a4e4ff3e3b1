"""What the OpenAPI document says of tokens, and of the refusals that any operation may give."""

from collections.abc import Iterator
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class BearerTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "compat.api.access.BearerToken"
    name = "bearerToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


METHODS = ("get", "post", "put", "patch", "delete")
PROBLEM = {"$ref": "#/components/schemas/Problem"}
PROBLEM_TYPE = "application/problem+json"
# Refusals that come before a view: of the address, the token, the scope, the type, the rate.
ANY = {
    "400": "The request cannot be read.",
    "401": "A token is needed, or it is not valid.",
    "403": "The token lacks a scope.",
    "406": "The answer is not to be had in this type.",
    "429": "Too many requests; Retry-After says when to ask again.",
}
WITH_BODY = {
    "413": "The body is too large.",
    "415": "The body is of another type.",
}


def declare_problems(result: Any, **_: Any) -> Any:
    """Every refusal of every operation as a problem document."""
    for operation in _operations(result):
        responses = operation["responses"]
        for response in responses.values():
            _retype(response)
        common = ANY | (WITH_BODY if "requestBody" in operation else {})
        for status, told in common.items():
            content = {PROBLEM_TYPE: {"schema": PROBLEM}}
            responses.setdefault(status, {"content": content, "description": told})
        operation["responses"] = dict(sorted(responses.items()))
    return result


def _operations(result: Any) -> Iterator[Any]:
    for path in result["paths"].values():
        yield from (path[method] for method in METHODS if method in path)


def _retype(response: Any) -> None:
    content = response.get("content", {})
    if any(media["schema"] == PROBLEM for media in content.values()):
        response["content"] = {PROBLEM_TYPE: {"schema": PROBLEM}}
