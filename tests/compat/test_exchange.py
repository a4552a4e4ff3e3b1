"""Evidence that leaves as a file and comes back as that of another device."""

import json
import lzma

import pytest
from django.utils import timezone

from compat import sweeps, work
from compat.cells import rebuild_cells
from compat.exchange import ExchangeError, export_evidence, is_loaded, load_evidence
from compat.fleet import register_local_device
from compat.models import Cell, Device, Probe, ProbeLog, Sweep
from compat.recording import record_many
from probes.run.outcome import Latency
from tests.make import (
    make_case,
    make_claim,
    make_column,
    make_device,
    make_fake_target,
    make_operator,
    make_result,
    make_runnable_case,
    make_target,
)

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

CELL_FACTS = [
    *("operator__name", "level", "kind", "reason_code", "reason_params", "core_passed"),
    *("core_total", "rest_passed", "rest_total", "max_abs", "p50_ms", "contradiction"),
]


@pytest.fixture
def probed():
    """A target of this machine with some of everything that a result can say."""
    column = make_column(device=register_local_device())
    target = make_target(column=column, capabilities={"evidence": "measured", "dtypes": []})
    relu, conv = make_case(make_operator("Relu")), make_case(make_operator("Conv"), core=False)
    latency = Latency((1.25, 2.5), 3, 1.5, 2.4, 1.25, 2, {"threads": 1})
    results = [
        make_result(relu, target, latency=latency, max_abs=1e-6, max_ulp=2.0, bit_exact=False),
        make_result(conv, target, "rejected", message="no kernel", log="C++ says no"),
        make_result(conv, target, "crashed", form="restamped", signal="SIGSEGV", confirmed=True),
    ]
    record_many(target=target, environment={"cpu_model": "Test CPU"}, results=results)
    rebuild_cells(column=column)
    return target


def cells_of(column):
    return list(Cell.objects.filter(column=column).values(*CELL_FACTS).order_by("operator__name"))


def facts_of(target):
    names = [
        *("case_id", "form", "outcome", "stage", "kind", "placement", "message", "max_abs"),
        *("max_ulp", "bit_exact", "p50_ms", "p95_ms", "min_ms", "signal", "confirmed", "seconds"),
        *("environment", "finished_at", "latest", "log__text", "log__latency"),
    ]
    return list(Probe.objects.filter(target=target).order_by("case__name", "form").values(*names))


def test_what_is_exported_loads_as_the_same_cells_of_another_device(probed, tmp_path):
    path = tmp_path / "cpu.jsonl.xz"
    assert export_evidence(target=probed, path=path) == 3
    loaded = load_evidence(path)
    assert (loaded.new, loaded.known, loaded.unknown) == (3, 0, 0)
    device = Device.objects.get(origin="recorded")
    assert device.slug == f"{probed.column.device.slug}-recorded"
    assert device.title == f"{probed.column.device.title} (recorded sweep 2027-01-15)"
    (column,) = device.columns.all()
    assert cells_of(column) == cells_of(probed.column)
    assert facts_of(column.targets.get()) == facts_of(probed)


def test_loading_again_changes_nothing(probed, tmp_path):
    path = tmp_path / "cpu.jsonl.xz"
    export_evidence(target=probed, path=path)
    assert not is_loaded(path)
    load_evidence(path)
    before = [list(model.objects.values()) for model in (Probe, ProbeLog, Sweep, Device)]
    assert is_loaded(path)
    assert load_evidence(path)[1:] == (0, 3, 0)
    assert [list(model.objects.values()) for model in (Probe, ProbeLog, Sweep, Device)] == before


def test_a_recorded_target_exports_as_the_device_it_was(probed, tmp_path):
    first, second = tmp_path / "1.jsonl.xz", tmp_path / "2.jsonl.xz"
    export_evidence(target=probed, path=first)
    load_evidence(first)
    recorded = Device.objects.get(origin="recorded").columns.get().targets.get()
    export_evidence(target=recorded, path=second)
    load_evidence(second)
    assert Device.objects.filter(origin="recorded").count() == 1


def test_a_simulation_joins_the_device_of_the_catalogue_that_it_speaks_for(tmp_path):
    """Beside what the vendor's list says of the same runtime; the host is in its environment."""
    device = make_device("rk3588", "rk3588", origin="catalogue")
    column = make_column("rknn", device, config={"platform": "rk3588"})
    told = {"evidence": "simulated", "dtypes": []}
    target = make_target("2.5.0", column, capabilities=told)
    gelu = make_operator("Gelu")
    make_claim(gelu, runtime="rknn", device_class="rk3588", level="full", runtime_version="2.3.2")
    refused = make_result(make_case(gelu), target, "rejected", message="not supported")
    record_many(target=target, environment={"cpu_model": "Some host"}, results=[refused])
    path = tmp_path / "rknn.jsonl.xz"
    export_evidence(target=target, path=path)
    Sweep.objects.all().delete()
    target.delete()
    assert load_evidence(path).new == 1
    assert Device.objects.get() == device
    cell = Cell.objects.get(column=column, operator=gelu)
    assert (cell.level, cell.kind, cell.claim_level) == ("red", "simulated", "full")
    assert cell.contradiction
    assert cell.target.runtime_version == "2.5.0"


