"""A bundle: the cases of a target in one file, for a board without a network."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from probes.cases.case import Case, CaseError, case_id, case_of_frame, encode_case
from probes.cases.forms import forms_for
from probes.model import frames
from probes.outbox import ResultsFile, read_document, results_header
from probes.run.registry import RUNTIMES
from probes.run.requests import ProbeRequest
from probes.run.sandbox import Sandbox

KIND, SCHEMA = "opatlas-bundle", 1
HEAD = {"device", "runtime", "config_name", "config"}
EFFORT = 1  # most of it is random numbers: a harder try takes minutes and saves little
Target = dict[str, Any]


def write_bundle(path: Path, target: Mapping[str, Any], cases: Iterable[Case]) -> int:
    """Write target and cases as one gzip file of frames; returns how many cases."""
    count = 0
    part = path.with_name(path.name + ".part")
    with gzip.open(part, "wb", compresslevel=EFFORT) as out:
        out.write(frames.encode({"kind": KIND, "schema": SCHEMA, "target": dict(target)}))
        for case in cases:
            out.write(encode_case(case))
            count += 1
    part.replace(path)
    return count


def read_bundle(path: Path) -> Iterator[Target | Case]:
    """The target, then the cases, each checked against its id; raises CaseError."""
    with gzip.open(path, "rb") as file:
        stream = cast(BinaryIO, file)
        try:
            first = frames.read(stream)
            if first is None or first[0].get("kind") != KIND or first[0].get("schema") != SCHEMA:
                raise CaseError(f"{path} is no bundle of schema {SCHEMA}")
            yield dict(first[0]["target"])
            while frame := frames.read(stream):
                case = case_of_frame(*frame)
                if case_id(case.model, case.inputs) != case.id:
                    raise CaseError(f"a case of {path} does not have the id {case.id}")
                yield case
        except (gzip.BadGzipFile, zlib.error, EOFError, frames.FrameError) as error:
            raise CaseError(f"{path} is no bundle, or damaged: {error}") from error


def sweep_bundle(path: Path, out: Path, *, heard: Callable[[int], None] = lambda _: None) -> int:
    """Probe the cases of a bundle into a results file; returns how many results it gained.

    A file that is there already is gone on with. Raises CaseError for what is no bundle,
    StartError when the runtime does not start here, or no more.
    """
    parts = read_bundle(path)
    target = cast(Target, next(parts))
    if not target.keys() >= HEAD or target["runtime"] not in RUNTIMES:
        raise CaseError(f"{path} is for {target.get('runtime')}, which this release does not know")
    column = "{device}.{runtime}.{config_name}".format(**target)
    with Sandbox(target["runtime"], target["config"], target=column) as sandbox:
        version, environment = sandbox.describe()
        stamps = sandbox.capabilities()
        named = {**target, "runtime_version": version, "capabilities": stamps.to_dict()}
        sandbox.target = f"{column}@{version}"
        header, done = _earlier(out)
        if header and (header["environment"], header["target"]) != (environment, named):
            raise CaseError(f"{out} holds results of another run: move it away first")
        requests = (
            ProbeRequest(case, form)
            for case in cast(Iterator[Case], parts)
            for form in forms_for(case, stamps)
            if (case.id, form) not in done
        )
        file = ResultsFile(out, header or results_header(named, environment))
        count = 0
        try:
            for result in sandbox.run_many(requests):
                sandbox.check(result)
                file.append(result)
                count += 1
                heard(count)
        finally:
            file.close()
    return count


def _earlier(out: Path) -> tuple[dict[str, Any], set[tuple[str, str]]]:
    """The header of an unfinished results file and what it has."""
    if not out.exists() or not out.stat().st_size:
        return {}, set()
    header, lines = read_document(out)
    if not header:
        raise CaseError(f"{out} is there already and is no results file: choose another name")
    results = map(json.loads, lines)
    return header, {(result["case_id"], result["form"]) for result in results}
