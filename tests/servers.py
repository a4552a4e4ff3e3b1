"""Which servers the tests may use: an address a group, and whether anything answers there."""

import os
import shutil
from collections.abc import Callable
from typing import NamedTuple

DATABASE_URL = os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres")
REDIS_URL = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/9")
CHROMIUM = os.environ.get("TEST_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    "/usr/bin/chromium",
)


class Group(NamedTuple):
    """A pytest marker whose tests need something outside Python."""

    marker: str
    answers: Callable[[], bool]
    absent: str


def postgres_answers() -> bool:
    import psycopg

    try:
        psycopg.connect(DATABASE_URL, connect_timeout=3).close()
    except psycopg.Error:
        return False
    return True


def redis_answers() -> bool:
    import redis

    try:
        return bool(redis.Redis.from_url(REDIS_URL, socket_connect_timeout=3).ping())
    except redis.RedisError:
        return False


def chromium_answers() -> bool:
    return shutil.which(CHROMIUM) is not None


GROUPS = (
    Group(
        "postgres",
        postgres_answers,
        f"no PostgreSQL answers at {DATABASE_URL} (TEST_DATABASE_URL)",
    ),
    Group("redis", redis_answers, f"no Redis answers at {REDIS_URL} (TEST_REDIS_URL)"),
    Group("chromium", chromium_answers, f"there is no browser at {CHROMIUM} (TEST_CHROMIUM)"),
)


def absent_groups() -> dict[str, str]:
    """Marker -> sentence, for each group whose server does not answer."""
    return {group.marker: group.absent for group in GROUPS if not group.answers()}


def is_ci() -> bool:
    return os.environ.get("CI", "").lower() in ("true", "1", "yes")
