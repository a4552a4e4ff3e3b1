"""`python -m probes COMMAND` (or `opatlas COMMAND`): the engine's own commands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

# Each module has `main(arguments) -> exit status` and is imported only when it is asked for.
COMMANDS = {
    "agent": "probes.cli.agent",
    "bundle": "probes.cli.bundle",
    "cases": "probes.cli.cases",
    "check": "probes.cli.check",
    "env": "probes.cli.env",
    "harvest": "probes.cli.harvest",
    "limits": "probes.cli.limits",
    "sweep": "probes.cli.sweep",
}
SAID = {
    "agent": "probe this machine's runtimes for a server",
    "bundle": "fetch the cases of a target into one file, for a board without a network",
    "cases": "count what the shipped cases cover, and what they leave out",
    "check": "judge a model against a server's evidence; its weights stay here",
    "harvest": "cut the nodes of real models into cases; no weight is kept",
    "env": "make or list the environments of runtimes that need their own",
    "limits": "search the largest and smallest values that a runtime still takes",
    "sweep": "probe the cases of a bundle and write the results to a file",
}
USAGE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the first argument names; returns its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and given[0] in COMMANDS:
        command: Callable[[Sequence[str]], int] = import_module(COMMANDS[given[0]]).main
        return command(given[1:])
    print("usage: python -m probes COMMAND ...\n", *_lines(), sep="\n", file=sys.stderr)
    return 0 if given and given[0] in ("-h", "--help") else USAGE


def _lines() -> list[str]:
    width = max(map(len, COMMANDS))
    return [f"  {name:{width}}  {SAID[name]}" for name in sorted(COMMANDS)]
