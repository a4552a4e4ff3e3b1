"""The page of devices: who may register one there, and what becomes of its token."""

import re

import pytest
from django.test import Client

from compat.devices import register_device, set_standing
from compat.models import Device, Token
from compat.runtimes import runtime_rows
from compat.tokens import find_token
from compat.wake import wake_acl
from tests.make import make_column, make_device, make_target
from tests.webui.make import HOSTILE

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

URL = "/devices/"
BOARD = {"slug": "board-1", "title": "A board", "device_class": "rk3588"}
SECRET = re.compile(r"opa_[\w-]{43}")
CLOSED = "manage.py register_device"


@pytest.fixture
def here(settings):
    """A browser on the machine of a default installation."""
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"]
    return Client(headers={"Host": "127.0.0.1:8000"})


def register(client, **fields):
    return client.post(URL, BOARD | fields)


def text_of(page):
    return page.content.decode()


def test_a_device_is_registered_and_its_token_shown_in_that_answer_alone(here):
    page = register(here, runtimes=["onnxruntime-cpu"])
    assert page.status_code == 201
    assert page["Cache-Control"] == "no-store"
    (secret,) = set(SECRET.findall(text_of(page)))
    token = find_token(secret)
    assert (token.scopes, token.device.slug) == (["results"], "board-1")
    assert (token.device.title, token.device.runtimes) == ("A board", ["onnxruntime-cpu"])
    again = here.get(URL)
    assert not SECRET.search(text_of(again))
    assert again["Cache-Control"] == "no-store"
    stored = str([list(Token.objects.values()), here.cookies, dict(here.session)])
    assert secret not in stored


def test_the_answer_has_the_commands_to_type_and_the_secret_in_none(here):
    page = text_of(register(here, runtimes=["openvino-cpu", "onnxruntime-cpu"]))
    commands = re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.S)
    assert len(commands) == 3
    assert "pip install" in commands[0]
    assert "onnxruntime&gt;=" in commands[0]
    assert "umask 077" in commands[1]
    assert "--server http://127.0.0.1:8000 --token-file" in commands[2]
    assert "--runtime onnxruntime-cpu --runtime openvino-cpu" in commands[2]
    assert not any(map(SECRET.search, commands))
    assert "http://127.0.0.1:8000 is reached from this machine only" in page


def test_where_redis_wakes_agents_its_user_is_told(here, settings):
    settings.AGENT_REDIS_URL = "redis://redis.example:6379/0"
    page = text_of(register(here)).replace("&gt;", ">")
    assert wake_acl("board-1") in page


def test_a_second_click_registers_nothing_and_says_what_to_do(here):
    register(here)
    page = register(here)
    assert page.status_code == 422
    assert "registered already" in text_of(page)
    assert "issue another" in text_of(page)
    assert not SECRET.search(text_of(page))
    assert (Device.objects.count(), Token.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"slug": ""}, "slug", "has to be filled in"),
        ({"slug": "a board"}, "slug", "letters (a to z), digits, - and _"),
        ({"slug": "ä"}, "slug", "letters (a to z), digits, - and _"),
        ({"slug": "a/../b"}, "slug", "letters (a to z), digits, - and _"),
        ({"slug": "a\0"}, "slug", "Null characters"),
        ({"slug": "a" * 81}, "slug", "at most 80 characters"),
        ({"slug": "recorded"}, "slug", "has no agent"),
        ({"title": "t" * 121}, "title", "at most 120 characters"),
        ({"device_class": ""}, "device_class", "has to be filled in"),
        ({"device_class": "rk 3588"}, "device_class", "letters (a to z)"),
        ({"runtimes": ["nothing"]}, "runtimes", "nothing"),
        ({"runtimes": ["fake"]}, "runtimes", "fake"),
    ],
)
def test_what_cannot_be_registered_is_said_at_its_field_and_what_was_typed_is_kept(
    here, fields, field, said
):
    make_device("recorded", origin="recorded")
    page = register(here, **{"title": "My own board", "runtimes": ["onnxruntime-cpu"], **fields})
    assert page.status_code == 422
    html = text_of(page)
    assert 'role="alert"' in html
    (sentence,) = re.findall(r'<ul class="errorlist" id="id_\w+_error">(.*?)</ul>', html)
    assert said in sentence
    assert f'id="id_{field}_error"' in html
    assert "title" in fields or 'value="My own board"' in html
    assert "runtimes" in fields or re.search(r'value="onnxruntime-cpu"[^>]* checked', html)
    assert not Device.objects.exclude(slug="recorded").exists()
    assert not Token.objects.exists()


