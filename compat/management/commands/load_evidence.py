"""Load recorded results; without names, all that ship under fixtures/evidence."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from compat.exchange import ExchangeError, is_loaded, load_evidence


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="*", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        shipped = sorted((settings.FIXTURES_DIR / "evidence").glob("*.jsonl.xz"))
        for path in options["files"] or [each for each in shipped if not is_loaded(each)]:
            try:
                loaded = load_evidence(path)
            except (ExchangeError, OSError) as error:
                raise CommandError(str(error)) from error
            self.stdout.write(
                f"{path.name}: {loaded.new} new results, {loaded.known} known, "
                f"{loaded.unknown} of cases that this catalogue does not have."
            )
