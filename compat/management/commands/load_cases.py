"""Bring harvested cases (python -m probes harvest) into this installation."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from compat.harvested import HarvestError, load_harvest
from probes.cases.case import CaseError


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE.pack.xz")

    def handle(self, *args: Any, **options: Any) -> None:
        for path in options["files"]:
            try:
                brought = load_harvest(path)
            except (HarvestError, CaseError, OSError, KeyError) as error:
                raise CommandError(f"{path}: {error}") from error
            self.stdout.write(
                f"{path}: {len(brought.new)} new cases, {len(brought.known)} known nodes, "
                f"{brought.models} models counted."
            )
            for name in brought.unknown:
                self.stdout.write(f"Left out, its operator is not in the catalogue: {name}")
        self.stdout.write("Probe them with: manage.py sweep --target TARGET --missing")