def test_another_token_is_issued_and_tokens_are_revoked(here):
    register(here)
    first = Token.objects.get()
    page = here.post(f"{URL}board-1/tokens/")
    assert (page.status_code, page["Cache-Control"]) == (201, "no-store")
    (secret,) = set(SECRET.findall(text_of(page)))
    assert find_token(secret).device.slug == "board-1"
    revoke = f"{URL}board-1/tokens/{first.pk}/revoke/"
    assert revoke in text_of(here.get(URL))
    said = here.post(revoke, follow=True)
    assert "opens nothing any more" in text_of(said)
    assert revoke not in text_of(said)
    assert "no valid token" in text_of(here.post(revoke, follow=True))
    assert here.get(f"{URL}board-1/tokens/").url == URL  # the switch of languages goes there


def test_a_token_is_revoked_by_the_address_of_its_own_device_only(here):
    register(here)
    _, other = register_device(slug="other", title="", device_class="rk3588")
    here.post(f"{URL}board-1/tokens/{find_token(other).pk}/revoke/")
    assert find_token(other)


@pytest.mark.parametrize("standing", ["maintenance", "retired", "active"])
def test_buttons_set_what_the_owner_wants(here, standing):
    register(here)
    page = here.post(f"{URL}board-1/standing/", {"standing": standing})
    assert page.url == "/devices/#device-board-1"
    assert Device.objects.get().standing == standing
    html = text_of(here.get(URL))
    offered = re.findall(r'name="standing" value="(\w+)"', html)
    assert standing not in offered
    assert ("Issue another token" in html) == (standing != "retired")


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("board-1/standing/", {"standing": "gone"}),
        ("board-1/standing/", {}),
        ("nobody/standing/", {"standing": "retired"}),
        ("nobody/tokens/", {}),
        ("recorded/tokens/", {}),
    ],
)
def test_what_is_no_device_or_no_state_is_404(here, path, fields):
    register(here)
    make_device("recorded", origin="recorded")
    assert here.post(URL + path, fields).status_code == 404
    assert Token.objects.count() == 1
    assert Device.objects.get(slug="board-1").standing == "active"


def test_the_list_says_state_last_heard_runtimes_and_targets(client):
    device, _ = register_device(
        slug="board", title=HOSTILE, device_class="rk3588", runtimes=["onnxruntime-cpu"]
    )
    make_target("1.0", make_column("onnxruntime-cpu", device))
    html = text_of(client.get(URL))
    for words in ("offline", "never", "ONNX Runtime CPU", "RK3588", "board"):
        assert words in html
    assert 'href="/targets/board.onnxruntime-cpu.default@1.0"' in html.replace('/"', '"')
    assert "<script>alert" not in html
    set_standing(slug="board", standing="maintenance")
    assert "in maintenance" in text_of(client.get(URL))


def test_the_list_takes_two_queries_and_one_for_tokens(here, django_assert_num_queries):
    for number in range(3):
        device, _ = register_device(slug=f"b{number}", title="", device_class="rk3588")
        make_target("1.0", make_column("fake", device))
    with django_assert_num_queries(3):
        here.get(URL)
    with django_assert_num_queries(2):
        here.get(URL, REMOTE_ADDR="192.0.2.7")


def changes():
    """Every address that changes something, for a device that is there."""
    device, _ = register_device(slug="board", title="", device_class="rk3588")
    number = device.tokens.get().pk
    return [
        (URL, BOARD),
        (f"{URL}board/tokens/", {}),
        (f"{URL}board/tokens/{number}/revoke/", {}),
        (f"{URL}board/standing/", {"standing": "retired"}),
    ]


