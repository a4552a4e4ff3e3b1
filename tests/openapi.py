"""The checked-in schema as a judge of every request and answer of the API in the tests."""

import functools
import json
import re
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import yaml

SNAPSHOT = Path(__file__).parent / "snapshots" / "openapi.yaml"
PROBLEM = "application/problem+json"
UNLISTED = ("/api/v1/schema/",)


@functools.cache
def load_schema():
    return yaml.safe_load(SNAPSHOT.read_text(encoding="utf-8"))


@functools.cache
def operations():
    """(pattern of the address, method, operation); what has no parameter comes first."""
    found = []
    for path, methods in sorted(load_schema()["paths"].items(), key=lambda row: "{" in row[0]):
        pattern = re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)))
        found += [
            (pattern, method, each) for method, each in methods.items() if "responses" in each
        ]
    return found


def find_operation(path, method):
    """The operation of a request, None where the API has no such address or method."""
    return next(
        (each for pattern, name, each in operations()
         if name == method.lower() and pattern.fullmatch(unquote(path))),
        None,
    )  # fmt: skip


def operation_of(response):
    """The operationId that answered; None where the API has none."""
    request = response.request
    found = find_operation(request["PATH_INFO"], request["REQUEST_METHOD"])
    return found and found["operationId"]


def check_answer(response):
    """Raises AssertionError or ValidationError where an answer is not as the schema says."""
    request = response.request
    if request["PATH_INFO"] in UNLISTED:
        return
    operation = find_operation(request["PATH_INFO"], request["REQUEST_METHOD"])
    if operation is None or response.status_code == 500:
        wanted = (404, 405, 500) if request["REQUEST_METHOD"] != "HEAD" else (200, 404, 405)
        assert response.status_code in (*wanted, 401, 403, 400), request["PATH_INFO"]
        return
    name, status = operation["operationId"], str(response.status_code)
    assert status in operation["responses"], f"{name} does not declare {status}"
    content = operation["responses"][status].get("content", {})
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    assert not content or kind in content, f"{name} declares {list(content)} for {status}: {kind}"
    if kind in (PROBLEM, "application/json") and content:
        validator(name, "responses", status, kind).validate(json.loads(response.content))


def check_request(request, response):
    """What was accepted as JSON is as the schema says that it may be."""
    operation = find_operation(request["PATH_INFO"], request["REQUEST_METHOD"])
    kind = request.get("CONTENT_TYPE", "").partition(";")[0]
    if operation is None or response.status_code >= 300 or kind != "application/json":
        return
    if "requestBody" in operation:
        body = request["wsgi.input"].getvalue()
        validator(operation["operationId"], "requestBody", "", kind).validate(json.loads(body))


@functools.cache
def validator(name, side, status, kind):
    """The validator of one body; undeclared members of an answer are errors."""
    operation = next(each for _, _, each in operations() if each["operationId"] == name)
    holder = operation[side][status] if status else operation[side]
    strict = side == "responses"
    document = as_json_schema(holder["content"][kind]["schema"], strict)
    components = as_json_schema(load_schema()["components"], strict)
    return jsonschema.Draft202012Validator({**document, "components": components})


def as_json_schema(value, strict):
    """OpenAPI 3.0's `nullable` as JSON Schema has it; where strict, no undeclared members."""
    if isinstance(value, list):
        return [as_json_schema(item, strict) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: as_json_schema(item, strict) for key, item in value.items() if key != "nullable"}
    if "properties" in found and strict:
        found.setdefault("additionalProperties", False)
    return {"anyOf": [found, {"type": "null"}]} if value.get("nullable") is True else found
