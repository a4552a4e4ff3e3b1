"""`python -m probes env`: environments of the runtimes that need one of their own."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from probes.run import envs
from probes.run.envs import Built, EnvError
from probes.run.registry import RUNTIMES
from probes.run.sandbox import Sandbox
from probes.run.slot import StartError

OWN = tuple(slug for slug, row in RUNTIMES.items() if row.own_env)
MEGA = 10**6
STOPPED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """0: done; 1: not, with the reason; 130: stopped."""
    parser = argparse.ArgumentParser(prog="python -m probes env", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("build", help="make and check the environment of a runtime")
    made.add_argument("runtime", choices=OWN)
    made.add_argument("--python", default="", help="the interpreter to make it with")
    listed = commands.add_parser("list", help="what is built, and what builds the others")
    listed.add_argument("--json", action="store_true")
    gone = commands.add_parser("remove", help="delete the environment of a runtime")
    gone.add_argument("runtime", choices=OWN)
    asked = parser.parse_args(arguments)
    if asked.command == "list":
        return _list(as_json=asked.json)
    try:
        return (
            _remove(asked.runtime)
            if asked.command == "remove"
            else _build(asked.runtime, asked.python)
        )
    except (EnvError, StartError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; what was half made is gone.", file=sys.stderr)
        return STOPPED


def _remove(slug: str) -> int:
    print(f"{slug}: removed." if envs.remove(slug) else f"{slug}: there was none.")
    return 0


def _build(slug: str, python: str) -> int:
    print(_line(envs.build(slug, lambda path: _ask(slug, path), python=python)))
    return 0


def _ask(slug: str, python: str) -> str:
    with Sandbox(slug, python=python) as sandbox:
        return sandbox.describe()[0]


def _list(*, as_json: bool) -> int:
    found = {slug: envs.find_built(slug) for slug in OWN}
    if as_json:
        told = {slug: asdict(built) if built else None for slug, built in found.items()}
        print(json.dumps(told, indent=1))
        return 0
    for slug, built in found.items():
        print(_line(built) if built else f"{slug:24} not built. {envs.how_to_build(slug)}")
    return 0


def _line(built: Built) -> str:
    size = f"{built.disk_bytes // MEGA} MB"
    return f"{built.runtime:24} {built.version}, Python {built.python}, {size}, {built.path}"
