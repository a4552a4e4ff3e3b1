"""Count what is known: operators, and cells by kind of evidence for each target."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from compat.stats import KINDS, load_stats


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        stats = load_stats()
        if options["json"]:
            self.stdout.write(json.dumps(stats))
            return
        self.stdout.write(f"{stats['operators']} operators")
        width = max((len(row["id"]) for row in stats["targets"]), default=0)
        for row in stats["targets"]:
            counts = "  ".join(f"{row[kind]:4} {kind}" for kind in KINDS)
            self.stdout.write(f"{row['id']:{width}}  {counts}")
