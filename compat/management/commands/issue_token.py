"""Make a token for the API; its secret is shown this once."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from compat.models import Device
from compat.tokens import SCOPES, issue_token


class Command(BaseCommand):
    help = f"{__doc__} Scopes: {'; '.join(f'{name}: {does}' for name, does in SCOPES.items())}."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="what the token is for, as lists show it")
        parser.add_argument("--scope", action="append", choices=sorted(SCOPES), default=[])
        parser.add_argument("--device", help="another token of a registered device")

    def handle(self, *args: Any, **options: Any) -> None:
        scopes, device = options["scope"], None
        if options["device"]:
            device = Device.objects.filter(slug=options["device"], origin="registered").first()
            if device is None:
                raise CommandError(f"No registered device is called {options['device']}.")
            scopes = scopes or ["results"]
        if not scopes:
            raise CommandError(f"Say what it may do: --scope {' | '.join(SCOPES)}.")
        token, secret = issue_token(name=options["name"], scopes=scopes, device=device)
        self.stdout.write(f"Token {token.pk} ({', '.join(token.scopes)}), shown this once:")
        self.stdout.write(secret)
