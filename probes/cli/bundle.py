"""`python -m probes bundle`: the cases of a target in one file, for a board without a network."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from probes.bundle import write_bundle
from probes.cases.case import Case, CaseError, case_id, decode_case
from probes.cli.agent import open_client, server_arguments
from probes.client import Client, ClientError


def main(arguments: Sequence[str] | None = None) -> int:
    """0: the file is complete; 1: it is not there, with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m probes bundle", description=__doc__)
    server_arguments(parser)
    parser.add_argument("--target", required=True, metavar="DEVICE.RUNTIME")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FILE")
    asked = parser.parse_args(arguments)
    try:
        client = open_client(asked.server, asked.token_file, insecure=asked.insecure)
        found = client.get(f"bundles/{quote(asked.target, safe='')}/").json()
        count = write_bundle(asked.out, found["target"], fetch_cases(client, found["cases"]))
    except (ClientError, CaseError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{count} cases are in {asked.out}. On the board: python -m probes sweep --bundle "
          f"{asked.out.name} --out results.jsonl")  # fmt: skip
    return 0


def fetch_cases(client: Client, ids: Sequence[str]) -> Iterator[Case]:
    """Each case as the server has it; raises CaseError when its content has another id."""
    for name in ids:
        case = decode_case(client.get(f"cases/{name}/").body)
        if case_id(case.model, case.inputs) != name:
            raise CaseError(f"The server's case {name} has other content.")
        yield case
