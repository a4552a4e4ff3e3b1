"""Judge a model against a server's evidence: only its facts are sent, its weights stay here."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probes.client import BadAnswer, Client, ClientError, Refused, TimeIsUp, travels_openly
from probes.judge.told import any_found, named_again, report_lines
from probes.model.hidden import hide_names, name_key
from probes.model.plain import plain_document, plain_file_name
from probes.model.refusals import ModelFileError
from probes.multipart import Form
from probes.run.analyse import facts_of

NOTHING_FOUND, FINDINGS, COULD_NOT_TELL = 0, 1, 2
FAIL_ON = ("red", "yellow", "unknown")
SECONDS = 120.0
ANSWER_SECONDS = 60.0  # a server may take this long over a large file before it answers
POLL_SECONDS = 2.0
SENTENCE = 4_000  # characters of one text in a server's answer that are shown

OPEN_WAY = (
    "Warning: {server} is not encrypted, so others on the way can read the token. "
    "Give an https address."
)

Document = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """0: nothing at or above --fail-on; 1: findings; 2: could not tell."""
    asked = make_parser().parse_args(arguments)
    try:
        report = check(asked)
        lines = [json.dumps(report)] if asked.format == "json" else told_lines(report, asked)
        found = any_found(report["targets"], asked.fail_on)
    except ModelFileError as error:
        return give_up(asked, error.code, error.sentence)
    except ClientError as error:
        return give_up(asked, code_of(error), sentence_of(error))
    except Exception as error:  # noqa: BLE001 - a failure of ours must not read as "findings"
        traceback.print_exc()
        return give_up(asked, "internal", f"The check itself failed: {error!r}")
    print("\n".join(lines))
    return FINDINGS if found else NOTHING_FOUND


def make_parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m probes check",
        description=__doc__,
        epilog="Exit status: 0 nothing at or above --fail-on; 1 findings on a target that was "
        "asked for; 2 could not tell.",
    )
    parser.add_argument("model", metavar="MODEL.onnx", type=Path)
    parser.add_argument("--server", required=True, metavar="URL")
    parser.add_argument("--target", action="append", required=True, metavar="T")
    parser.add_argument("--fail-on", choices=FAIL_ON, default="red")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--token-file", type=Path, metavar="F", help="or OPATLAS_TOKEN is set")
    sent = parser.add_mutually_exclusive_group()
    sent.add_argument("--hash-names", action="store_true", help="send digests in place of names")
    sent.add_argument("--upload", action="store_true", help="send the file itself")
    parser.add_argument("--timeout", type=float, default=SECONDS, metavar="S", help="in all")
    return parser


def check(asked: argparse.Namespace) -> Document:
    """{"targets", "model", "page"}: the findings on the targets, with the names of this file."""
    end = time.monotonic() + asked.timeout
    token = read_token(asked.token_file)
    client = Client(asked.server, token, timeout=ANSWER_SECONDS, limit=asked.timeout)
    if token and travels_openly(client.server):
        print(OPEN_WAY.format(server=client.server), file=sys.stderr)
    if asked.upload:
        return shown(ready(client, upload(client, asked), end))
    facts = plain_document(facts_of(asked.model, seconds=asked.timeout))
    client.limit = max(end - time.monotonic(), 1.0)
    report = shown(ready(client, send_facts(client, asked, facts), end))
    return {**report, "targets": [named_again(result, facts) for result in report["targets"]]}


def send_facts(client: Client, asked: argparse.Namespace, facts: Document) -> Any:
    """The server's report of the facts, without names where they are to be hidden."""
    name = plain_file_name(str(asked.model))
    if asked.hash_names:
        name, facts = "", hide_names(facts, name_key(asked.model))
    question = {"facts": facts, "targets": asked.target, "file_name": name}
    return client.post_json("reports/", question).json()


def upload(client: Client, asked: argparse.Namespace) -> Any:
    """The server's report of the file."""
    name = plain_file_name(str(asked.model))
    fields = [("target", target) for target in asked.target]
    form = Form(fields, file_field="model", file_name=name, path=asked.model)
    try:
        headers = form.headers()
        form.open().close()
    except OSError as error:
        raise ModelFileError("unreadable", detail=error.strerror or str(error)) from error
    return client.send("POST", "reports/", form.open, headers).json()


def ready(client: Client, report: Any, end: float) -> Any:
    """The report once the server has finished it."""
    while isinstance(report, dict) and report.get("state") == "queued":
        if time.monotonic() + POLL_SECONDS > end:
            raise TimeIsUp("The report is not ready yet; try again with a larger --timeout.")
        time.sleep(POLL_SECONDS)
        report = client.get(f"reports/{report['token']}/").json()
    return report


def shown(report: Any) -> Document:
    """What is used of the answer, fit for a terminal; BadAnswer when it is no finished report."""
    plain = plain_document(report, SENTENCE)
    try:
        if plain["state"] != "ready":
            raise BadAnswer(f"The server could not judge the model: its state is {plain['state']}.")
        found = {name: plain[name] for name in ("targets", "model", "page")}
        list(report_lines(found["targets"], file_name="", opsets=found["model"]["opsets"]))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise BadAnswer(
            "The server's answer is no report of this version: install the opatlas-probes of "
            "the server's version, and check the address."
        ) from error
    return found


def told_lines(report: Document, asked: argparse.Namespace) -> list[str]:
    """The report as text, and where people read it."""
    name, opsets = plain_file_name(str(asked.model)), report["model"]["opsets"]
    lines = report_lines(report["targets"], file_name=name, opsets=opsets)
    return [*lines, f"\nReport: {report['page']}"]


def read_token(path: Path | None) -> str:
    """The bearer token from a file or the environment; never from the command line."""
    if path is None:
        return os.environ.get("OPATLAS_TOKEN", "").strip()
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise ClientError(f"The token file {path} cannot be read: {error}.") from error
    if not token.isprintable() or len(token.split()) != 1:
        raise ClientError(f"The token file {path} must hold one token and nothing else.")
    return token


def code_of(error: ClientError) -> str:
    """The server's own code, or the kind of the failure."""
    return error.code if isinstance(error, Refused) else type(error).__name__


def sentence_of(error: ClientError) -> str:
    """The sentence, with where a token goes when one is asked for."""
    if isinstance(error, Refused) and error.status in (401, 403):
        return f"{error} Give a token in OPATLAS_TOKEN or by --token-file."
    return str(error)


def give_up(asked: argparse.Namespace, code: str, sentence: str) -> int:
    """Say why on standard error, and as JSON where that was asked for."""
    sentence = plain_document(sentence, SENTENCE)
    if asked.format == "json":
        print(json.dumps({"error": {"code": code, "detail": sentence}}))
    print(sentence, file=sys.stderr)
    return COULD_NOT_TELL
