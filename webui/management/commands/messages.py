"""`manage.py messages`: collect the strings of the pages, and compile their translations."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from webui import messages


class Command(BaseCommand):
    help = "Collect the strings of the pages into django.po and compile django.mo."

    def handle(self, *args: Any, **options: Any) -> None:
        catalog = messages.merge(messages.load(), messages.collect())
        messages.PO.write_bytes(messages.po_text(catalog))
        catalog = messages.load()
        messages.MO.write_bytes(messages.mo_bytes(catalog))
        missing = messages.untranslated(catalog)
        self.stdout.write(f"{len(catalog)} strings, {len(missing)} without a translation.")
        if missing:
            raise CommandError("Translate these in django.po:\n" + "\n".join(missing))
