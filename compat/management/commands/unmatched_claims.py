"""List the documented rows that match no operator, or opsets that it never had, as CSV."""

import csv
from typing import Any

from django.core.management.base import BaseCommand

from compat.documented import Unmatched, unmatched_rows


class Command(BaseCommand):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        rows = unmatched_rows()
        writer = csv.writer(self.stdout, lineterminator="\n")
        writer.writerow(Unmatched._fields)
        writer.writerows(rows)
        self.stderr.write(f"{len(rows)} documented rows are kept out.")
