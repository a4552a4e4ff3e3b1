"""Put a registered device into maintenance, retire it, or take it back (active)."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from compat.devices import DeviceError, Standing, set_standing


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("standing", choices=Standing.values)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            device = set_standing(slug=options["slug"], standing=options["standing"])
        except DeviceError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{device.slug} is {device.standing} now.")