def test_a_measurement_never_joins_a_device_of_the_catalogue(tmp_path):
    device = make_device("rk3588", "rk3588", origin="catalogue")
    target = make_target("2.5.0", make_column("rknn", device), capabilities={})
    record_many(target=target, environment={}, results=[make_result(make_case(), target)])
    path = tmp_path / "rknn.jsonl.xz"
    export_evidence(target=target, path=path)
    load_evidence(path)
    assert Device.objects.get(origin="recorded").slug == "rk3588-recorded"


def test_a_form_that_a_case_does_not_have_is_no_result(probed, tmp_path):
    conv = make_case(make_operator("Conv"), core=False)
    results = [
        make_result(conv, probed, "unavailable", message="not applicable"),
        make_result(conv, probed, "unavailable", form="cast"),
    ]
    record_many(target=probed, environment={"cpu_model": "Test CPU"}, results=results)
    assert export_evidence(target=probed, path=tmp_path / "cpu.jsonl.xz") == 4


def test_every_environment_of_a_target_has_a_document_of_its_own(probed, tmp_path):
    record_many(
        target=probed,
        environment={"cpu_model": "Test CPU", "threads": 4},
        results=[make_result(make_case(), probed)],
    )
    path = tmp_path / "two.jsonl.xz"
    assert export_evidence(target=probed, path=path) == 4
    assert load_evidence(path).new == 4
    assert Sweep.objects.filter(target__column__device__origin="recorded").count() == 2


def test_results_of_cases_that_are_not_here_are_counted_and_left_out(probed, tmp_path):
    path = tmp_path / "cpu.jsonl.xz"
    export_evidence(target=probed, path=path)
    stranger = Probe.objects.filter(case__operator__name="Relu").get()
    stranger.delete()
    stranger.case.delete()
    assert load_evidence(path)[1:] == (2, 0, 1)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"plain text", "is damaged"),
        (lzma.compress(b"not json\n"), "is not JSON lines"),
        (lzma.compress(b"[]\n"), "is not a results document"),
        (lzma.compress(b'{"kind": "other", "schema": 1}\n'), "is not a results document"),
        (lzma.compress(b'{"kind": "opatlas-results", "schema": 99}\n'), "of schema 1"),
        (lzma.compress(b'{"kind": "opatlas-results", "schema": 1}\n')[:-9], "is damaged"),
    ],
)
def test_a_file_that_is_no_results_document_gets_a_sentence(content, sentence, tmp_path):
    path = tmp_path / "foreign.jsonl.xz"
    path.write_bytes(content)
    with pytest.raises(ExchangeError, match=f"foreign.jsonl.xz {sentence}|{sentence}"):
        load_evidence(path)
    assert not is_loaded(path)


def test_a_broken_result_gets_a_sentence(probed, tmp_path):
    path = tmp_path / "cpu.jsonl.xz"
    export_evidence(target=probed, path=path)
    header, first, *_ = lzma.decompress(path.read_bytes()).splitlines()
    broken = json.dumps(json.loads(first) | {"outcome": "invented"}).encode()
    path.write_bytes(lzma.compress(header + b"\n" + broken))
    with pytest.raises(ExchangeError, match="broken result"):
        load_evidence(path)


def test_the_machine_that_loads_has_results_of_its_own_and_they_are_new(tmp_path):
    """Also where its CPU has the very name that the recorded sweep was made on."""
    case, target, path = make_runnable_case("Relu"), make_fake_target(), tmp_path / "x.jsonl.xz"
    record_many(
        target=target,
        environment={"cpu_model": target.column.device.title},
        results=[make_result(case, target, at=1_700_000_000.0)],
    )
    export_evidence(target=target, path=path)
    Sweep.objects.all().delete()
    load_evidence(path)
    assert not Probe.objects.filter(target=target).exists()
    started = timezone.now()
    sweeps.start_sweep(target=target)
    work.run_claimed(target)
    own, recorded = Probe.objects.order_by("-finished_at")
    assert own.target == target
    assert own.finished_at > started > recorded.finished_at
    assert own.environment.facts["cpu_model"] == recorded.target.column.device.title.split(" (")[0]
    assert Cell.objects.get(column=target.column).probe == own


def test_a_recorded_target_cannot_be_swept_here(probed, tmp_path):
    path = tmp_path / "cpu.jsonl.xz"
    export_evidence(target=probed, path=path)
    load_evidence(path)
    recorded = Device.objects.get(origin="recorded").columns.get().targets.get()
    with pytest.raises(sweeps.SweepError, match="recorded on a machine that is not here"):
        sweeps.start_sweep(target=recorded)
