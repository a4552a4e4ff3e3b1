"""Load limits that a search found; without names, all that ship under fixtures/limits."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from compat.exchange import ExchangeError
from compat.limits import is_loaded, load_limits


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="*", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        shipped = sorted((settings.FIXTURES_DIR / "limits").glob("*.json*"))
        for path in options["files"] or [each for each in shipped if not is_loaded(each)]:
            try:
                loaded = load_limits(path)
            except (ExchangeError, OSError) as error:
                raise CommandError(str(error)) from error
            self.stdout.write(
                f"{path.name}: limits of {loaded.known} operators on {loaded.target}"
                + (f", {loaded.unknown} unknown here." if loaded.unknown else ".")
            )
