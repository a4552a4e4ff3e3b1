"""`python -m probes sweep`: probe the cases of a bundle here and write the results to a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from probes.bundle import sweep_bundle
from probes.cases.case import CaseError
from probes.run.slot import StartError

TELL_EVERY = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """0: every case was probed; 1: not, with the reason; 130: stopped, goes on when run again."""
    parser = argparse.ArgumentParser(prog="python -m probes sweep", description=__doc__)
    parser.add_argument("--bundle", type=Path, required=True, metavar="FILE")
    parser.add_argument("--out", type=Path, required=True, metavar="RESULTS.jsonl")
    asked = parser.parse_args(arguments)
    try:
        count = sweep_bundle(asked.bundle, asked.out, heard=_tell)
    except (CaseError, StartError, OSError, KeyError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; the same command goes on from here.", file=sys.stderr)
        return 130
    print(f"{count} results in {asked.out}. On the server: manage.py import_results "
          f"{asked.out.name}, or POST the file to /api/v1/results/.")  # fmt: skip
    return 0


def _tell(count: int) -> None:
    if count % TELL_EVERY == 0:
        print(f"{count} probed", file=sys.stderr)
