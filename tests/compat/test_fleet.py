"""Devices and targets of this machine."""

import pytest

from compat import fleet
from compat.models import Column, Device, Target
from probes.run import envs
from probes.run.registry import RUNTIMES, Runtime
from tests.make import make_claim, make_column, make_device, make_fake_target, make_target

VERSIONS = ["1.2.10", "1.2.10rc1", "2.3.2", "1.9.0", "2026.4.1-21919-abcdef", "1.10", "10.0"]


def test_text_order_of_a_version_key_is_version_order():
    keys = {fleet.version_key(version): version for version in VERSIONS}
    ordered = ["1.2.10rc1", "1.2.10", "1.9.0", "1.10", "2.3.2", "10.0", "2026.4.1-21919-abcdef"]
    assert [keys[key] for key in sorted(keys)] == ordered
    assert all(key.isdigit() and len(key) <= 80 for key in keys)


@pytest.mark.django_db
def test_this_machine_is_one_device_named_by_its_cpu(monkeypatch):
    facts = fleet.machine_facts() | {"cpu_model": "AMD EPYC 9754 128-Core Processor"}
    monkeypatch.setattr(fleet, "machine_facts", lambda: facts)
    first, second = fleet.register_local_device(), fleet.register_local_device()
    assert first == second == Device.objects.get()
    assert first.title == "AMD EPYC 9754 128-Core Processor"
    assert (first.slug, first.origin) == ("amd-epyc-9754-128-core-processor", "local")


@pytest.mark.django_db
def test_a_local_target_knows_what_its_runtime_takes():
    target = make_fake_target()
    assert target.slug.endswith(".fake.default@1.0")
    assert target.capabilities["evidence"] == "measured"
    assert fleet.local_targets() == [target]


@pytest.mark.django_db
def test_only_the_newest_version_of_a_column_is_probed_here():
    newest = make_fake_target()
    make_target("0.9", newest.column)
    assert fleet.local_targets() == [newest]


@pytest.mark.django_db
def test_a_new_column_shows_at_once_what_is_claimed_of_it():
    make_claim(runtime="fake", device_class="x86_cpu")
    target = make_fake_target()
    assert target.column.cells.get().kind == "documented"


@pytest.mark.django_db
def test_a_name_of_no_local_target_is_answered_with_those_that_are():
    target = make_fake_target()
    for name in (target.slug, target.column.slug, "fake"):
        assert fleet.find_local(name) == target
    with pytest.raises(LookupError, match=f"rknn is no target.*{target.column.slug}"):
        fleet.find_local("rknn")


@pytest.mark.django_db
def test_asking_for_one_runtime_makes_no_column_of_another():
    fleet.find_local("fake")
    column = Column.objects.get()
    assert column.runtime == "fake"
    assert not column.shown, "it is for tests of the sandbox"


@pytest.mark.django_db
def test_one_name_is_one_configuration():
    target = make_target()
    facts = {
        "device": target.column.device,
        "runtime": target.column.runtime,
        "config_name": target.column.config_name,
    }
    with pytest.raises(ValueError, match="has the configuration"):
        fleet.ensure_target(**facts, version="1", config={"threads": 8})
    assert fleet.ensure_target(**facts, version="1.33.0", config={}).column == target.column
    assert (Column.objects.count(), Target.objects.count()) == (1, 2)


@pytest.fixture
def toolchain(monkeypatch):
    """The fake runtime as a vendor's toolchain that is built here, and a chip it speaks for."""
    row = Runtime(
        "fake", "Fake", "probes.run.adapters.fake", ("fake==1.0",), config={"threads": 1},
        simulates=True,
    )  # fmt: skip
    monkeypatch.setitem(RUNTIMES, "fake", row)
    built = envs.Built("fake", "1.0", "3.11", (), 0, "")
    monkeypatch.setattr(envs, "find_built", lambda slug: built if slug == "fake" else None)
    device = make_device("chip", "chip", origin="catalogue")
    return make_column("fake", device, config={"threads": 1, "evidence": "simulated"})


@pytest.mark.django_db
def test_a_device_that_is_not_here_is_probed_by_its_toolchain(toolchain):
    target = fleet.find_local("chip.fake.default")
    assert (target.slug, target.column) == ("chip.fake.default@1.0", toolchain)
    assert target.capabilities["evidence"] == "simulated"
    assert fleet.local_targets() == [target]


@pytest.mark.django_db
def test_a_recording_of_another_version_is_not_probed_here(toolchain):
    told = {"evidence": "simulated", "dtypes": []}
    make_target("2.0", toolchain, capabilities=told)
    assert fleet.local_targets() == []
    fleet.find_local("chip.fake.default")
    assert [each.runtime_version for each in fleet.local_targets()] == ["1.0"]


@pytest.mark.django_db
def test_a_toolchain_does_not_speak_for_this_machine(toolchain, monkeypatch):
    row = RUNTIMES["fake"]
    config = {"threads": 1, "evidence": "simulated"}
    monkeypatch.setitem(RUNTIMES, "fake", Runtime(**{**vars(row), "config": config}))
    assert fleet.register_local_targets(["fake"]) == []
