"""The catalogue as it ships: what is loaded, what is kept out, and that it is loaded once."""

import csv
import json
from dataclasses import replace

import onnx
import pytest
from django.conf import settings
from django.core.management import call_command

from compat import casebook, catalogue, cells, documented, sweeps
from compat.history import load_operator
from compat.models import Case, Cell, Claim, Column, Device, Loaded, Operator, Source
from compat.runtimes import runtime_rows
from probes.cases.node_files import names_beside
from probes.run.registry import RUNTIMES
from tests.make import make_probe, make_runnable_case, make_target

FIGURES = ("memory_gb", "bandwidth_gbs", "peak_fp16", "peak_int8", "compute_capability")


@pytest.fixture(scope="module")
def loaded(django_db_setup, django_db_blocker):
    """The whole catalogue but for the cases, loaded once for this module."""
    from django.db import connection, transaction

    with django_db_blocker.unblock():
        with transaction.atomic():
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(casebook, "all_cases", lambda: iter(()))
                parts = catalogue.load_catalogue()
            yield parts
            transaction.set_rollback(True)
        connection.close()


@pytest.fixture
def shipped(loaded, django_db_blocker):
    with django_db_blocker.unblock():
        yield loaded


def cell(column, operator):
    return Cell.objects.get(column__slug=column, operator__name=operator)


