"""What a release does once: the node pack with both oracles' word, the list of built cases."""

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
    write_pack,
)
from probes.cases.forms import forms_for
from probes.run.outcome import Outcome, ProbeResult
from probes.run.sandbox import Limits, ProbeRequest, Sandbox

ORACLES = ("onnxruntime-cpu", "reference")
SECONDS = 60.0
AGREEING = (Outcome.PASSED, Outcome.CLOSE)
ANOTHER_ANSWER = (Outcome.MISMATCH, Outcome.WRONG_SHAPE)
WORDS = {0: "none", 1: "one", 2: "both"}
COLUMNS = ("name", "id", "operator", "oracles_agree", "citation")


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
    rows = [
        (case.name, case.id, f"{case.domain}.{case.op_type}", case.oracles_agree, case.citation)
        for case in cases
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    return len(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """node-pack OUT | mainstream-list OUT"""
    parser = argparse.ArgumentParser(prog="python -m probes.cli.build_cases", description=__doc__)
    parser.add_argument("what", choices=("node-pack", "mainstream-list"))
    parser.add_argument("out", type=Path)
    asked = parser.parse_args(arguments)
    if asked.what == "node-pack":
        count = write_pack(asked.out, with_agreement(node_cases()))
    else:
        count = write_list(asked.out, chain(mainstream_cases(), alternative_cases()))
    print(f"{count} cases in {asked.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
