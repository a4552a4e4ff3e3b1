"""Generated requests against the schema: no server error, no answer that the schema lacks."""

import json

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from compat.reports import answer_facts
from compat.sweeps import start_sweep
from compat.tokens import issue_token
from compat.wsgi import application
from probes.model.facts import make_facts
from tests.make import (
    make_case,
    make_cell,
    make_fake_target,
    make_model,
    make_operator,
    make_probe,
)

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

EXAMPLES = 15  # for each operation
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@schemathesis.serializer("application/x-ndjson")
def as_lines(context, value):
    """A results document: a line of JSON for each row."""
    if isinstance(value, bytes):
        return value
    rows = value if isinstance(value, list) else [value]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


schema = schemathesis.openapi.from_wsgi("/api/v1/schema/", application)


@pytest.fixture
def one_connection():
    """The test's own connection stays open between requests."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def known(one_connection, settings, tmp_path):
    """Names that lead somewhere, for the parameters of addresses; and a token for everything."""
    settings.UPLOAD_DIR, settings.CASE_DIR = tmp_path / "uploads", tmp_path / "cases"
    target = make_fake_target()
    relu = make_operator("Relu")
    case = make_case(relu)
    make_cell(relu, target.column, target=target, probe=make_probe(case, target))
    device = target.column.device
    _, secret = issue_token(name="all", scopes=["admin"], device=device)
    column = target.column.slug
    path = tmp_path / "model.onnx"
    path.write_bytes(make_model("Relu", "Tan"))
    report = answer_facts(facts=make_facts(path), file_name="", target_names=[]).report
    names = {
        "reports": {"token": report.token},
        "sweeps": {"sweep_id": start_sweep(target=target).pk},
        "operators": {"domain": "ai.onnx", "name": "Relu"},
        "targets": {"slug": column},
        "cells": {"domain": "ai.onnx", "name": "Relu", "column": column},
        "devices": {"slug": device.slug},
        "cases": {"case_id": case.id},
        "bundles": {"target": column.rpartition(".")[0]},
    }
    return names, {"Authorization": f"Bearer {secret}", "Accept-Encoding": "identity"}


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    derandomize=True,  # the same requests in every run
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_request_gives_a_server_error_or_an_undeclared_answer(case, known):
    names, headers = known
    if names.get(case.path.split("/")[3]) and len(str(case.path_parameters)) % 2:
        case.path_parameters.update(names[case.path.split("/")[3]])
    case.validate_response(case.call(headers=headers), checks=CHECKS)
