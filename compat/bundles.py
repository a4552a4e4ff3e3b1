"""What a board without a network takes along: the head of its results, and its cases."""

from pathlib import Path
from typing import Any

from compat.casebook import read_case
from compat.devices import REGISTERED
from compat.history import NotKnown
from compat.models import Case, Column, Device
from probes.bundle import write_bundle
from probes.run.registry import RUNTIMES

Document = dict[str, Any]


def load_bundle(name: str, *, device: Device | None = None) -> Document:
    """The target and case ids of "<device>.<runtime>[.<config>]", a column or a target.

    `device` is that of the asking token, if it has one. Raises NotKnown.
    """
    slug, _, rest = name.partition("@")[0].partition(".")
    runtime, _, config_name = rest.partition(".")
    owner = _owner(slug, runtime)
    if owner is None or (device is not None and device.pk != owner.pk):
        raise NotKnown(f"No registered device of this token is called {slug}.")
    if owner.runtimes and runtime not in owner.runtimes:
        raise NotKnown(f"{slug} was registered without the runtime {runtime}.")
    cases = Case.objects.filter(retired=False).order_by("name").values_list("id", flat=True)
    return {"target": _head(owner, runtime, config_name), "cases": list(cases)}


def _owner(slug: str, runtime: str) -> Device | None:
    """A registered device, or one of the catalogue that a toolchain speaks for on any host."""
    row = RUNTIMES.get(runtime)
    origins = [REGISTERED, "catalogue"] if row and row.simulates else [REGISTERED]
    return Device.objects.filter(slug=slug, origin__in=origins).first()


def make_bundle(*, name: str, path: Path) -> int:
    """Write the bundle of a target to a file; returns how many cases it holds."""
    found = load_bundle(name)
    return write_bundle(path, found["target"], map(read_case, found["cases"]))


def _head(device: Device, runtime: str, config_name: str) -> Document:
    """The column's names and configuration; the runtime's own where there is no column yet."""
    known = Column.objects.filter(device=device, runtime=runtime)
    column = known.filter(config_name=config_name).first() if config_name else known.first()
    row = RUNTIMES.get(runtime)
    own = device.origin == REGISTERED  # what a chip of the catalogue has is in its columns
    if column is None and (not own or row is None or config_name not in ("", row.config_name)):
        raise NotKnown(f"{device.slug} has no target {runtime}.{config_name or 'default'}.")
    return {
        "device": device.slug,
        "device_title": device.title,
        "device_class": device.device_class,
        "runtime": runtime,
        "config_name": column.config_name if column else row.config_name if row else "",
        "config": dict(column.config if column else row.config if row else {}),
    }
