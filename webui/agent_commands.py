"""The commands that are typed on a device after it was registered."""

import shlex
from typing import NamedTuple
from urllib.parse import urlsplit

from django.http import HttpRequest

from compat.models import Device
from compat.own_machine import LOOPBACK_HOSTS
from compat.wake import wake_acl, wake_address
from probes.run.registry import RUNTIMES

TOKEN_FILE = "opatlas.token"
EXAMPLE = "onnxruntime-cpu"  # of a device that may offer anything


class AgentCommands(NamedTuple):
    """`acl` is for the Redis server, where agents are woken; else empty."""

    install: str
    store: str
    run: str
    acl: str
    server: str
    is_loopback: bool
    is_encrypted: bool


def agent_commands(request: HttpRequest, device: Device) -> AgentCommands:
    """For a shell; the secret is in none of them, since other users read arguments."""
    server = request.build_absolute_uri("/").rstrip("/")
    runtimes = [slug for slug in device.runtimes if slug in RUNTIMES] or [EXAMPLE]
    needed = dict.fromkeys(each for slug in runtimes for each in RUNTIMES[slug].requirements)
    offered = [part for slug in runtimes for part in ("--runtime", slug)]
    run = ["python", "-m", "probes", "agent", "--server", server, "--token-file", TOKEN_FILE]
    return AgentCommands(
        install=shlex.join(["pip", "install", "opatlas-probes[agent]", *needed]),
        store=f"(umask 077; cat > {TOKEN_FILE})",
        run=shlex.join([*run, *offered]),
        acl=wake_acl(device.slug) if wake_address(device.slug) else "",
        server=server,
        is_loopback=urlsplit(server).hostname in LOOPBACK_HOSTS,
        is_encrypted=request.is_secure(),
    )
