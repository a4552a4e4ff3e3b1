"""A group of tests without its server is named and left out, and fails where CI asks for all."""

import os
import subprocess
import sys
from pathlib import Path

from tests import gates

ROOT = Path(__file__).resolve().parent.parent
NOBODY = {
    "TEST_DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
    "TEST_REDIS_URL": "redis://127.0.0.1:1/0",
    "TEST_CHROMIUM": "/nonexistent/chromium",
}


def collect(**environment):
    command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:xdist", __file__]
    clean = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(
        command, cwd=ROOT, env=clean | NOBODY | environment, capture_output=True, text=True
    )


def test_the_toolchains_are_asked_in_ci_and_on_demand(monkeypatch):
    monkeypatch.setattr(gates, "is_ci", lambda: False)
    monkeypatch.delenv("TOOLCHAINS", raising=False)
    assert "vendors' toolchains" not in [gate.name for gate in gates.pytest_gates({})]
    monkeypatch.setenv("TOOLCHAINS", "1")
    assert gates.pytest_gates({})[-1].name == "vendors' toolchains"


def test_absent_groups_are_deselected_by_name_with_the_address():
    done = collect()
    assert done.returncode == 0
    assert "deselected group 'redis': no Redis answers at redis://127.0.0.1:1/0" in done.stdout
    assert "deselected group 'chromium': there is no browser at /nonexistent" in done.stdout
    assert "deselected group 'postgres': no PostgreSQL answers at" in done.stdout


def test_an_absent_group_is_a_failure_in_ci():
    done = collect(CI="true")
    assert done.returncode != 0
    assert "CI=true, and a group of tests cannot run: no PostgreSQL answers" in done.stderr


def test_the_deploy_check_runs_with_production_settings():
    values = gates.read_environment(gates.PRODUCTION)
    assert values["OPATLAS_PRODUCTION"] == "1"
    assert values["DATABASE_URL"].startswith("postgres://")


def test_a_gate_that_fails_says_so_and_shows_why(capfd):
    failing = gates.Gate(
        "sample", (sys.executable, "-c", "print('the reason'); raise SystemExit(3)")
    )
    assert gates.run_gate(failing) is False
    shown = capfd.readouterr().out
    assert "the reason" in shown
    assert "gate: sample" in shown
    assert "FAILED" in shown


def test_without_postgres_only_the_sqlite_run_is_left(monkeypatch):
    monkeypatch.setattr(gates, "asks_toolchains", lambda: False)
    assert [gate.name for gate in gates.pytest_gates({"postgres": "absent"})] == [
        "pytest on SQLite"
    ]
