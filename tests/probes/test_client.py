"""The HTTP client: what it tries again, for how long, and what it says when it gives up."""

import json
import socket
import threading
import time

import pytest

from probes.client import (
    BadAddress,
    BadAnswer,
    Client,
    ClientError,
    Refused,
    TimeIsUp,
    Unreachable,
    travels_openly,
)
from probes.multipart import Form
from tests.live import serve_told

OK = (200, {}, b'{"a": 1}')


def make_client(address, **options):
    waits = []
    options = {"sleep": waits.append, "first_wait": 1.0} | options
    return Client(address, **options), waits


def problem(status, code, detail, headers=None):
    body = json.dumps({"status": status, "code": code, "detail": detail}).encode()
    return (status, headers or {}, body)


def test_an_answer_has_status_headers_and_document():
    with serve_told((202, {"Location": "/x"}, b"[2]")) as (address, told):
        answer = Client(address + "/", "opa_x").post_json("reports/", {"q": 1})
    assert (answer.status, answer.headers["location"], answer.json()) == (202, "/x", [2])
    ((method, path, headers, body),) = told.asked
    assert (method, path, body) == ("POST", "/api/v1/reports/", b'{"q": 1}')
    assert headers["Authorization"] == "Bearer opa_x"
    assert headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_asked_again_with_growing_waits(status):
    busy = (status, {}, b"<html>")
    with serve_told(busy, busy, busy, OK) as (address, told):
        client, waits = make_client(address)
        assert client.post("x/", b"same", "text/plain").json() == {"a": 1}
    assert [each[3] for each in told.asked] == [b"same"] * 4
    assert len(waits) == 3
    assert all(0.5 * 2**at <= wait <= 2**at for at, wait in enumerate(waits))


@pytest.mark.parametrize(("value", "seconds"), [("7", 7), ("100000", 60), ("nonsense", None)])
def test_a_server_may_say_when_to_come_back(value, seconds):
    with serve_told((429, {"Retry-After": value}, b""), OK) as (address, _):
        client, waits = make_client(address)
        client.get("x/")
    assert seconds is None or waits == [seconds]


def test_a_date_to_come_back_is_understood():
    with serve_told((503, {"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"}, b""), OK) as (at, _):
        client, waits = make_client(at)
        client.get("x/")
    assert waits == [0]


def test_a_server_that_stays_busy_or_away_is_given_up_with_a_sentence():
    with serve_told((503, {}, b"")) as (address, told):
        client, waits = make_client(address, tries=3)
        with pytest.raises(Unreachable, match=r"answers 503, tried 3 times\. Check the address"):
            client.get("x/")
        assert (len(told.asked), len(waits)) == (3, 2)
    client, waits = make_client(address, tries=3)  # nobody listens there now
    with pytest.raises(Unreachable, match="cannot be reached"):
        client.get("x/")
    assert len(waits) == 2


def test_a_connection_that_breaks_off_is_tried_again():
    cut = (200, {"Content-Length": "100"}, b"half")
    with serve_told(cut, OK) as (address, told):
        client, _ = make_client(address)
        assert client.get("x/").json() == {"a": 1}
    assert len(told.asked) == 2


def test_the_time_limit_counts_all_tries_and_waits():
    with serve_told((503, {"Retry-After": "5"}, b"")) as (address, told):
        client, waits = make_client(address, limit=3.0)
        with pytest.raises(TimeIsUp, match=r"within 3 seconds.*--timeout"):
            client.get("x/")
    assert (len(told.asked), waits) == (1, [])


@pytest.fixture
def dripping():
    """A server that sends one byte of its answer every tenth of a second, for ever."""
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def serve():
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while not stop.wait(0.1):
                connection.sendall(b"x")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    stop.set()
    thread.join(5)
    listener.close()


def test_an_answer_that_drips_does_not_outlast_the_limit(dripping):
    began = time.monotonic()
    with pytest.raises(TimeIsUp):
        Client(dripping, limit=0.5, tries=1).get("x/")
    assert time.monotonic() - began < 5


def test_a_refusal_is_not_tried_again_and_has_the_servers_code():
    with serve_told(problem(422, "unknown_target", "no target")) as (address, told):
        client, _ = make_client(address)
        with pytest.raises(Refused, match="no target") as caught:
            client.get("x/")
    assert (caught.value.status, caught.value.code) == (422, "unknown_target")
    assert len(told.asked) == 1


def test_a_server_that_is_something_else_is_said_to_be():
    with serve_told((404, {}, b"<html>"), (200, {}, b"<html>")) as (address, _):
        client, _ = make_client(address)
        with pytest.raises(Refused, match="is it an OpAtlas server") as caught:
            client.get("x/")
        assert caught.value.code == "http_404"
        with pytest.raises(BadAnswer, match="no JSON"):
            client.get("x/").json()


def test_a_redirect_does_not_carry_the_token_elsewhere():
    with (
        serve_told(OK) as (other, elsewhere),
        serve_told((302, {"Location": other}, b"")) as (address, _),
    ):
        with pytest.raises(BadAddress, match="sends callers to http"):
            Client(address, "opa_secret").get("x/")
        assert elsewhere.asked == []


@pytest.mark.parametrize("address", ["", "opatlas.example", "file:///etc/passwd", "ftp://x", "//x"])
def test_an_address_that_is_none_is_refused_at_once(address):
    with pytest.raises(BadAddress, match="no address"):
        Client(address)


def test_what_did_not_change_is_an_answer_too():
    with serve_told((304, {"ETag": '"x"'}, b"")) as (address, _):
        assert Client(address).get("matrix/", {"If-None-Match": '"x"'}).status == 304


def test_a_token_is_not_in_what_is_printed_of_an_error():
    client, _ = make_client("http://127.0.0.1:9", token="opa_secret", tries=1)
    with pytest.raises(ClientError) as caught:
        client.get("x/")
    assert "opa_secret" not in str(caught.value)


def test_a_form_is_sent_from_the_disk_again_at_each_try(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(b"weights" * 50_000)
    form = Form([("target", "a")], file_field="model", file_name='m".onnx', path=path)
    with serve_told((503, {}, b""), OK) as (address, told):
        client, _ = make_client(address)
        client.send("POST", "reports/", form.open, form.headers())
    first, second = (each[3] for each in told.asked)
    assert first == second
    assert path.read_bytes() in first
    assert b'name="target"\r\n\r\na\r\n' in first
    assert b'filename="m%22.onnx"' in first


@pytest.mark.parametrize(
    ("address", "openly"),
    [
        ("http://opatlas.example.org", True),
        ("HTTP://opatlas.example.org:8000", True),
        ("http://192.0.2.7", True),
        ("http://0.0.0.0:8000", True),
        ("http://[2001:db8::1]/", True),
        ("http://localhost.example.org", True),
        ("http://127.0.0.1.example.org", True),
        ("http://localhost@example.org", True),
        ("http://localhost:8000", False),
        ("http://127.0.0.1:8000", False),
        ("http://127.8.0.1", False),
        ("http://[::1]:8000", False),
        ("https://opatlas.example.org", False),
    ],
)
def test_what_goes_unencrypted_to_another_machine_travels_openly(address, openly):
    assert travels_openly(address) is openly
