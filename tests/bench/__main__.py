"""Runs each bench in a process of its own, on a scratch database, and prints its line."""

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg

from tests.bench.figure import Figure
from tests.bench.scratch import scratch_database

BENCHES = ("sweep_ratio", "matrix_page", "ingest_rate", "report_100mb", "report_1900mb")


def run_here(name: str) -> None:
    """In the bench's own process: DATABASE_URL names the scratch database."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    figure: Figure = importlib.import_module(f"tests.bench.{name}").measure()
    print(figure.to_line(), flush=True)


def run_apart(name: str) -> int:
    with scratch_database(name) as url, tempfile.TemporaryDirectory() as folder:
        Path(folder, "static").mkdir()  # where collected files would lie
        settings = {
            "DJANGO_SETTINGS_MODULE": "compat.settings",
            "DATABASE_URL": url,
            "REDIS_URL": "",
            "OPATLAS_DATA_DIR": folder,
            "OPATLAS_LOG_LEVEL": "WARNING",
        }
        command = [sys.executable, "-m", "tests.bench", "--here", name]
        return subprocess.run(command, env=os.environ | settings).returncode


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", choices=BENCHES, action="append")
    parser.add_argument("--here", choices=BENCHES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        run_here(options.here)
        return 0
    try:
        return max([run_apart(name) for name in options.only or BENCHES])
    except psycopg.OperationalError as error:
        print(f"The benches need PostgreSQL (TEST_DATABASE_URL): {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
