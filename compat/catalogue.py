"""Fill the catalogue from what ships: operators, devices, columns, documented claims, cases."""

import csv
import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import onnx
import onnx.defs
from django.conf import settings
from django.db import transaction

from compat import casebook, cells, documented, graphs, harvested
from compat.models import Column, Device, Loaded, Operator
from probes import judge

CONTRIB = settings.FIXTURES_DIR / "operators_contrib.csv"
DEVICES = settings.FIXTURES_DIR / "devices.csv"
COLUMNS = settings.FIXTURES_DIR / "columns.csv"
JETPACK = settings.FIXTURES_DIR / "jetpack.csv"
DEVICE_FIELDS = ("title", "vendor", "device_class", "confidence", "source")
NUMBERS = ("memory_gb", "bandwidth_gbs", "compute_capability")

Say = Callable[[str], None]


def load_catalogue(say: Say = lambda _: None) -> list[str]:
    """Load every part whose files changed since the last time; returns the parts loaded.

    `say` hears one sentence before each part that takes a moment.
    """
    loaded = [name for name, files, load in PARTS if _load_part(name, files, load, say)]
    if not casebook.is_complete() and "cases" not in loaded:
        say("Restoring the cases that are missing from the case folder.")
        casebook.load_cases()
        loaded.append("cases")
    if set(loaded) - {"operators"}:
        cells.rebuild_every_column()
    return loaded


def _load_part(
    name: str, files: Callable[[], Iterable[Path]], load: Callable[[], Any], say: Say
) -> bool:
    digest = _digest(files())
    if Loaded.objects.filter(name=name, digest=digest).exists():
        return False
    say(f"Loading {name}.")
    load()
    Loaded.objects.update_or_create(name=name, defaults={"digest": digest})
    return True


def _digest(files: Iterable[Path]) -> str:
    """Of the onnx version (the operators come from it) and every file's name and content."""
    digest = hashlib.sha256(onnx.__version__.encode())
    for path in files:
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def load_operators() -> None:
    """Every operator of every domain that onnx knows, the contrib ones that documents name, and
    the graphs that have rows of their own."""
    rows = [*_onnx_operators(), *_contrib_operators(), *graphs.graph_operators()]
    Operator.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["domain", "name"],
        update_fields=["kind", "since_versions", "deprecated_at"],
    )


def _onnx_operators() -> list[Operator]:
    since: dict[tuple[str, str], dict[int, bool]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        versions = since.setdefault((schema.domain or "ai.onnx", schema.name), {})
        versions[schema.since_version] = schema.deprecated
    return [
        Operator(
            domain=domain,
            name=name,
            since_versions=sorted(versions),
            deprecated_at=max(versions) if versions[max(versions)] else None,
        )
        for (domain, name), versions in sorted(since.items())
    ]


def _contrib_operators() -> list[Operator]:
    mentioned = {(row["domain"], row["op_type"]) for row in documented.read_rows()}
    return [
        Operator(
            domain=row["domain"],
            name=row["name"],
            kind="contrib",
            since_versions=[int(version) for version in row["since_versions"].split()],
        )
        for row in read_csv(CONTRIB)
        if (row["domain"], row["name"]) in mentioned
    ]


def load_devices() -> None:
    """Devices with the facts that were seen, and the columns that the matrix shows for them."""
    jetpack = read_csv(JETPACK)
    with transaction.atomic():
        for row in read_csv(DEVICES):
            facts = device_facts(row)
            if row["device_class"] == "jetson_orin":
                facts["jetpack"] = [{k: v for k, v in each.items() if v} for each in jetpack]
            defaults = {name: row[name] for name in DEVICE_FIELDS} | {"facts": facts}
            Device.objects.update_or_create(slug=row["slug"], defaults=defaults)
        for row in read_csv(COLUMNS):
            _load_column(row)


def device_facts(row: dict[str, str]) -> dict[str, Any]:
    """What was seen of a device; an empty field was not seen and stays absent."""
    own = {"slug", *DEVICE_FIELDS}
    return {
        name: float(value) if name in NUMBERS else value
        for name, value in row.items()
        if value and name not in own
    }


def _load_column(row: dict[str, str]) -> None:
    Column.objects.update_or_create(
        slug=f"{row['device']}.{row['runtime']}.{row['config_name']}",
        defaults={
            "device": Device.objects.get(slug=row["device"]),
            "runtime": row["runtime"],
            "config_name": row["config_name"],
            "config": json.loads(row["config"]),
            "position": int(row["position"]),
            "shown": row["shown"] == "1",
        },
    )


def case_files() -> list[Path]:
    return [*casebook.files(), *harvested.files()]


def load_cases() -> None:
    """Every case that ships, and how often the nodes of real models among them occur."""
    casebook.load_cases()
    harvested.load_shipped()


def rule_files() -> list[Path]:
    """The code that judges: cells of another release's rule are judged again."""
    return [Path(cells.__file__), *sorted(Path(judge.__path__[0]).glob("*.py"))]


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# name, the files it is read from, what loads it; in the order in which they need each other
PARTS: tuple[tuple[str, Callable[[], Iterable[Path]], Callable[[], Any]], ...] = (
    ("operators", lambda: (CONTRIB, documented.ROWS, *graphs.files()), load_operators),
    ("devices", lambda: (DEVICES, COLUMNS, JETPACK), load_devices),
    (
        "documented claims",
        lambda: (CONTRIB, documented.ROWS, documented.SOURCES, documented.RUNTIMES),
        documented.load_documented,
    ),
    ("cases", case_files, load_cases),
    ("the rule", rule_files, lambda: None),
)
