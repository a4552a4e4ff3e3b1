"""Devices and targets: this machine's own, and those that results name."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Q
from django.utils.text import slugify

from compat.cells import rebuild_cells
from compat.models import Column, Device, Target
from probes.judge.claims import version_key as version_numbers
from probes.run import envs
from probes.run.environment import machine_facts
from probes.run.registry import RUNTIMES
from probes.run.sandbox import Sandbox
from probes.run.slot import StartError

LOCAL_RUNTIMES = ("onnxruntime-cpu", "openvino-cpu")  # the columns of every x86 machine, in order
NUMBERS, DIGITS = 6, 10
SHOWN_FACTS = ("cores", "architecture", "os")


def version_key(version: str) -> str:
    """Digits only, so that text order is version order under any collation."""
    numbers, released = version_numbers(version)
    padded = (*numbers, *[0] * NUMBERS)[:NUMBERS]
    return "".join(f"{number:0{DIGITS}d}"[-DIGITS:] for number in padded) + str(released)


def register_local_device() -> Device:
    """This machine, named by its CPU model; never the device of a recorded sweep."""
    facts = machine_facts()
    slug = slugify(facts["cpu_model"])[:70] or "cpu"
    device, _ = Device.objects.update_or_create(
        slug=slug,
        defaults={
            "title": facts["cpu_model"],
            "vendor": facts["cpu_model"].split()[0],
            "device_class": "x86_cpu" if facts["architecture"] == "x86_64" else "cpu",
            "origin": "local",
            "facts": {name: facts[name] for name in SHOWN_FACTS},
            "confidence": "measured",
            "source": "this machine",
        },
    )
    return device


def ensure_target(
    *,
    device: Device,
    runtime: str,
    version: str,
    config_name: str,
    config: dict[str, Any],
    capabilities: dict[str, Any] | None = None,
    position: int = 100,
    shown: bool = True,
) -> Target:
    """The target of these names, with its column, made where it does not exist.

    Raises ValueError when the column exists with another configuration under the same name, or the
    target with another kind of evidence.
    """
    slug = f"{device.slug}.{runtime}.{config_name}"
    column, is_new = Column.objects.get_or_create(
        slug=slug,
        defaults={
            "device": device,
            "runtime": runtime,
            "config_name": config_name,
            "config": config,
            "position": position,
            "shown": shown,
        },
    )
    if is_new:
        rebuild_cells(column=column)  # what is claimed of it shows before anything is probed
    if column.config != config:
        raise ValueError(f"{slug} has the configuration {column.config}, not {config}")
    known = Target.objects.filter(slug=f"{slug}@{version}").first()
    if known is not None and capabilities:
        check_evidence(known, capabilities)
    target, _ = Target.objects.update_or_create(
        slug=f"{slug}@{version}",
        defaults={
            "column": column,
            "runtime_version": version,
            "version_key": version_key(version),
            **({"capabilities": capabilities} if capabilities else {}),
        },
    )
    return target


def check_evidence(target: Target, capabilities: Mapping[str, Any]) -> None:
    """Raises ValueError where what was measured and what was simulated would mix in a target."""
    ours, theirs = (
        told.get("evidence", "measured") for told in (target.capabilities, capabilities)
    )
    if target.capabilities and ours != theirs:
        raise ValueError(
            f"{target.slug} holds what was {ours}, not what was {theirs}: give that a device or a "
            "configuration of its own"
        )


def register_local_targets(runtimes: Sequence[str] = LOCAL_RUNTIMES) -> list[Target]:
    """The targets of this machine whose runtimes start here, asked for their versions."""
    device = register_local_device()
    able = [slug for slug in runtimes if envs.interpreter(slug)]
    found = (_register(device, slug, at) for at, slug in enumerate(able))
    return [target for target in found if target is not None]


def _register(device: Device, slug: str, position: int) -> Target | None:
    """None for a runtime that does not start here, or that speaks for other devices only."""
    row = RUNTIMES[slug]
    with Sandbox(slug, row.config) as sandbox:
        try:
            version, _ = sandbox.describe()
        except StartError:
            return None
        capabilities = sandbox.capabilities()
    if capabilities.evidence == "simulated":
        return None
    return ensure_target(
        device=device,
        runtime=slug,
        version=version,
        config_name=row.config_name,
        config=dict(row.config),
        capabilities=capabilities.to_dict(),
        position=position,
        shown=row.offered,
    )


def _register_simulated(column: Column) -> Target:
    """The target of a device that is not here, spoken for by its vendor's toolchain; raises
    StartError where that does not start."""
    with Sandbox(column.runtime, column.config) as sandbox:
        version, _ = sandbox.describe()
        capabilities = sandbox.capabilities().to_dict()
    return ensure_target(
        device=column.device,
        runtime=column.runtime,
        version=version,
        config_name=column.config_name,
        config=column.config,
        capabilities=capabilities,
    )


def local_targets() -> list[Target]:
    """What a worker on this machine can probe: the newest version of each of its columns, and of
    the columns that a toolchain here simulates the version that is installed."""
    device = slugify(machine_facts()["cpu_model"])[:70] or "cpu"
    own = Q(column__device__slug=device, column__runtime__in=RUNTIMES)
    targets = (
        Target.objects.filter(_simulated_here(own))
        .select_related("column__device")
        .order_by("column__position", "column_id", "-version_key")
    )
    return _first_of_each_column(targets)


def _simulated_here(wanted: Q) -> Q:
    """`wanted`, or a device of the catalogue with a runtime and version that simulates it here."""
    built = (envs.find_built(slug) for slug, row in RUNTIMES.items() if row.simulates)
    for each in filter(None, built):
        wanted |= Q(
            column__device__origin="catalogue",
            column__runtime=each.runtime,
            runtime_version=each.version,
            capabilities__evidence="simulated",
        )
    return wanted


def find_local(name: str) -> Target:
    """The target of this machine that a target, column or runtime slug names; asked anew.

    Raises LookupError with a sentence that lists what there is, StartError for a device of the
    catalogue whose toolchain does not start here.
    """
    column = Column.objects.select_related("device").filter(slug=name.partition("@")[0]).first()
    if column and column.device.origin == "catalogue" and column.runtime in RUNTIMES:
        return _register_simulated(column)
    register_local_targets([slug for slug in RUNTIMES if slug == name or f".{slug}." in name])
    targets = local_targets()
    for target in targets:
        if name in (target.slug, target.column.slug, target.column.runtime):
            return target
    names = ", ".join(target.column.slug for target in targets) or "none"
    raise LookupError(f"{name} is no target of this machine. Here are: {names}.")


def _first_of_each_column(targets: Iterable[Target]) -> list[Target]:
    newest: dict[int, Target] = {}
    for target in targets:
        newest.setdefault(target.column_id, target)
    return list(newest.values())
