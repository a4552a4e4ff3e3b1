"""The gates of `make test`: a table, run in order, fast ones first, one line each with seconds."""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from tests.servers import DATABASE_URL, absent_groups, is_ci

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
DOCKERFILES = tuple(map(str, sorted(ROOT.glob("docker/*.Dockerfile"))))
COMPOSE_SCHEMA = ("--builtin-schema", "vendor.compose-spec")
CODE = ("probes", "compat", "webui", "manage.py")
PRODUCTION = ROOT / ".ci" / "production.env"
ENV_DIR = "OPATLAS_ENV_DIR"  # where the environments of the toolchains are kept
# What a developer has set for a server of their own must not reach a test.
OWN_ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in ("DATABASE_URL", "REDIS_URL") and not name.startswith("OPATLAS_")
}


class Gate(NamedTuple):
    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = {}
    streams: bool = False  # the output is shown as it comes, not only after a failure


def read_environment(path: Path) -> dict[str, str]:
    """NAME=value lines, without comments and blank lines."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    pairs = (line.split("=", 1) for line in lines if line and not line.startswith("#"))
    return dict(pairs)


def static_gates() -> tuple[Gate, ...]:
    python, tool = sys.executable, lambda name: str(BIN / name)
    gates = (
        Gate("ruff format", (tool("ruff"), "format", "--check", ".")),
        Gate("ruff check", (tool("ruff"), "check", ".")),
        Gate("doors (import-linter)", (tool("lint-imports"), "--no-cache")),
        Gate("migrations", (python, "manage.py", "makemigrations", "--check", "--dry-run")),
        Gate(
            "deploy check",
            (python, "manage.py", "check", "--deploy", "--fail-level", "WARNING"),
            read_environment(PRODUCTION),
        ),
        Gate("hadolint", (tool("hadolint"), *DOCKERFILES)),
        Gate("compose schema", (tool("check-jsonschema"), *COMPOSE_SCHEMA, "docker/compose.yaml")),
        Gate("bandit", (tool("bandit"), "-q", "-c", "pyproject.toml", "-r", *CODE)),
        Gate("mypy", (tool("mypy"),)),
    )
    # hadolint is published for Linux on x86_64 only.
    return tuple(
        gate for gate in gates if Path(gate.command[0]).exists() or gate.name != "hadolint"
    )


def pytest_gates(absent: dict[str, str]) -> tuple[Gate, ...]:
    pytest = (sys.executable, "-m", "pytest", "-n", os.environ.get("TEST_WORKERS", "2"))
    postgres = Gate(
        "pytest on PostgreSQL",
        (*pytest, "-m", "(postgres or both_databases) and not toolchains"),
        {"DATABASE_URL": DATABASE_URL},
        streams=True,
    )
    sqlite = Gate(
        "pytest on SQLite",
        (*pytest, "-m", "not postgres and not toolchains"),
        streams=True,
    )
    # One after the other: each asks for all the memory and cores that a compiler takes.
    toolchains = Gate(
        "vendors' toolchains",
        (sys.executable, "-m", "pytest", "tests/toolchains"),
        {name: os.environ[name] for name in (ENV_DIR,) if name in os.environ},
        streams=True,
    )
    found = (sqlite,) if "postgres" in absent else (postgres, sqlite)
    return (*found, toolchains) if asks_toolchains() else found


def asks_toolchains() -> bool:
    """Their environments take 2.2 GB: CI builds them, a developer who says so."""
    return is_ci() or bool(os.environ.get("TOOLCHAINS"))


def run_gate(gate: Gate) -> bool:
    started = time.monotonic()
    done = subprocess.run(
        gate.command,
        cwd=ROOT,
        env=OWN_ENVIRONMENT | gate.environment,
        stdout=None if gate.streams else subprocess.PIPE,
        stderr=None if gate.streams else subprocess.STDOUT,
        text=True,
    )
    passed = done.returncode == 0
    if not passed and not gate.streams:
        print(done.stdout, end="")
    word = "passed" if passed else "FAILED"
    print(f"gate: {gate.name:<24} {word} {time.monotonic() - started:6.1f} s", flush=True)
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--static", action="store_true", help="only the gates that run no test")
    gates = static_gates()
    if not parser.parse_args().static:
        absent = absent_groups()
        for marker, sentence in absent.items():
            print(f"deselected group '{marker}': {sentence}", flush=True)
        if not asks_toolchains():
            print("deselected group 'toolchains': TOOLCHAINS=1 builds and asks them (2.2 GB)")
        if absent and is_ci():
            print("CI=true: every group has to run, so this is a failure.", file=sys.stderr)
            return 1
        gates += pytest_gates(absent)
    failed = [gate.name for gate in gates if not run_gate(gate)]
    if failed:
        print(f"failed gates: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
