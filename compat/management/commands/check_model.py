"""Judge a model file against the local database: for CI jobs and the command line."""

import json
import sys
import traceback
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand

from compat.reports import Facts, choose_targets, judge_facts, read_facts
from compat.targets import TargetError
from probes.judge.told import Document, any_found, report_lines, told_result
from probes.model.plain import plain_file_name
from probes.model.refusals import ModelFileError

NOTHING_FOUND, FINDINGS, COULD_NOT_TELL = 0, 1, 2
FAIL_ON = ("red", "yellow", "unknown")


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
        name, opsets = plain_file_name(options["model"]), facts["model"]["opsets"]
        lines = report_lines(told, file_name=name, opsets=opsets)
        self.stdout.write(json.dumps({"targets": told}) if as_json else "\n".join(lines))
        sys.exit(FINDINGS if any_found(told, options["fail_on"]) else NOTHING_FOUND)

    def _give_up(self, code: str, sentence: str, as_json: bool) -> NoReturn:
        if as_json:
            self.stdout.write(json.dumps({"error": {"code": code, "detail": sentence}}))
        self.stderr.write(sentence)
        sys.exit(COULD_NOT_TELL)


def _judge(path: Path, names: Sequence[str]) -> tuple[list[Document], Facts]:
    asked = choose_targets(names)
    facts = read_facts(path)
    return [told_result(result, facts) for result in judge_facts(facts, asked)], facts
