"""Serve OpAtlas from this machine: prepare everything, probe the CPU, run the site and a worker."""

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError
from threading import Event
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from compat import supervision, work
from compat.fleet import register_local_targets
from compat.models import Target
from compat.reports import ReportError
from compat.samples import report_of_sample
from compat.sweeps import progress, start_missing
from compat.terminal import ProgressBar, end_by_signal
from probes.run.slot import StartError

WEB_PROCESSES = 2


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=os.environ.get("OPATLAS_HOST", "127.0.0.1"))
        # argparse also reads a default that is a text, and refuses it in a sentence.
        port = os.environ.get("OPATLAS_PORT", "8000")
        parser.add_argument("--port", type=_port, default=port)
        parser.add_argument("--prepare-only", action="store_true", help="end before serving")

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        if not options["prepare_only"]:
            _check_address(host, port)
        ended = end_by_signal()
        try:
            with ended, supervision.sole_user(settings.DATA_DIR):
                report = self._prepare()
                if not options["prepare_only"]:
                    self._serve(host, port, report)
        except supervision.FolderInUse as error:
            raise CommandError(
                f"Another OpAtlas already runs on {settings.DATA_DIR} (process {error.pid}). "
                "Stop that one, or give this one a folder of its own: OPATLAS_DATA_DIR."
            ) from error
        if ended.happened:
            self.stdout.write("\nStopped. Nothing is lost; the next start goes on from here.")

    def _prepare(self) -> str:
        """Everything that the site shows; returns the sample report's path on the site."""
        call_command("migrate", verbosity=0, stdout=self.stdout)
        call_command("load_catalogue", stdout=self.stdout)
        call_command("load_evidence", stdout=self.stdout)
        call_command("load_limits", stdout=self.stdout)
        targets = register_local_targets()
        if not targets:
            self.stderr.write("No runtime starts here: pip install -r requirements.txt.")
        for target in targets:
            self._probe(target)
        self._leave_to_the_worker(targets)
        try:
            return f"/reports/{report_of_sample().token}/"
        except ReportError as error:
            self.stderr.write(f"There is no report of the sample model: {error}")
            return "/"

    def _probe(self, target: Target) -> None:
        for sweep in start_missing(target=target, scope="usual"):
            done = progress(sweep).done
            bar = ProgressBar(self.stdout, f"Probing {target.column}", sweep.total, done)
            try:
                work.work_through(sweep, heard=bar.advance, say=bar.say, wait=False)
            except StartError as error:
                self.stderr.write(f"{target} cannot be probed: {error}")
                return
            bar.done = progress(sweep).done
            bar.end()

    def _leave_to_the_worker(self, targets: list[Target]) -> None:
        """Variants and harvests are many: they are probed while the site is up."""
        open_ones = [sweep for target in targets for sweep in start_missing(target=target)]
        left = sum(found.total - found.done for found in map(progress, open_ones))
        if left:
            self.stdout.write(f"{left} rarer cases are probed while the site is up.")

    def _serve(self, host: str, port: int, report: str) -> None:
        settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
        shown = f"[{host}]" if ":" in host else host
        children = [
            supervision.Supervised("web server", web_command(f"{shown}:{port}")),
            supervision.Supervised(
                "worker", [sys.executable, str(settings.BASE_DIR / "manage.py"), "worker"]
            ),
        ]
        told = Event()

        def tell() -> None:
            if not told.is_set() and supervision.answers(host, port):
                told.set()
                self.stdout.write(f"\nReport of a sample model: http://{shown}:{port}{report}")
                self.stdout.write(f"OpAtlas is at http://{shown}:{port}/  (Ctrl-C stops it)")
                self.stdout.flush()

        supervision.supervise(children, say=self.stderr.write, tick=tell)


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise ArgumentTypeError(f"{text} is no port: give a number from 1 to 65535")
    return int(text)


def _check_address(host: str, port: int) -> None:
    """Raises CommandError where a server cannot listen."""
    try:
        is_free = supervision.is_free(host, port)
    except (OSError, UnicodeError) as error:  # a name that is none has no IDNA form either
        raise CommandError(
            f"OpAtlas cannot listen on port {port} of {host}: {error}.", returncode=2
        ) from error
    if not is_free:
        raise CommandError(
            f"Port {port} of {host} is in use. Stop what listens there, or choose another "
            "port: manage.py up --port 8001 (or OPATLAS_PORT=8001 make run)."
        )


def web_command(address: str) -> list[str]:
    """gunicorn with this interpreter: a few processes with threads, for pages are short."""
    return [
        *(sys.executable, "-m", "gunicorn", "compat.wsgi:application"),
        *("--bind", address, "--workers", str(WEB_PROCESSES), "--threads", "4"),
        *("--log-level", "warning", "--timeout", "120"),
    ]