def is_open(client):
    """Whether the page lets one in, checked with every address that changes something."""
    before = changes()
    html, answers = text_of(client.get(URL)), [client.post(*each).status_code for each in before]
    offered = "Register and show its token" in html
    if not offered:
        assert CLOSED in html
        assert answers == [403] * 4
        assert list(Device.objects.values_list("slug", "standing")) == [("board", "active")]
        assert Token.objects.filter(revoked_at=None).count() == 1
        assert "tokens/" not in html
    return offered


def test_whoever_sits_at_the_machine_of_a_default_installation_may(here):
    assert is_open(here)


@pytest.mark.parametrize(
    "request_of",
    [
        {"REMOTE_ADDR": "192.0.2.7"},
        {"REMOTE_ADDR": "2001:db8::1"},
        {"REMOTE_ADDR": "::ffff:192.0.2.7"},
        {"REMOTE_ADDR": ""},
        {"HTTP_X_FORWARDED_FOR": "127.0.0.1"},
        {"HTTP_X_FORWARDED_PROTO": "http"},
        {"HTTP_X_REAL_IP": "127.0.0.1"},
        {"HTTP_FORWARDED": "for=127.0.0.1"},
        {"HTTP_VIA": "1.1 proxy"},
    ],
)
def test_nobody_else_may_even_under_the_name_of_this_machine(here, request_of):
    assert not is_open(Client(headers={"Host": "localhost"}, **request_of))


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_has_several_addresses(here, address):
    assert is_open(Client(headers={"Host": "localhost"}, REMOTE_ADDR=address))


@pytest.mark.parametrize(
    "differs",
    [
        {"PRODUCTION": True},
        {"ALLOWED_HOSTS": ["127.0.0.1", "opatlas.example.org"]},
        {"ALLOWED_HOSTS": ["*"]},
        {"ALLOWED_HOSTS": [".localhost", "127.0.0.1"]},
        {"OPEN_DEVICES": "0"},
    ],
)
def test_a_site_that_others_may_reach_is_closed_to_everybody(here, settings, differs):
    for name, value in differs.items():
        setattr(settings, name, value)
    assert not is_open(here)


def test_a_site_is_open_where_its_owner_says_so(settings):
    settings.OPEN_DEVICES = "1"
    settings.ALLOWED_HOSTS = ["opatlas.example.org"]
    client = Client(headers={"Host": "opatlas.example.org"}, REMOTE_ADDR="192.0.2.7")
    assert is_open(client)
    page = text_of(register(client, slug="second"))
    assert "--server http://opatlas.example.org" in page
    assert "did not come encrypted" in page
    assert "from this machine only" not in page
    page = text_of(client.post(URL, BOARD | {"slug": "third"}, secure=True))
    assert "did not come encrypted" not in page


def test_the_refusal_says_how_devices_are_registered(client):
    page = client.post(URL, BOARD)
    assert page.status_code == 403
    assert CLOSED in text_of(page)
    assert "OPATLAS_OPEN_DEVICES" in text_of(page)


def test_what_changes_something_is_posted_and_wants_the_forms_token(here):
    strict = Client(enforce_csrf_checks=True, headers={"Host": "127.0.0.1"})
    for path, fields in changes():
        assert strict.post(path, fields).status_code == 403, path
        assert here.get(path).status_code in (200, 302, 405), path
    assert Token.objects.filter(revoked_at=None).count() == 1
    assert Device.objects.get().standing == "active"


def test_the_page_is_chinese_where_that_was_chosen(here):
    here.cookies["django_language"] = "zh-hans"
    titles = {row.title for row in runtime_rows().values()}
    for page in [register(here), register(here), here.get(URL)]:
        body = re.sub(
            r"<(pre|code|option|script|style|title)\b.*?</\1>", "", text_of(page), flags=re.S
        )
        words = re.sub(r"<[^>]+>", " ", body.partition("<main")[2].partition("</main")[0])
        left = set(re.findall(r"[A-Za-z]{3,}(?: [a-z]{2,})+", words))
        assert left <= titles
