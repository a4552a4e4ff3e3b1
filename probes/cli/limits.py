"""`python -m probes limits`: the largest and smallest values that still work, by search."""

from __future__ import annotations

import argparse
import json
import lzma
import os
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from probes.cases.limits import limits_by_operator
from probes.cases.limits.build import case_named
from probes.run.environment import machine_facts
from probes.run.limits import LIMITS_KIND, SCHEMA, search_operator
from probes.run.process import Limits
from probes.run.registry import RUNTIMES
from probes.run.sandbox import Sandbox
from probes.run.slot import StartError

PROBE_SECONDS = 120.0  # on a busy machine too, a value must not fail for want of time
DEVICE_FACTS = ("cores", "architecture", "os")


def main(arguments: Sequence[str] | None = None) -> int:
    """0: complete; 1: not, with the reason; 130: stopped, the same command goes on."""
    known = limits_by_operator()
    parser = argparse.ArgumentParser(prog="python -m probes limits", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--runtime", choices=list(RUNTIMES), help="search the limits of this one")
    what.add_argument("--case", metavar="limit/Conv/kernel/8", help="write the model of a value")
    parser.add_argument("--config", type=json.loads, default={}, metavar="JSON")
    parser.add_argument("--config-name", default="", help="what the configuration is called")
    parser.add_argument("--operators", nargs="*", choices=list(known), default=list(known))
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    asked = parser.parse_args(arguments)
    try:
        return _write_model(asked.case, asked.out) if asked.case else _search(asked)
    except (StartError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; the same command goes on from here.", file=sys.stderr)
        return 130


def _search(asked: argparse.Namespace) -> int:
    known = limits_by_operator()
    limits = Limits(seconds=PROBE_SECONDS)
    with Sandbox(asked.runtime, asked.config, limits=limits, latency=False) as sandbox:
        document = head_of(sandbox, asked.config_name)
        done = _earlier(asked.out, document)
        for name in asked.operators:
            if name not in done:
                done[name] = search_operator(sandbox, known[name]).to_dict()
                _tell(done[name])
                _write(asked.out, {**document, "operators": list(done.values())})
    print(f"{len(done)} operators in {asked.out}. On the server: manage.py load_limits "
          f"{asked.out.name}")  # fmt: skip
    return 0


def _write_model(name: str, path: Path) -> int:
    try:
        path.write_bytes(case_named(name).model)
    except LookupError as error:
        print(error.args[0], file=sys.stderr)
        return 1
    return 0


def head_of(sandbox: Sandbox, config_name: str) -> dict[str, Any]:
    """Whose limits these are, found with what and when. A simulation names no device: the server
    knows whose configuration it is."""
    version, environment = sandbox.describe()
    capabilities = sandbox.capabilities()
    runtime = sandbox.runtime
    # The adapter needs its number of threads; a vendor's configuration does not name it.
    config = {k: v for k, v in sandbox.config.items() if k != "threads" or k in runtime.config}
    target = {
        "runtime": runtime.slug,
        "runtime_version": version,
        "config_name": config_name or runtime.config_name,
        "config": config,
        "capabilities": capabilities.to_dict(),
        **({} if capabilities.evidence == "simulated" else _this_device()),
    }
    return {
        "schema": SCHEMA,
        "kind": LIMITS_KIND,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "target": target,
        "environment": environment,
    }


def _this_device() -> dict[str, Any]:
    facts = machine_facts()
    title = facts["cpu_model"]
    return {
        "device": re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:70] or "cpu",
        "device_title": title,
        "device_class": "x86_cpu" if facts["architecture"] == "x86_64" else "cpu",
        "device_facts": {name: facts[name] for name in DEVICE_FACTS},
    }


def _earlier(path: Path, head: Mapping[str, Any]) -> dict[str, Any]:
    """Operator -> what a stopped search of the same target has found."""
    if not path.exists():
        return {}
    document = json.loads(_open(path, "rt").read())
    if document.get("kind") != LIMITS_KIND or document.get("target") != head["target"]:
        raise ValueError(f"{path} holds something else; name another file")
    return {each["operator"]: each for each in document["operators"]}


def _write(path: Path, document: Mapping[str, Any]) -> None:
    part = path.with_name(f".part-{path.name}")  # keeps the suffix, which decides compression
    with _open(part, "wt") as file:
        json.dump(document, file, indent=1, allow_nan=False)
        file.write("\n")
    os.replace(part, path)


def _open(path: Path, mode: str) -> Any:
    return (lzma.open if path.suffix == ".xz" else open)(path, mode, encoding="utf-8")


def _tell(found: Mapping[str, Any]) -> None:
    for each in found["parameters"]:
        small, large = each["smallest"], each["largest"]
        ends = [_end(small, each["least"]), _end(large, each["most"])]
        print(f"{found['operator']:20} {each['parameter']:20} {' to '.join(ends)}", flush=True)
    for name, why in found["unanswered"].items():
        print(f"{found['operator']:20} {name:20} not answered: {why[:80]}", flush=True)


def _end(edge: Mapping[str, Any], tried_to: int) -> str:
    worked, failed = edge["worked"], edge["failed"]
    if worked is None:
        return f"nothing ({failed['value']}: {failed['outcome']})"
    again = " (works again beyond)" if edge["again"] else ""
    if failed is None:
        return f"{worked['value']} (tried to {tried_to})"
    return (
        f"{worked['value']} ({failed['value']}: {failed['outcome']}, {failed['placement']}){again}"
    )
