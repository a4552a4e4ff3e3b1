"""Results documents: what a target's probes found, written to a file and read back elsewhere."""

import hashlib
import json
import lzma
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, cast

from django.db.models import Q, QuerySet

from compat.cells import rebuild_cells
from compat.fleet import ensure_target
from compat.headers import (
    LONGEST_NAME,
    LONGEST_TITLE,
    ExchangeError,
    Header,
    check_header,
    check_result,
    document_date,
    known_capabilities,
)
from compat.models import Case, Device, Environment, Loaded, Probe, ProbeLog, Target
from compat.recording import open_record, record_many
from probes.run.outcome import RESULTS_KIND, SCHEMA, Latency, Outcome, Placement, ProbeResult, Stage

__all__ = [
    "LONGEST_NAME",
    "ExchangeError",
    "Header",
    "Loading",
    "document_date",
    "document_key",
    "export_evidence",
    "is_loaded",
    "load_evidence",
    "parse_documents",
    "read_documents",
    "recorded_target",
]

RECORDED = "-recorded"
POSITION = 90  # after this machine and the documented columns
BATCH = 1000
DAMAGES = (lzma.LZMAError, EOFError, UnicodeDecodeError)  # while a file is read


class Loading(NamedTuple):
    """What one file brought; `unknown` results name cases that this catalogue does not have."""

    path: Path
    new: int
    known: int
    unknown: int


def export_evidence(*, target: Target, path: Path) -> int:
    """Write the newest result of every case of a target; returns how many.

    xz-compressed JSON lines: a header, then a result a line; a new header for each environment.
    """
    count = 0
    with lzma.open(path, "wt", encoding="utf-8", preset=9) as file:
        for environment in _environments(target):
            probes = _exported(target, environment)
            file.write(json.dumps(_header(target, environment, probes), sort_keys=True) + "\n")
            for probe in probes.iterator(chunk_size=BATCH):
                file.write(_result(probe, target).to_json() + "\n")
                count += 1
    return count


def load_evidence(path: Path) -> Loading:
    """Store a file's results as those of a recorded device; again, it changes nothing.

    Raises ExchangeError for a file that is not a results document; what was stored before the
    place that is broken is judged, and the whole file can be loaded later.
    """
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    name = f"evidence {path.name}"
    new = known = unknown = 0
    for header, results in read_documents(path):
        target = recorded_target(header)
        sweep = open_record(target=target, key=document_key(header), at=document_date(header))
        cases = set(Case.objects.values_list("pk", flat=True))
        try:
            while batch := list(islice(results, BATCH)):
                usable = [result for result in batch if result.case_id in cases]
                done = record_many(
                    target=target, environment=header["environment"], results=usable, sweep=sweep
                )
                new, known = new + done.new, known + done.known
                unknown += len(batch) - len(usable)
        finally:
            rebuild_cells(column=target.column)
    Loaded.objects.update_or_create(name=name, defaults={"digest": digest})
    return Loading(path, new, known, unknown)


def is_loaded(path: Path) -> bool:
    """Whether exactly this file was loaded before."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Loaded.objects.filter(name=f"evidence {path.name}", digest=digest).exists()


def read_documents(path: Path) -> Iterator[tuple[Header, Iterator[ProbeResult]]]:
    """Each document of a file, plain or .xz: its header, and its results until the next one."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as file:
        found = False
        for document in parse_documents(cast(Iterable[str], file), path.name):
            found = True
            yield document
    if not found:
        raise ExchangeError(f"{path.name} holds no results document")


def parse_documents(
    lines: Iterable[str], name: str
) -> Iterator[tuple[Header, Iterator[ProbeResult]]]:
    """Each document of some lines; `name` tells people where they are from."""
    ahead = _Lines(lines, name)
    while header := ahead.header():
        results = ahead.results()
        yield header, results
        for _ in results:  # what the caller did not read
            pass


def recorded_target(header: Header) -> Target:
    """The target of a document, on a device of its own: never the machine that loads it.

    A simulation speaks for the same device wherever it ran. Raises ExchangeError when the document
    says too little, or clashes with a known column.
    """
    named = header["target"]
    if (simulated := _simulated_device(header)) is not None:
        return _ensure_target(simulated, header)
    slug = named["device"].removesuffix(RECORDED) + RECORDED
    if len(slug) > LONGEST_NAME or not {"device_title", "device_class"} <= named.keys():
        raise ExchangeError("a results document whose device has no title, class or short name")
    title = named["device_title"].partition(" (recorded sweep")[0]
    recorded = f" (recorded sweep {document_date(header).date()})"
    device, _ = Device.objects.get_or_create(
        slug=slug,
        defaults={
            "title": title[: LONGEST_TITLE - len(recorded)] + recorded,
            "device_class": named["device_class"],
            "origin": "recorded",
            "facts": named.get("device_facts", {}),
            "confidence": "measured",
            "source": "recorded sweep",
        },
    )
    return _ensure_target(device, header)


