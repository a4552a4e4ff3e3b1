"""Fill the catalogue from what ships: operators, devices, documented claims, cases."""

from typing import Any

from django.core.management.base import BaseCommand

from compat.catalogue import load_catalogue


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        loaded = load_catalogue(self.stdout.write)
        self.stdout.write(f"Loaded: {', '.join(loaded)}." if loaded else "Nothing has changed.")
