"""End a token by its number; without a number, list those that are valid."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from compat.models import Token
from compat.tokens import revoke_token


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("number", nargs="?", type=int)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["number"] is None:
            self._list()
            return
        token = Token.objects.filter(pk=options["number"]).first()
        if token is None or not revoke_token(token=token):
            raise CommandError(f"There is no valid token {options['number']}.")
        self.stdout.write(f"Token {token.pk} ({token}) opens nothing any more.")

    def _list(self) -> None:
        for token in Token.objects.filter(revoked_at=None).select_related("device"):
            used = f"used {token.used_at:%Y-%m-%d}" if token.used_at else "never used"
            device = f", device {token.device.slug}" if token.device else ""
            self.stdout.write(f"{token.pk:5} {token} ({', '.join(token.scopes)}{device}), {used}")
