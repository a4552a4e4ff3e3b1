"""What a release does once: node packs with both oracles' word, the list of built cases."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from probes.cases.case import Case
from probes.cases.catalogue import (
    alternative_cases,
    mainstream_cases,
    node_cases,
    pattern_cases,
    read_pack,
    write_pack,
)
from probes.cases.forms import forms_for
from probes.cases.graphs import OTHER_GRAPH, Graph, graph_of, write_graphs
from probes.cases.node_files import names_beside, new_among, older_cases, plain_name
from probes.cases.variants.generate import all_variants
from probes.cli.variants import built_variants, write_names
from probes.run.outcome import Outcome, ProbeResult
from probes.run.sandbox import Limits, ProbeRequest, Sandbox

ORACLES = ("onnxruntime-cpu", "reference")
SECONDS = 60.0
AGREEING = (Outcome.PASSED, Outcome.CLOSE)
ANOTHER_ANSWER = (Outcome.MISMATCH, Outcome.WRONG_SHAPE)
WORDS = {0: "none", 1: "one", 2: "both"}
COLUMNS = ("name", "id", "operator", "oracles_agree", "citation")
VARIANTS = Path("fixtures/cases/variants.pack.xz")
TEST_COLUMNS = ("test", "id", "case")


def oracle_results(cases: Sequence[Case], oracle: str) -> dict[str, ProbeResult]:
    """What one oracle makes of each case (by name), restamped where only the stamps are too new."""
    found: dict[str, ProbeResult] = {}
    with Sandbox(oracle, limits=Limits(seconds=SECONDS), latency=False) as sandbox:
        stamps = sandbox.capabilities()
        for form in ("as_is", "restamped"):
            asked = [
                case
                for case in cases
                if form in forms_for(case, stamps)
                and (case.name not in found or found[case.name].outcome not in AGREEING)
            ]
            answers = {}
            for result in sandbox.run_many(ProbeRequest(case, form) for case in asked):
                answers[result.case_id] = result
            found.update(
                (case.name, answers[case.id])
                for case in asked
                if form == "as_is" or answers[case.id].outcome in AGREEING
            )
    return found


def with_agreement(cases: Iterable[Case]) -> Iterator[Case]:
    """Node tests with `oracles_agree` filled in from a run of both oracles.

    A node test's expected outputs and the reference evaluator are of one hand: where ONNX Runtime
    runs it and answers otherwise, it is one word against another, "disputed".
    """
    kept = list(cases)
    results = [oracle_results(kept, oracle) for oracle in ORACLES]
    for case in kept:
        outcomes = [answers[case.name].outcome for answers in results]
        yield replace(case, oracles_agree=agreement(outcomes))


def agreement(outcomes: Sequence[Outcome]) -> str:
    """both, one, none, or disputed: one agrees and the other gives another answer."""
    word = WORDS[sum(outcome in AGREEING for outcome in outcomes)]
    if word == "one" and any(outcome in ANOTHER_ANSWER for outcome in outcomes):
        return "disputed"
    return word


def write_list(path: Path, cases: Iterable[Case]) -> int:
    """The CSV by which a server checks that it builds the cases of this release."""
    return _write_csv(
        path,
        COLUMNS,
        (
            (case.name, case.id, f"{case.domain}.{case.op_type}", case.oracles_agree, case.citation)
            for case in cases
        ),
    )


def write_older(out: Path, *, tests: Path, release: str, newest: Path) -> int:
    """The tests of an older onnx: a pack of those that `newest` lacks, a CSV that names all.

    The CSV lies beside the pack: the test's name as onnx has it, the id, and the case of this
    content, be it another's.
    """
    known: dict[str, str] = {}
    for _ in new_among(read_pack(newest), known):
        pass
    older = list(older_cases(tests, release))
    count = write_pack(out, with_agreement(new_among(older, known)))
    rows = ((plain_name(case.name), case.id, known[case.id]) for case in older)
    _write_csv(names_beside(out), TEST_COLUMNS, rows)
    return count


def write_patterns(out: Path) -> int:
    """The pack, and beside it a CSV of what each pattern consists of."""
    cases = list(with_agreement(pattern_cases()))
    write_graphs(names_beside(out), map(graph_of, cases))
    return write_pack(out, cases)


def write_modules(out: Path) -> int:
    """The pack, and beside it a CSV of every attempt to export: the operators, or the error."""
    from probes.cli.modules.export import export_modules

    exported = list(export_modules())
    cases = list(with_agreement(each.case for each in exported if each.case))
    sound = [case for case in cases if case.oracles_agree != "none"]
    write_graphs(names_beside(out), sound_graphs((each.graph for each in exported), sound))
    return write_pack(out, sound)


def sound_graphs(graphs: Iterable[Graph], sound: Iterable[Case]) -> Iterator[Graph]:
    """Graphs whose cases are `sound` as they are; of others that the answer is another."""
    names = {case.name for case in sound}
    for graph in graphs:
        wrong = graph.case and graph.case not in names
        yield replace(graph, case="", error=OTHER_GRAPH) if wrong else graph


def write_variants(out: Path, operator: str = "") -> int:
    """The pack of the variants, and beside it the CSV of their names and ids."""
    cases = list(built_variants(all_variants(operator)))
    write_names(names_beside(out), cases)
    return write_pack(out, cases)


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> int:
    lines = list(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(lines)
    return len(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m probes.cli.build_cases", description=__doc__)
    kinds = parser.add_subparsers(dest="what", required=True)
    for name, told in (
        ("node-pack", "the tests of the installed onnx"),
        ("mainstream-list", "names and ids of the mainstream cases"),
        ("older-node-pack", "the tests of an older onnx, from the files of its wheel"),
        ("patterns", "several nodes that models contain as one thing"),
        ("modules", "torch.nn modules by both exporters; needs torch and onnxscript"),
    ):
        kinds.add_parser(name, help=told).add_argument("out", type=Path)
    variants = kinds.add_parser("variants", help="the forms that schemas allow, and their names")
    variants.add_argument("out", type=Path, nargs="?", default=VARIANTS)
    variants.add_argument("--operator", default="", help="of this operator alone, to look at")
    older = kinds.choices["older-node-pack"]
    older.add_argument("--tests", type=Path, required=True, help="onnx/backend/test/data/node")
    older.add_argument("--release", required=True, help="1.15.0")
    older.add_argument("--newest", type=Path, required=True, help="the pack of the installed onnx")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """What to build, and where to write it."""
    asked = _parser().parse_args(arguments)
    if asked.what == "node-pack":
        count = write_pack(asked.out, with_agreement(node_cases()))
    elif asked.what == "patterns":
        count = write_patterns(asked.out)
    elif asked.what == "modules":
        count = write_modules(asked.out)
    elif asked.what == "older-node-pack":
        count = write_older(
            asked.out, tests=asked.tests, release=asked.release, newest=asked.newest
        )
    elif asked.what == "variants":
        count = write_variants(asked.out, asked.operator)
    else:
        count = write_list(asked.out, chain(mainstream_cases(), alternative_cases()))
    print(f"{count} cases in {asked.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
