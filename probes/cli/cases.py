"""What the shipped cases cover, an operator after the other."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from probes.cases import origins
from probes.cases.catalogue import read_pack
from probes.cases.figures import Figures, Line, figures_of, line_of, text_of
from probes.cases.variants.generate import all_plans, make_variant
from probes.cases.variants.pairwise import Coverage

FOLDER = Path("fixtures/cases")


def all_figures(folder: Path, operator: str = "") -> Iterator[Figures]:
    """Of every operator that has a case in the packs and lists of a folder, by domain and name."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in _lines(folder):
        if operator in ("", line.op):
            groups.setdefault((line.domain, line.op), []).append(line)
    pairs = _pairs({line.name for lines in groups.values() for line in lines}, operator)
    for key, lines in sorted(groups.items()):
        yield figures_of(lines, pairs.get(key, Coverage(0, 0)))


def _lines(folder: Path) -> Iterator[Line]:
    for pack in sorted(folder.glob("*.pack.xz")):
        yield from map(line_of, read_pack(pack))
    with (folder / "mainstream.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            domain, _, op = row["operator"].rpartition(".")
            origin = row["name"].partition("/")[0]
            yield Line(row["name"], domain, op, 0, origin, row["oracles_agree"], {})


def _pairs(names: set[str], operator: str) -> dict[tuple[str, str], Coverage]:
    """Over all versions of an operator, of the variants that became cases."""
    found: dict[tuple[str, str], Coverage] = {}
    for plan in all_plans(operator):
        made = [(values, make_variant(plan, values)) for values in plan.chosen]
        kept = [values for values, variant in made if variant and variant.name in names]
        covered, possible = plan.coverage(kept)
        before = found.get((plan.spec.domain, plan.op), Coverage(0, 0))
        total = Coverage(before.covered + covered, before.possible + possible)
        found[plan.spec.domain, plan.op] = total
    return found


def _summary(every: Sequence[Figures]) -> str:
    with_variants = [each for each in every if origins.VARIANT in each.origins]
    count = sum(sum(each.origins.values()) for each in every)
    variants = sum(each.origins[origins.VARIANT] for each in with_variants)
    covered = sum(each.pairs.covered for each in every)
    possible = sum(each.pairs.possible for each in every)
    return (
        f"{count} cases of {len(every)} operators; {variants} variants of {len(with_variants)}, "
        f"{covered} of {possible} pairs of values."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures of one operator or of all."""
    parser = argparse.ArgumentParser(prog="python -m probes cases", description=__doc__)
    parser.add_argument("--stats", action="store_true", help="cases, dimensions, pairs, oracles")
    parser.add_argument("--operator", default="", help="of this operator alone, such as Resize")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the packs lie")
    asked = parser.parse_args(arguments)
    every = list(all_figures(asked.folder, asked.operator))
    if not every:
        print(f"no case of {asked.operator or 'any operator'} in {asked.folder}")
        return 1
    if asked.stats or asked.operator:
        print(*map(text_of, every), sep="\n")
    print(_summary(every))
    return 0
