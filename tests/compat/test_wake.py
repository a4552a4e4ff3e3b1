"""Waking an agent over Redis: its user touches its own queue and nothing else."""

import threading
from pathlib import Path

import pytest
import redis

from compat.celery import app, wake_agent
from compat.devices import register_device
from compat.models import Target
from compat.sweeps import start_sweep
from compat.wake import wake_acl, wake_address, wake_password
from probes import agent
from probes.protocol import wake_names
from tests.make import make_column, make_runnable_case, make_target
from tests.own_servers import OwnRedis

pytestmark = pytest.mark.redis


@pytest.fixture
def own_redis(tmp_path, settings, monkeypatch):
    users = ["user default on nopass ~* &* +@all"]
    users += [f"user {wake_acl(name).removeprefix('ACL SETUSER ')}" for name in ("board", "other")]
    with OwnRedis(tmp_path, users) as server:
        settings.AGENT_REDIS_URL = settings.REDIS_URL = server.url
        monkeypatch.setattr(app.conf, "broker_url", server.url)
        yield server


def test_nobody_is_woken_where_no_server_is_named(settings):
    settings.AGENT_REDIS_URL = ""
    assert wake_address("board") is None


@pytest.mark.django_db(transaction=True)
def test_a_started_sweep_wakes_the_agent_and_redis_may_be_restarted(own_redis):
    device, _ = register_device(slug="board", title="", device_class="rk3588")
    target = make_target("1.0", make_column("fake", device))
    make_runnable_case("Relu")
    awake, address = threading.Event(), wake_address("board")
    agent.listen(address["url"], address["queue"], "board", awake)
    start_sweep(target=Target.objects.get(pk=target.pk))
    assert awake.wait(20)
    own_redis.restart()
    awake.clear()
    for _ in range(10):  # a message more or less does no harm
        wake_agent("board")
        if awake.wait(2):
            break
    assert awake.is_set()


def test_the_user_of_one_device_touches_nothing_else(own_redis):
    queue, prefix = wake_names("board")
    with redis.Redis.from_url(wake_address("board")["url"]) as mine:
        mine.lpush(prefix + queue, "forged")
        for refused in (
            lambda: mine.get("celery"),
            lambda: mine.lpush("opatlas", "x"),
            lambda: mine.lpush(wake_names("other")[1] + "opatlas-other", "x"),
            lambda: mine.eval("return 1", 1, "celery"),
            mine.flushall,
            mine.keys,
            mine.scan,
            mine.info,
            lambda: mine.config_get("*"),
            lambda: mine.acl_list(),
            lambda: mine.publish("x", "y"),
        ):
            with pytest.raises(redis.exceptions.NoPermissionError):
                refused()
        with pytest.raises(redis.ResponseError, match=r"can't access|permission"):
            mine.eval("return redis.call('get', 'celery')", 0)
    assert wake_password("board") != wake_password("other")


def test_the_documented_line_is_the_printed_one():
    page = (Path(__file__).parents[2] / "docs" / "devices.md").read_text(encoding="utf-8")
    printed = wake_acl("SLUG").replace(wake_password("SLUG"), "PASSWORD")
    assert f"\n{printed}\n" in page
