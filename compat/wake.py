"""How an agent is woken over Redis: its own user, who may touch only its own queue."""

import hashlib
import hmac
from urllib.parse import urlsplit

from django.conf import settings

from probes.protocol import wake_names

# What taking messages from one queue needs; no command that names no key tells of others.
COMMANDS = (
    "hello", "auth", "ping", "select", "multi", "exec", "discard", "watch", "unwatch", "brpop",
    "rpop", "lpush", "llen", "sadd", "srem", "smembers", "zadd", "zrem", "zrange", "hset", "hget",
    "hdel", "set", "get", "del", "exists", "pexpire", "eval", "evalsha", "script|load",
)  # fmt: skip


def wake_address(device: str) -> dict[str, str] | None:
    """Where a device's agent listens; None where the installation wakes nobody."""
    if not settings.AGENT_REDIS_URL:
        return None
    parts = urlsplit(settings.AGENT_REDIS_URL)
    host = parts.netloc.rpartition("@")[2]
    user = f"{wake_user(device)}:{wake_password(device)}"
    return {"url": parts._replace(netloc=f"{user}@{host}").geturl(), "queue": wake_names(device)[0]}


def wake_acl(device: str) -> str:
    """The line that makes the agent's user: its queue's keys, and the commands on them."""
    _, prefix = wake_names(device)
    allowed = " ".join(f"+{command}" for command in COMMANDS)
    return (
        f"ACL SETUSER {wake_user(device)} reset on >{wake_password(device)} "
        f"~{prefix}* resetchannels -@all {allowed}"
    )


def wake_user(device: str) -> str:
    return f"opatlas-{device}"


def wake_password(device: str) -> str:
    """The same as long as the installation's secret key is; stored nowhere."""
    key = settings.SECRET_KEY.encode()
    return hmac.new(key, f"wake {device}".encode(), hashlib.sha256).hexdigest()[:40]
