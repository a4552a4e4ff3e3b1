"""Results documents of an agent that lies, or is broken: a problem document, never a failure."""

import json

import pytest

from compat.devices import register_device
from compat.models import Probe
from probes.protocol import RESULTS_TYPE
from tests.make import make_case, make_operator, make_result, make_target

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def header():
    return {
        "schema": 1,
        "kind": "opatlas-results",
        "date": "2026-11-29T12:00:00+00:00",
        "environment": {"cpu_model": "a CPU"},
        "target": {
            "device": "board",
            "device_title": "A board",
            "device_class": "rk3588",
            "runtime": "fake",
            "runtime_version": "1.0",
            "config_name": "default",
            "config": {},
        },
    }


@pytest.fixture
def secret():
    return register_device(slug="board", title="A board", device_class="rk3588")[1]


@pytest.fixture
def result():
    return make_result(make_case(make_operator("Relu")), make_target(), at=1.7e9).to_dict()


@pytest.fixture
def post(client, secret):
    def post(*lines):
        body = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        answer = client.post(
            "/api/v1/results/",
            body.encode("utf-8", "surrogatepass"),
            RESULTS_TYPE,
            headers={"Authorization": f"Bearer {secret}"},
        )
        assert answer.status_code < 500
        return answer

    return post


LIES = {
    "a form that does not fit": {"form": "f" * 100},
    "a form with a NUL": {"form": "as\0is"},
    "a case of no text": {"case_id": "\ud800"},
    "a case with a NUL": {"case_id": "a\0"},
    "a signal that does not fit": {"signal": "S" * 100},
    "a number beyond 64 bits": {"peak_memory_bytes": 1 << 70},
    "an error of 400 digits": {"max_abs": 10**400},
    "a start before the calendar": {"started_at": -1e300},
    "a start after the calendar": {"started_at": 1e18},
    "a negative time": {"seconds": -5e12},
    "an unknown outcome": {"outcome": "splendid"},
    "an unknown stage": {"stage": "lunch"},
    "an unknown placement": {"placement": "moon"},
    "a list for a text": {"message": ["x"]},
    "a latency of no numbers": {"latency": {"samples_ms": ["x"], "p50_ms": "fast"}},
    "a latency that is endless": {"latency": {"samples_ms": [1e999], "p50_ms": 1, "count": 1}},
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
def test_a_result_that_cannot_be_is_refused_with_a_sentence(lie, post, header, result):
    answer = post(header, result | lie)
    assert answer.status_code in (400, 409, 422)
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["detail"]
    assert not Probe.objects.exists()


def test_unstorable_characters_are_replaced(post, header, result):
    texts = {"message": "a\0b\ud800\n\\.\tc", "log": "\\N\0", "placement_detail": "\x01\\"}
    assert post(header, result | texts).json() == {"new": 1, "known": 0}
    probe = Probe.objects.select_related("log").get()
    assert probe.message == "a\ufffdb\ufffd\n\\.\tc"
    assert probe.log.text == "\\N\ufffd"
    assert probe.log.placement_detail == "\x01\\"


@pytest.mark.parametrize(
    "change",
    [
        {"environment": {"cpu_model": "a\0b", "n\0": [1]}},
        {"environment": {"deep": "\ud800"}},
        {"date": "yesterday"},
        {"date": 5},
        {"claim": 7},
        {"claim": "x" * 500},
        {"claim": "a\0"},
    ],
)
def test_an_odd_header_is_stored_or_refused(change, post, header, result):
    assert post(header | change, result).status_code in (200, 400, 409, 422)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("runtime_version", "1\0"),
        ("runtime_version", "../../x"),
        ("config_name", "<script>"),
        ("config", {"a\0": "\0"}),
        ("config", {"a": "\ud800"}),
        ("capabilities", {"dtypes": "float"}),
        ("capabilities", {"dtypes": [None], "max_opset": "many"}),
        ("capabilities", {"dtypes": ["\0"]}),
        ("runtime", "no-such-runtime"),
        ("device", "another"),
    ],
)
def test_an_odd_target_is_stored_or_refused(field, value, post, header, result):
    changed = header | {"target": header["target"] | {field: value}}
    assert post(changed, result).status_code in (200, 400, 403, 409, 422)


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"a":' * 50_000,
        "null",
        "{}",
        "7",
        '{"schema": 1, "kind": "opatlas-results", "environment": {"x": NaN}}',
        '{"schema": 1, "case_id": 1e999}',
        "\ufeff{}",
        "{" + '"a":1,' * 100_000 + '"b":2}',
    ],
    ids=range(9),
)
def test_a_line_that_is_no_document_is_refused(line, post, header):
    assert post(line).status_code in (400, 422)
    assert post(header, line).status_code in (400, 409, 422)


def test_numbers_that_json_does_not_have_do_not_reach_the_database(post, header, result):
    text = json.dumps(header).replace('"a CPU"', "NaN")
    assert post(text, result).status_code in (400, 422)
