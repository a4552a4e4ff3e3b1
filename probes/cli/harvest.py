"""`python -m probes harvest`: cut the nodes of real models into cases; no weight is kept.

Integers that shape a node (axes, pads, sizes), single numbers and attributes stay as they are;
every other constant is drawn anew, and every name is replaced.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path

from probes.cases.case import Case
from probes.cases.catalogue import write_pack
from probes.cases.cuts import MOST_BYTES, SIZE
from probes.cases.node_files import names_beside
from probes.model.hidden import name_key
from probes.model.plain import FILE_NAME_LENGTH, plain_text
from probes.run.harvest import Harvest, harvest, total_of
from probes.run.slot import StartError

ENDING = ".pack.xz"
COLUMNS = ("case", "model", "count")
DIGITS = 12


def main(arguments: Sequence[str] | None = None) -> int:
    """0: the pack and its list are written; 1: nothing was cut, or a model could not be read."""
    asked = make_parser().parse_args(arguments)
    if not asked.out.name.endswith(ENDING):
        print(f"The file must be called something{ENDING}.", file=sys.stderr)
        return 1
    missing = [str(path) for path in (*asked.models, *asked.also) if not path.is_file()]
    if missing:
        print(f"There is no file {', '.join(missing)}.", file=sys.stderr)
        return 1
    try:
        found = harvest(
            _told_names(asked.models, asked.names),
            also=_told_names(asked.also, asked.names),
            size=asked.size,
            most_bytes=asked.most_bytes,
        )
        cases = list(found.cases(asked.limit))
    except StartError as error:
        print(error, file=sys.stderr)
        return 1
    if cases:
        write_pack(asked.out, cases)
        write_counts(names_beside(asked.out), found, cases)
    print("\n".join(_lines(found, cases, asked.out)))
    return 1 if found.refused or not cases else 0


def make_parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(prog="python -m probes harvest", description=__doc__)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL.onnx")
    parser.add_argument("--out", type=Path, required=True, metavar=f"FILE{ENDING}")
    parser.add_argument(
        "--also", nargs="+", type=Path, default=[], metavar="MODEL.onnx",
        help="cut these too, but do not count how often their nodes occur",
    )  # fmt: skip
    parser.add_argument("--limit", type=int, metavar="N", help="only the N most frequent nodes")
    parser.add_argument(
        "--size", type=int, default=SIZE, metavar="N", help="what an open dimension becomes"
    )
    parser.add_argument(
        "--most-bytes", type=int, default=MOST_BYTES, metavar="N", help="of a node's tensors"
    )
    parser.add_argument(
        "--names", action="store_true", help="list the models by their paths, not by digests"
    )
    return parser


def write_counts(path: Path, found: Harvest, cases: Sequence[Case]) -> None:
    """The CSV beside the pack: how often each case's node stands in which model."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(sorted(found.occurrences(case.name for case in cases)))


def _told_names(paths: Sequence[Path], names: bool) -> dict[str, Path]:
    """Each model under its path as given, or a digest that its owner can make again."""
    if names:
        return {plain_text(path.as_posix(), FILE_NAME_LENGTH): path for path in paths}
    return {name_key(path).hex()[:DIGITS]: path for path in paths}


def _lines(found: Harvest, cases: Sequence[Case], out: Path) -> list[str]:
    lines = [f"{model}: not read. {why}" for model, why in found.refused.items()]
    counted = list(found.occurrences(case.name for case in cases))
    nodes = sum(count for _, _, count in counted)
    left = total_of(list(found.left.values()))
    lines += [f"left out, {count} nodes: {why}" for why, count in left.most_common()]
    for why in sorted(set(found.without_answer.values())):
        names = [name for name, one in found.without_answer.items() if one == why]
        lines.append(f"left out, {why}: {', '.join(sorted(names))}")
    if not cases:
        return [*lines, "No node was cut."]
    models = len({model for _, model, _ in counted})
    lines.append(f"{len(cases)} cases of {nodes} nodes in {models} models are in {out}.")
    lines.append(f"On the server: manage.py load_cases {out}")
    return lines
