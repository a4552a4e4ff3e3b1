"""Judge a model file against the local database: for CI jobs and the command line."""

import json
import sys
import traceback
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand

from compat.findings import Document, told_result
from compat.reports import Facts, choose_targets, judge_facts, plain_file_name, read_facts
from compat.targets import TargetError
from probes.judge.risk import reaches
from probes.judge.words import KINDS, LEVELS, RUNGS
from probes.model.refusals import ModelFileError

NOTHING_FOUND, FINDINGS, COULD_NOT_TELL = 0, 1, 2
FAIL_ON = ("red", "yellow", "unknown")
SHOWN_NODES = 8
SAID = ("level", "kind", "rung", "text", "detail_text", "advice_text")
TOTALS = ("red", "yellow", "green", "unknown", "free")


class Command(BaseCommand):
    help = (
        "Judge MODEL.onnx for targets. Exit 0: nothing at or above --fail-on; 1: findings; "
        "2: could not tell, because the file is unreadable or a target unknown."
    )
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", metavar="MODEL.onnx")
        parser.add_argument("--target", action="append", required=True, metavar="T")
        parser.add_argument("--format", choices=("text", "json"), default="text")
        parser.add_argument("--fail-on", choices=FAIL_ON, default="red")

    def handle(self, *args: Any, **options: Any) -> None:
        as_json = options["format"] == "json"
        try:
            told, facts = _judge(Path(options["model"]), options["target"])
        except TargetError as error:
            self._give_up("unknown_target", str(error), as_json)
        except ModelFileError as error:
            self._give_up(error.code, error.sentence, as_json)
        except Exception as error:  # noqa: BLE001 - a failure of ours must not read as "findings"
            traceback.print_exc(file=self.stderr)
            self._give_up("internal", f"The check itself failed: {error}", as_json)
        text = json.dumps({"targets": told}) if as_json else "\n".join(_lines(told, facts, options))
        self.stdout.write(text)
        levels = {finding["level"] for result in told for finding in result["findings"]}
        found = any(reaches(level, options["fail_on"]) for level in levels)
        sys.exit(FINDINGS if found else NOTHING_FOUND)

    def _give_up(self, code: str, sentence: str, as_json: bool) -> NoReturn:
        if as_json:
            self.stdout.write(json.dumps({"error": {"code": code, "detail": sentence}}))
        self.stderr.write(sentence)
        sys.exit(COULD_NOT_TELL)


def _judge(path: Path, names: Sequence[str]) -> tuple[list[Document], Facts]:
    asked = choose_targets(names)
    facts = read_facts(path)
    return [told_result(result, facts) for result in judge_facts(facts, asked)], facts


def _lines(told: Sequence[Document], facts: Facts, options: dict[str, Any]) -> Iterator[str]:
    opsets = ", ".join(f"{name} {number}" for name, number in facts["model"]["opsets"].items())
    yield f"{plain_file_name(options['model'])}: {len(facts['nodes'])} nodes, {opsets}"
    for result in told:
        totals = ", ".join(f"{result['totals'][word]} {word}" for word in TOTALS)
        yield f"\n{result['id']}: {result['level']} (nodes: {totals})"
        for group in _alike(result["findings"]):
            yield from _group_lines(group)


def _alike(findings: Sequence[Document]) -> list[list[Document]]:
    """What is not green, those together that say the same of one operator in other sizes."""
    groups: dict[tuple[object, ...], list[Document]] = {}
    for finding in findings:
        if finding["level"] != "green":
            key = (*finding["operator"], *map(finding.get, SAID))
            groups.setdefault(key, []).append(finding)
    return list(groups.values())


def _group_lines(group: Sequence[Document]) -> Iterator[str]:
    first = group[0]
    count = sum(len(finding["nodes"]) for finding in group)
    names = [name for finding in group for name in finding["node_names"]][:SHOWN_NODES]
    operator = first["operator"][1] or "the model"
    times = f" x{count}" if count > 1 else ""
    symbol = LEVELS[first["level"]].symbol
    yield f"  {symbol} {first['level']:<7} {operator}{times}: {first['text']}"
    if first["detail_text"]:
        yield f"      {first['detail_text']}"
    yield f"      evidence: {KINDS[first['kind']]}; {RUNGS[first['rung']].word}"
    if names:
        more = f" and {count - len(names)} more" if count > len(names) else ""
        yield f"      at: {', '.join(names)}{more}"
    if first["advice_text"]:
        yield f"      {first['advice_text']}"
