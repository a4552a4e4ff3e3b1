"""Write the newest results of a target to a file that other installations can load."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from compat.exchange import export_evidence
from compat.models import Column, Target
from compat.targets import TargetError, resolve


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--target", required=True, help="a target, a column or a runtime")
        parser.add_argument("out", type=Path, help="the file to write, NAME.jsonl.xz")

    def handle(self, *args: Any, **options: Any) -> None:
        target = _target(options["target"])
        count = export_evidence(target=target, path=options["out"])
        if not count:
            raise CommandError(f"{target} has no results yet: manage.py sweep --target {target}")
        self.stdout.write(f"{count} results of {target} are in {options['out']}.")


def _target(name: str) -> Target:
    """The named target; of a column, its newest version."""
    try:
        (found,) = resolve([name])
    except TargetError as error:
        raise CommandError(str(error)) from error
    target = found.targets.first() if isinstance(found, Column) else found
    if target is None:
        raise CommandError(f"{name} was never probed; there are only documented claims.")
    return target
