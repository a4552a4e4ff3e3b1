"""`python -m probes agent`: probe this machine's runtimes for a server, until it is stopped."""

from __future__ import annotations

import argparse
import fcntl
import logging
import os
import signal
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

from probes.agent import Agent, AgentError
from probes.client import BadAddress, Client, travels_openly
from probes.run.registry import RUNTIMES

STOPPED, REFUSED, USAGE = 0, 1, 2
TOKEN = "OPATLAS_TOKEN"


def main(arguments: Sequence[str] | None = None) -> int:
    """0: stopped, or nothing waits (--once); 1: the agent cannot go on; 2: wrong arguments."""
    asked = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    signal.signal(signal.SIGTERM, _end_once)
    signal.signal(signal.SIGINT, _end_once)
    try:
        client = open_client(asked.server, asked.token_file, insecure=asked.insecure)
        asked.cache.mkdir(parents=True, exist_ok=True)
        with _only_agent(asked.cache) as lock:
            agent = Agent(
                client,
                list(dict.fromkeys(asked.runtime)),
                cache=asked.cache,
                instance=_instance(lock),
                once=asked.once,
            )
            done = agent.run()
    except KeyboardInterrupt:
        logging.getLogger("opatlas.agent").info("Stopped; what was not done is offered again.")
        return STOPPED
    except (AgentError, BadAddress, OSError) as error:
        print(error, file=sys.stderr)
        return REFUSED
    print(f"{done} probes done; nothing waits.")
    return STOPPED


def open_client(server: str, token_file: Path | None, *, insecure: bool = False) -> Client:
    """A client with the device's token; raises BadAddress where the token would travel openly."""
    if travels_openly(server) and not insecure:
        raise BadAddress(
            f"{server} is not encrypted, and the token would travel openly. Give an https "
            "address, or --insecure on a network that you trust."
        )
    token = token_file.read_text().strip() if token_file else os.environ.get(TOKEN, "")
    if not token:
        raise BadAddress(f"There is no token: give --token-file, or set {TOKEN}.")
    return Client(server, token)


def server_arguments(parser: argparse.ArgumentParser) -> None:
    """--server, --token-file and --insecure, as every command of a device has them."""
    parser.add_argument("--server", required=True, metavar="URL")
    parser.add_argument("--token-file", type=Path, help=f"file with the token (else ${TOKEN})")
    parser.add_argument("--insecure", action="store_true", help="allow http to another machine")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m probes agent", description=__doc__)
    server_arguments(parser)
    parser.add_argument("--runtime", action="append", required=True, choices=sorted(RUNTIMES))
    parser.add_argument("--cache", type=Path, default=_cache(), help="default: %(default)s")
    parser.add_argument("--once", action="store_true", help="end when nothing waits")
    return parser


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "opatlas-agent"


def _only_agent(cache: Path) -> _Lock:
    return _Lock(cache / "instance")


class _Lock:
    """A file that one agent on this machine holds; it also keeps the agent's name."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> _Lock:
        self.fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self.fd)
            raise AgentError(
                f"Another agent works with {self.path.parent}. Stop it, or give this one a "
                "token and a --cache of its own."
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)


def _instance(lock: _Lock) -> str:
    """The same after a restart, so that the server knows that there is no second agent."""
    known = os.pread(lock.fd, 36, 0).decode("ascii", "replace")
    try:
        return str(uuid.UUID(known))
    except ValueError:
        name = str(uuid.uuid4())
        os.pwrite(lock.fd, name.encode(), 0)
        return name


def _end_once(*_: object) -> None:
    """A second signal must not interrupt the clean-up of the first."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
