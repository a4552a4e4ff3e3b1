"""Write the cases of a target to one file, for a board without a network."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from compat.bundles import make_bundle
from compat.history import NotKnown


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--target", required=True, metavar="DEVICE.RUNTIME")
        parser.add_argument("out", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = make_bundle(name=options["target"], path=options["out"])
        except NotKnown as error:
            raise CommandError(str(error.args[0])) from error
        except (OSError, KeyError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{count} cases are in {options['out']}.")
