"""Store results files of registered devices; the same file again changes nothing."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from compat.agents import AgentRefusal
from compat.exchange import read_documents
from compat.models import Device
from compat.submissions import submit


def _what_to_do(slug: str) -> str:
    if Device.objects.filter(slug=slug).exists():
        return (
            f"{slug} is no registered device: of it only what its toolchain simulated is taken. "
            "Register the board under a name of its own."
        )
    return f"No registered device is called {slug}: manage.py register_device {slug}."


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="RESULTS.jsonl")

    def handle(self, *args: Any, **options: Any) -> None:
        for path in options["files"]:
            try:
                for header, results in read_documents(path):
                    done = submit(device=None, header=header, results=results, is_admin=True)
                    slug = header["target"]["device"]
                    self.stdout.write(f"{path}: {done.new} new of {slug}, {done.known} known.")
            except AgentRefusal as error:
                if error.code != "not_this_device":
                    raise CommandError(str(error)) from error
                slug = header["target"]["device"]
                raise CommandError(_what_to_do(slug)) from error
            except (ValueError, OSError) as error:
                raise CommandError(f"{path}: {error}") from error
