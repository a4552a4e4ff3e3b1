"""Every request of these tests to the API, and every answer, is checked against the snapshot."""

import io

import pytest
from django.test import Client

from tests.openapi import check_answer, check_request


@pytest.fixture(autouse=True)
def answers_are_as_the_schema_says(monkeypatch):
    original = Client.request

    def request(self, **asked):
        if not asked.get("PATH_INFO", "").startswith("/api/v1/"):
            return original(self, **asked)
        body = asked["wsgi.input"].read() if "wsgi.input" in asked else b""
        response = original(self, **asked | {"wsgi.input": io.BytesIO(body)})
        check_answer(response)
        check_request(asked | {"wsgi.input": io.BytesIO(body)}, response)
        return response

    monkeypatch.setattr(Client, "request", request)