def _simulated_device(header: Header) -> Device | None:
    """The device of the catalogue that a vendor's toolchain spoke for on some host."""
    if (known_capabilities(header) or {}).get("evidence") != "simulated":
        return None
    return Device.objects.filter(slug=header["target"]["device"], origin="catalogue").first()


def _ensure_target(device: Device, header: Header) -> Target:
    named = header["target"]
    try:
        return ensure_target(
            device=device,
            runtime=named["runtime"],
            version=named["runtime_version"],
            config_name=named["config_name"],
            config=named["config"],
            capabilities=known_capabilities(header),
            position=POSITION,
        )
    except ValueError as error:
        raise ExchangeError(str(error)) from error


class _Lines:
    """The lines of a file, one ahead, so that a header ends the results before it."""

    def __init__(self, lines: Iterable[str], name: str) -> None:
        self.lines, self.name = iter(lines), name
        self.ahead = self._next()

    def header(self) -> Header | None:
        found = self.ahead
        if found is None:
            return None
        self.ahead = self._next()
        check_header(found, self.name)
        return found

    def results(self) -> Iterator[ProbeResult]:
        while self.ahead is not None and "kind" not in self.ahead:
            try:
                result = ProbeResult.from_json(self.ahead)
            except ValueError as error:
                raise ExchangeError(f"{self.name} has a broken result: {error}") from error
            check_result(result, self.name)
            yield result
            self.ahead = self._next()

    def _next(self) -> dict[str, Any] | None:
        try:
            line = next(self.lines, None)
        except DAMAGES as error:
            raise ExchangeError(f"{self.name} is damaged: {error}") from error
        if line is None:
            return None
        try:
            document = json.loads(line, parse_constant=_refuse_constant)
        except RecursionError:
            raise ExchangeError(f"{self.name} nests its JSON too deeply") from None
        except ValueError as error:
            raise ExchangeError(f"{self.name} is not JSON lines: {error}") from error
        if not isinstance(document, dict):
            raise ExchangeError(f"{self.name} is not a results document")
        return document


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not in JSON")


def _environments(target: Target) -> list[Environment]:
    used = Probe.objects.filter(target=target, latest=True).values("environment")
    return list(Environment.objects.filter(pk__in=used).order_by("pk"))


def _exported(target: Target, environment: Environment) -> QuerySet[Probe]:
    probes = Probe.objects.filter(target=target, latest=True, environment=environment)
    # What was not asked, for there is no such form of the case, is no result.
    probes = probes.exclude(~Q(form="as_is"), outcome=Outcome.UNAVAILABLE)
    return probes.select_related("log").order_by("case__name", "form")


def _header(target: Target, environment: Environment, probes: QuerySet[Probe]) -> Header:
    column, device = target.column, target.column.device
    newest = probes.order_by("-finished_at").values_list("finished_at", flat=True).first()
    return {
        "schema": SCHEMA,
        "kind": RESULTS_KIND,
        "date": newest.isoformat() if newest else "",
        "environment": environment.facts,
        "target": {
            "device": device.slug,
            "device_title": device.title,
            "device_class": device.device_class,
            "device_facts": device.facts,
            "runtime": column.runtime,
            "runtime_version": target.runtime_version,
            "config_name": column.config_name,
            "config": column.config,
            "capabilities": target.capabilities,
        },
    }


def document_key(header: Header) -> str:
    """What makes a document the same one again."""
    return json.dumps(header, sort_keys=True)


def _result(probe: Probe, target: Target) -> ProbeResult:
    log: ProbeLog | None = getattr(probe, "log", None)
    seconds = probe.seconds or 0.0
    finished = probe.finished_at.timestamp() if probe.finished_at else 0.0
    return ProbeResult(
        case_id=probe.case_id,
        form=probe.form,
        target=target.slug,
        outcome=Outcome(probe.outcome),
        stage=Stage(probe.stage) if probe.stage else None,
        message=probe.message,
        log=log.text if log else "",
        runtime_version=target.runtime_version,
        placement=Placement(probe.placement),
        placement_detail=log.placement_detail if log else "",
        max_abs=probe.max_abs,
        max_rel=probe.max_rel,
        max_ulp=probe.max_ulp,
        cosine=probe.cosine,
        bit_exact=probe.bit_exact,
        latency=Latency.from_dict(log.latency) if log and log.latency else None,
        peak_memory_bytes=probe.peak_memory_bytes,
        signal=probe.signal,
        confirmed=probe.confirmed,
        seconds=seconds,
        started_at=finished - seconds,
        environment=probe.environment_id or "",
    )