def test_every_operator_of_onnx_is_a_row_with_its_history(shipped):
    conv = Operator.objects.get(domain="ai.onnx", name="Conv")
    assert conv.since_versions == [1, 11, 22]
    assert Operator.objects.filter(kind="onnx").count() == 227
    domains = {"ai.onnx", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training"}
    assert set(Operator.objects.filter(kind="onnx").values_list("domain", flat=True)) == domains


@pytest.mark.parametrize(
    ("name", "deprecated_at"),
    [("Upsample", 10), ("Scatter", 11), ("GroupNormalization", None), ("Conv", None)],
)
def test_an_operator_is_deprecated_only_when_its_newest_version_is(shipped, name, deprecated_at):
    assert Operator.objects.get(domain="ai.onnx", name=name).deprecated_at == deprecated_at


def test_contrib_operators_are_those_that_documents_name(shipped):
    contrib = set(Operator.objects.filter(kind="contrib").values_list("name", flat=True))
    assert {"MultiHeadAttention", "FusedConv"} <= contrib
    claimed = set(Claim.objects.filter(operator__kind="contrib").values_list("operator__name"))
    assert {(name,) for name in contrib} == claimed


def test_every_domain_of_the_matrix_has_its_device_and_documented_cells(shipped):
    classes = {"jetson_orin", "rk3588", "snapdragon_8_gen_2", "x86_gpu"}
    shown = Column.objects.filter(shown=True)
    assert set(shown.values_list("device__device_class", flat=True)) == classes
    claimed = Claim.objects.values("runtime")
    for column in shown.filter(runtime__in=claimed):
        assert column.cells.filter(kind="documented").count() > 100, column


def test_a_column_with_a_configuration_is_one_that_a_toolchain_can_fill(shipped):
    configured = Column.objects.exclude(config={})
    assert configured.count() > 15
    for column in configured:
        assert RUNTIMES[column.runtime].simulates, column
        assert column.config.keys() <= RUNTIMES[column.runtime].config.keys(), column


def test_figures_that_nobody_saw_are_absent(shipped):
    rk3588 = Device.objects.get(slug="rk3588")
    assert not {"peak_fp16", "bandwidth_gbs", "memory_gb"} & rk3588.facts.keys()
    assert rk3588.facts["peak_int8"] == "6 TOPS NPU (3 cores)"
    assert rk3588.confidence == "vendor+third-party"
    for device in Device.objects.all():
        assert "" not in device.facts.values()
        assert "not seen" not in json.dumps([device.facts.get(name) for name in FIGURES])
        assert device.source


def test_an_orin_knows_which_jetpack_brings_which_tensorrt(shipped):
    orin = Device.objects.get(slug="jetson-agx-orin-64gb")
    versions = {row["jetpack"]: row["tensorrt"] for row in orin.facts["jetpack"]}
    assert versions["JetPack 6.1"] == "10.3"


def test_of_the_documented_rows_all_but_the_listed_ones_are_claims(shipped):
    rows, kept_out = list(documented.read_rows()), documented.unmatched_rows()
    speakers = documented.read_speakers()
    sound = [row for row in rows if not _is_listed(row, kept_out)]
    assert len(rows) == 5434
    assert len(sound) + len(kept_out) == len(rows)
    expected = sum(len(documented.speakers_of(row, speakers)) for row in sound)
    assert Claim.objects.count() == expected > len(sound)


def _is_listed(row, kept_out):
    key = (row["source_id"], row["domain"], row["op_type"], row["opset_min"], row["opset_max"])
    return key in {listed[:5] for listed in kept_out}


def test_a_claim_keeps_source_version_date_and_restriction(shipped):
    claim = Claim.objects.get(source="trt1015", operator__name="TopK")
    assert (claim.level, claim.restriction) == ("partial", "k<3840; sorted=1")
    assert (claim.opset_min, claim.opset_max) == (9, 24)
    assert claim.runtime_version == "10.15"
    source = Source.objects.get(slug="trt86")
    assert source.place == "onnx/onnx-tensorrt@ee0b139bc685:docs/operators.md"
    assert source.date == "2024-04-04"


def test_where_sources_of_a_column_disagree_rank_decides_and_both_are_kept(shipped):
    levels = Claim.objects.filter(runtime="rknn", operator__name="TopK").values_list(
        "source_id", "level"
    )
    assert dict(levels) == {"rknn_tk232": "none", "rknn_cpu232": "full"}
    assert cell("rk3588.rknn.default", "TopK").level == "red"


def test_the_newest_document_of_a_runtime_decides(shipped):
    """TensorRT 8.6 knew no GroupNormalization of opset 21; 10.1 does."""
    column = cell("jetson-agx-orin-64gb.tensorrt.default", "GridSample")
    assert column.claim_level in ("full", "partial")
    assert "10.1" in column.reason_params["source"]
    gpu = cell("nvidia-a10.tensorrt.default", "GridSample")
    assert "10.15" in gpu.reason_params["source"], "the Orin has no document for 10.15"


def test_another_compilers_claims_are_there_without_a_column(shipped):
    others = set(Claim.objects.filter(operator__name="Conv").values_list("runtime", flat=True))
    assert {"mnn", "tvm", "ncnn", "iree", "litert", "openvino-cpu"} <= others


def test_loading_again_reads_nothing(shipped, django_assert_max_num_queries):
    assert shipped == ["operators", "devices", "documented claims", "cases", "the rule"]
    with django_assert_max_num_queries(6):
        assert catalogue.load_catalogue() == []


def test_cells_of_another_releases_rule_are_judged_again(shipped):
    Loaded.objects.filter(name="the rule").update(digest="old")
    Cell.objects.update(level="unknown", reason_code="not_tried")
    assert catalogue.load_catalogue() == ["the rule"]
    assert not Cell.objects.filter(reason_code="not_tried").exists()


def test_a_changed_file_is_loaded_again_and_replaces_what_was(shipped):
    before = Claim.objects.count()
    Loaded.objects.filter(name__in=["documented claims", "devices"]).update(digest="old")
    assert catalogue.load_catalogue() == ["devices", "documented claims"]
    assert Claim.objects.count() == before
    assert Device.objects.filter(slug="rk3588").count() == 1


def test_the_list_of_what_is_kept_out_gives_the_reason(shipped, capsys):
    call_command("unmatched_claims")
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(out.splitlines()))
    reasons = {(row["source_id"], row["op_type"]): row["reason"] for row in rows}
    assert reasons["trt86", "ImageScaler"] == "no operator ai.onnx::ImageScaler in the catalogue"
    assert reasons["dla_orin", "Mish"] == "states opsets up to 17, the operator begins with 18"
    assert err.strip() == f"{len(rows)} documented rows are kept out."


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"op_type": "Topk"}, "no operator ai.onnx::Topk"),
        ({"domain": "com.vendor"}, "no operator com.vendor::TopK"),
        ({"opset_min": "13", "opset_max": "11"}, "reversed"),
        ({"opset_min": "29"}, "the newest known is 28"),
        ({"opset_min": "1", "opset_max": "28"}, ""),
    ],
)
def test_a_row_is_checked_against_the_schemas(changes, reason):
    operator = Operator(domain="ai.onnx", name="TopK", since_versions=[1, 10, 11, 24])
    row = {"domain": "ai.onnx", "op_type": "TopK", "opset_min": "", "opset_max": ""} | changes
    found = documented.why_unmatched(row, {("ai.onnx", "TopK"): operator}, 28)
    assert reason in found
    assert bool(found) == bool(reason)


def test_the_files_name_each_other_consistently():
    speakers = documented.read_speakers()
    documents = json.loads(documented.SOURCES.read_text())
    titles = runtime_rows()
    for row in documented.read_rows():
        assert row["source_id"] in documents
        assert documented.speakers_of(row, speakers), row
    for speaker in (each for several in speakers.values() for each in several):
        assert speaker.runtime in titles
    columns = catalogue.read_csv(catalogue.COLUMNS)
    devices = {row["slug"] for row in catalogue.read_csv(catalogue.DEVICES)}
    assert {row["device"] for row in columns} <= devices
    assert {row["runtime"] for row in columns} <= titles.keys()
    assert {slug for slug, row in RUNTIMES.items() if row.offered} <= titles.keys()


