"""GET /api/v1/results/: the newest results, filtered and in parts, for whoever may read."""

import pytest

from compat.tokens import issue_token
from tests.make import (
    make_case,
    make_column,
    make_device,
    make_operator,
    make_probe,
    make_sweep,
    make_target,
)
from tests.openapi import operation_of

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

URL = "/api/v1/results/"
CPU = "test-cpu.onnxruntime-cpu.default"


@pytest.fixture
def probes():
    """Conv and Relu on one target, Relu on another version and another column."""
    conv, relu = make_case(make_operator("Conv")), make_case(make_operator("Relu"))
    new, old = make_target("1.32.0"), make_target("1.31.0")
    other = make_target("1.0", make_column("fake", make_device("board", "rk3588")))
    return {
        "conv": make_probe(conv, new, "rejected", stage="load", message="no kernel"),
        "relu": make_probe(relu, new, p50_ms=0.5, max_abs=0.0),
        "old": make_probe(relu, old, "crashed"),
        "board": make_probe(relu, other),
    }


@pytest.fixture
def ask(client):
    """GET; conftest checks the answer against the snapshot."""

    def ask(status=200, **query):
        answer = client.get(URL, query)
        assert answer.status_code == status, answer.content[:500]
        assert operation_of(answer) == "list_results"
        return answer

    return ask


def numbers(answer):
    return [row["id"] for row in answer.json()]


def test_a_result_says_of_what_on_what_and_how_it_ended(ask, probes):
    conv, relu, *_ = ask().json()
    assert conv["id"] == probes["conv"].pk
    assert (conv["domain"], conv["operator"], conv["target"]) == (
        "ai.onnx",
        "Conv",
        f"{CPU}@1.32.0",
    )
    assert (conv["outcome"], conv["support"], conv["stage"]) == ("rejected", "no", "load")
    assert conv["message"] == "no kernel"
    assert (relu["outcome"], relu["support"], relu["p50_ms"]) == ("passed", "yes", 0.5)
    assert relu["case"] == probes["relu"].case_id


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["conv", "relu", "old", "board"]),
        ({"target": CPU}, ["conv", "relu", "old"]),
        ({"target": f"{CPU}@1.31.0"}, ["old"]),
        ({"operator": "Relu"}, ["relu", "old", "board"]),
        ({"operator": "ai.onnx::Conv"}, ["conv"]),
        ({"outcome": "passed"}, ["relu", "board"]),
        ({"outcome": "passed", "target": CPU, "operator": "Relu"}, ["relu"]),
        ({"outcome": "timed_out"}, []),
        ({"offset": "1", "limit": "2"}, ["relu", "old"]),
        ({"offset": "9"}, []),
    ],
)
def test_results_are_filtered_and_read_in_parts(ask, probes, query, found):
    answer = ask(**query)
    assert numbers(answer) == [probes[name].pk for name in found]
    parts = {"limit", "offset"} & query.keys()
    assert answer["X-Total-Count"] == str(4 if parts else len(found))


def test_only_the_newest_result_of_a_case_that_still_counts_is_listed(ask, probes):
    relu = probes["relu"]
    sweep = make_sweep(relu.target)
    before = make_probe(relu.case, relu.target, "crashed", latest=False, sweep=sweep)
    retired = make_probe(make_case(make_operator("Relu"), retired=True), relu.target)
    waits = make_probe(target=relu.target, state="queued", outcome="", latest=False)
    assert not {before.pk, retired.pk, waits.pk} & set(numbers(ask()))


def test_there_are_a_hundred_in_an_answer_and_the_next_are_named(ask, client):
    operator, target = make_operator("Relu"), make_target()
    for _ in range(103):
        make_probe(make_case(operator), target)
    first = ask()
    assert len(numbers(first)) == 100
    address = first["Link"].partition(">")[0].removeprefix("<")
    rest = client.get(address)
    assert len(numbers(rest)) == 3
    assert "Link" not in rest
    assert not set(numbers(first)) & set(numbers(rest))


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"target": "nothing"}, 422, "unknown_target"),
        ({"operator": "Nothing"}, 404, "not_known"),
        ({"operator": "com.microsoft::Relu"}, 404, "not_known"),
        ({"outcome": "green"}, 400, "invalid"),
        ({"limit": "0"}, 400, "invalid"),
        ({"limit": "1001"}, 400, "invalid"),
        ({"offset": "-1"}, 400, "invalid"),
        ({"target": "x" * 300}, 400, "invalid"),
    ],
)
def test_what_cannot_be_asked_is_a_problem_document(ask, probes, query, status, code):
    problem = ask(status, **query).json()
    assert problem["code"] == code
    assert problem["detail"]


def test_queries_do_not_grow_with_the_results(ask, probes, django_assert_max_num_queries):
    with django_assert_max_num_queries(2):
        ask()
    for _ in range(20):
        make_probe(make_case(make_operator("Relu")), probes["relu"].target)
    with django_assert_max_num_queries(2):
        ask()
    with django_assert_max_num_queries(6):
        ask(target=CPU, operator="Relu", outcome="passed")


def test_reading_wants_the_scope_read_and_submitting_results(client, probes, settings):
    settings.OPEN_SCOPES = frozenset()
    bearer = {
        scope: {"Authorization": f"Bearer {issue_token(name=scope, scopes=[scope])[1]}"}
        for scope in ("read", "results", "reports", "admin")
    }
    read = {scope: client.get(URL, headers=bearer[scope]).status_code for scope in bearer}
    assert read == {"read": 200, "results": 403, "reports": 403, "admin": 200}
    assert client.get(URL).status_code == 401
    settings.OPEN_SCOPES = frozenset({"read", "reports"})
    assert client.get(URL).status_code == 200
    sent = {"data": "", "content_type": "application/x-ndjson"}
    assert client.post(URL, **sent).status_code == 401
    assert client.post(URL, **sent, headers=bearer["read"]).status_code == 403
    assert client.post(URL, **sent, headers=bearer["results"]).status_code == 422
