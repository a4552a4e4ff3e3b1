"""Probe a target of this machine now; Ctrl-C stops, --resume goes on."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from compat.fleet import find_local
from compat.models import Sweep, Target
from compat.sweeps import OPEN, SweepError, progress, resume_sweep, start_sweep, stop_sweep
from compat.terminal import ProgressBar, end_by_signal
from compat.work import work_through
from probes.run.slot import StartError


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--target", required=True, help="a target, a column or a runtime")
        parser.add_argument("--operators", nargs="+", metavar="OPERATOR", help="Conv, domain::Name")
        parser.add_argument(
            "--mainstream", action="store_true", help="leave out node tests, variants and harvests"
        )
        parser.add_argument(
            "--missing", action="store_true", help="only what has no result of this version yet"
        )
        parser.add_argument("--resume", action="store_true", help="go on with the stopped sweep")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            target = find_local(options["target"])
            sweep = (
                _stopped(target)
                if options["resume"]
                else start_sweep(
                    target=target,
                    operators=options["operators"],
                    scope="mainstream" if options["mainstream"] else "all",
                    only_new=options["missing"],
                )
            )
            if sweep.total:
                self._run(sweep)
            else:
                sweep.delete()
                self.stdout.write(f"Nothing is missing on {target}.")
        except (SweepError, LookupError, StartError) as error:
            raise CommandError(str(error)) from error

    def _run(self, sweep: Sweep) -> None:
        before = progress(sweep)
        bar = ProgressBar(self.stdout, str(sweep.target.column), before.total, before.done)
        ended = end_by_signal()
        try:
            with ended:
                work_through(sweep, heard=bar.advance, say=bar.say)
        except StartError:
            stop_sweep(sweep=sweep)
            raise
        bar.done = progress(sweep).done
        bar.end()
        if ended.happened:
            stop_sweep(sweep=sweep)
            name = sweep.target.column.slug
            self.stdout.write(f"Stopped. Go on with: manage.py sweep --target {name} --resume")
        counts = progress(sweep).outcomes.items()
        ordered = sorted(counts, key=lambda item: -item[1])
        self.stdout.write(", ".join(f"{count} {outcome}" for outcome, count in ordered))


def _stopped(target: Target) -> Sweep:
    """The newest sweep that was stopped, or whose process was killed before it could say so."""
    unfinished = (Sweep.State.STOPPED, *OPEN)
    sweep = Sweep.objects.filter(target=target, state__in=unfinished).first()
    if sweep is None:
        raise SweepError(f"No stopped sweep of {target}.")
    return resume_sweep(sweep=sweep)