@pytest.mark.django_db
def test_cases_of_one_content_are_one_row_with_two_names(tmp_path, settings):
    settings.CASE_DIR = tmp_path
    catalogue.load_operators()
    named = ("node/test_max_two_inputs", "node/test_max_float32", "node/test_relu")
    cases = [case for case in casebook.read_pack(casebook.PACK) if case.name in named]
    assert len(cases) == 3
    assert casebook.load_cases(cases) == casebook.load_cases(cases) == 2
    both = Case.objects.get(operator__name="Max")
    assert {both.name, *both.aliases} == {"node/test_max_two_inputs", "node/test_max_float32"}
    assert casebook.read_case(both.pk).op_type == "Max"
    relu = Case.objects.get(operator__name="Relu")
    assert relu.dtypes == ["float"]
    assert relu.signature_key
    assert relu.class_key


@pytest.mark.django_db
def test_a_case_whose_name_a_newer_release_gives_to_another_is_retired(monkeypatch):
    old, same, gone = (make_runnable_case("Relu", n, name=f"test/{n}") for n in range(3))
    target = make_target()
    for case, outcome in ((old, "rejected"), (same, "passed"), (gone, "rejected")):
        make_probe(case, target, outcome)
    newer = [
        replace(casebook.read_case(same.pk), name="test/1"),
        replace(casebook.read_case(make_runnable_case("Relu", 9).pk), name="test/0"),
    ]
    monkeypatch.setattr(casebook, "all_cases", lambda: iter(newer))
    casebook.load_cases()
    assert set(Case.objects.filter(retired=False).values_list("name", flat=True)) == {
        "test/0",
        "test/1",
    }
    assert Case.objects.get(pk=old.pk).name == f"test/0#{old.pk[:8]}"
    cells.rebuild_cells(column=target.column)
    assert Cell.objects.get(column=target.column).level == "green", "history decides nothing"
    sweep = sweeps.start_sweep(target=target)
    assert set(sweep.probes.values_list("case__name", flat=True)) == {"test/0", "test/1"}


@pytest.mark.django_db
def test_cases_that_left_the_folder_are_put_back(tmp_path, settings, monkeypatch):
    settings.CASE_DIR = tmp_path
    relu = next(c for c in casebook.read_pack(casebook.PACK) if c.name == "node/test_relu")
    monkeypatch.setattr(casebook, "all_cases", lambda: iter([relu]))
    monkeypatch.setattr(catalogue, "PARTS", catalogue.PARTS[:1] + catalogue.PARTS[3:])
    catalogue.load_catalogue()
    casebook.case_store().path(relu.id).unlink()
    assert catalogue.load_catalogue() == ["cases"]
    assert casebook.is_complete()


@pytest.fixture
def only_packs(monkeypatch):
    """Nothing is built from tables."""
    for name in ("mainstream_cases", "alternative_cases"):
        monkeypatch.setattr(casebook, name, lambda: iter(()))


def test_every_test_of_an_older_onnx_is_a_name_of_one_case(only_packs):
    ids = {}
    for case in casebook.all_cases():
        assert case.name not in ids
        ids[case.name] = case.id
    tests = catalogue.read_csv(names_beside(casebook.PACKS["1.15.0"]))
    assert len(tests) == 1252
    for row in tests:
        assert ids[f"node/{row['test']}@onnx-1.15"] == ids[row["case"]] == row["id"]


@pytest.mark.django_db
def test_a_test_that_two_releases_share_is_one_case_with_both_names(only_packs, tmp_path, settings):
    settings.CASE_DIR = tmp_path
    catalogue.load_operators()
    relus = [case for case in casebook.all_cases() if case.name.startswith("node/test_relu")]
    casebook.load_cases(relus)
    bodies = ["node/test_relu_expanded_ver18", "node/test_relu_expanded_ver18@onnx-1.15"]
    page = load_operator("ai.onnx", "Relu")
    assert {case.name: case.aliases for case in page.cases} == {
        "node/test_relu": ("node/test_relu@onnx-1.15",),
        bodies[0]: tuple(bodies[1:]),
    }


def test_a_list_that_names_a_case_of_no_pack_is_refused(only_packs, monkeypatch):
    monkeypatch.setattr(casebook, "PACKS", {"1.15.0": casebook.PACKS["1.15.0"]})
    with pytest.raises(casebook.CaseMismatch, match="no pack has the cases"):
        list(casebook.all_cases())


def test_a_case_that_is_built_differently_here_is_refused(monkeypatch):
    relu = next(c for c in casebook.read_pack(casebook.PACK) if c.name == "node/test_relu")
    monkeypatch.setattr(casebook, "mainstream_cases", lambda: iter([relu]))
    monkeypatch.setattr(casebook, "read_pack", lambda path: iter(()))
    monkeypatch.setattr(casebook, "_named_ids", lambda: {relu.name: "0" * 32})
    with pytest.raises(casebook.CaseMismatch, match="node/test_relu was built as"):
        list(casebook.all_cases())


def test_the_pack_is_that_of_the_installed_onnx():
    assert onnx.__version__ in casebook.PACK.name
    assert settings.FIXTURES_DIR in casebook.PACK.parents
