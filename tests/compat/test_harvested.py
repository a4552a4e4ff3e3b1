"""Nodes of real models in an installation: brought in, probed, found again by a report, weighed."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from compat import casebook, history
from compat.harvested import SHIPPED, load_harvest, load_occurrences, load_shipped
from compat.knowledge import knowledge_for
from compat.models import Case, Occurrence
from probes.cases.build import build_case
from probes.cases.catalogue import read_pack, write_pack
from probes.cases.tables import all_rows
from probes.cli.main import main
from probes.model.facts import make_facts
from probes.model.signature import class_key, signature_key
from tests.make import (
    engine_case,
    make_case,
    make_column,
    make_fake_target,
    make_model,
    make_operator,
    make_probe,
    make_target,
)

pytestmark = pytest.mark.django_db
REPRO = sorted((Path(__file__).parents[1] / "data" / "repro").glob("*.onnx"))


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(make_model("Relu", "Exp", "Relu"))
    return path


@pytest.fixture
def pack(model, tmp_path, settings):
    settings.CASE_DIR = tmp_path / "cases"
    make_operator("Relu"), make_operator("Exp")
    path = tmp_path / "mine.pack.xz"
    assert main(["harvest", str(model), "--out", str(path), "--names"]) == 0
    return path


def test_a_report_finds_the_very_node_that_was_harvested_and_probed(pack, model, capsys):
    call_command("load_cases", str(pack))
    assert "2 new cases, 0 known nodes, 1 models counted" in capsys.readouterr().out
    target = make_fake_target()
    call_command("sweep", target=target.slug, missing=True)
    facts = make_facts(model)
    (known,) = knowledge_for([target.column], facts)
    levels = [known.exact[signature_key(each)].level for each in facts["signatures"]]
    assert levels == ["green", "green"]


def test_a_second_time_nothing_is_new(pack):
    load_harvest(pack)
    again = load_harvest(pack)
    assert (len(again.new), len(again.known)) == (0, 2)
    assert sorted(Occurrence.objects.values_list("count", flat=True)) == [1, 2]


def test_what_is_not_in_the_catalogue_is_told_and_left_out(pack):
    Case.objects.all().delete()
    make_operator("Exp").delete()
    assert [name.split("/")[1] for name in load_harvest(pack).unknown] == ["Exp"]


def test_a_release_keeps_what_was_harvested_here(pack, monkeypatch):
    load_harvest(pack)
    node = engine_case("Exp", name="node/test_exp", core=False)
    casebook.load_cases([node])
    monkeypatch.setattr(casebook, "all_cases", lambda: iter([engine_case("Relu", 3)]))
    casebook.load_cases()
    left = Case.objects.filter(retired=False)
    assert sorted(left.values_list("origin", flat=True)) == ["harvest", "harvest", "mainstream"]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"core": True}, "is no harvested case"),
        ({"origin": "harvest", "core": False}, "is no harvested case"),
        ({"origin": "harvest", "core": False, "name": "harvest/Relu/1-v1"}, "nothing of its node"),
    ],
)
def test_a_pack_cannot_bring_what_decides_a_level(tmp_path, fields, sentence):
    path = tmp_path / "other.pack.xz"
    write_pack(path, [engine_case(**fields)])
    with pytest.raises(CommandError, match=sentence):
        call_command("load_cases", str(path))
    assert not Case.objects.exists()


@pytest.mark.parametrize("content", [b"", b"no pack", "€".encode()])
def test_a_damaged_file_is_a_sentence(tmp_path, content):
    path = tmp_path / "bad.pack.xz"
    path.write_bytes(content)
    with pytest.raises(CommandError, match=r"bad\.pack\.xz"):
        call_command("load_cases", str(path))


@pytest.mark.parametrize("count", ["0", "-1", "1e9", "9" * 30, "²"])
def test_a_number_that_counts_nothing_is_refused(tmp_path, count):
    path = tmp_path / "a.csv"
    path.write_text(f"case,model,count\nharvest/Relu/1-v1,m,{count}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no number of nodes"):
        load_occurrences(path, {"harvest/Relu/1-v1": "0" * 32})


def test_a_list_of_another_kind_is_a_sentence(pack):
    pack.with_name("mine.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(CommandError, match="case, model, count"):
        call_command("load_cases", str(pack))


@pytest.fixture
def weighed():
    """Three nodes of two models: one passes in one form, one fails, one is a repro nobody counts;
    an older version knew less."""
    operator, column = make_operator("Conv"), make_column()
    old, new = make_target("1.30.0", column), make_target("1.32.0", column)
    often, once, never = (
        make_case(
            operator, f"harvest/Conv/{n}-v1", core=False, origin="harvest", signature_key=f"{n:016}"
        )
        for n in range(3)
    )
    pattern = make_case(operator, "harvest/Conv-SiLU/0-v1", core=False, origin="harvest")
    Occurrence.objects.create(case=pattern, model="b.onnx", count=500)
    make_probe(pattern, new, "mismatch")
    for model, count in (("a.onnx", 30), ("b.onnx", 8)):
        Occurrence.objects.create(case=often, model=model, count=count)
    Occurrence.objects.create(case=once, model="b.onnx", count=1)
    make_probe(often, new, "rejected")
    make_probe(often, new, "passed", form="static")
    make_probe(once, new, "mismatch")
    make_probe(never, new, "mismatch")
    make_probe(often, old, "rejected")
    return column


def test_a_column_says_how_many_nodes_pass_and_how_often_they_occur(
    weighed, django_assert_num_queries
):
    with django_assert_num_queries(11):
        found = history.load_column(weighed.slug).harvest
    assert (found.models, found.runtime_version) == (2, "1.32.0")
    assert (found.rate.passed, found.rate.total) == (1, 2)
    assert (found.rate.passing, found.rate.occurrences) == (38, 39)
    assert found.rate.weighted_percent == 97


def test_the_page_tells_both_rates_with_raw_counts(weighed, client):
    page = client.get(f"/targets/{weighed.slug}/").content.decode()
    assert "1 of 2 pass in version 1.32.0 (50 %)" in page
    assert "38 of 39 (97 %)" in page
    assert "never rounded up" in page
    chinese = client.get(f"/targets/{weighed.slug}/", headers={"Accept-Language": "zh-hans"})
    assert "38" in chinese.content.decode()
    assert "never rounded up" not in chinese.content.decode()


def test_a_column_without_such_nodes_says_nothing_of_them(client):
    probe = make_probe()
    page = client.get(f"/targets/{probe.target.column.slug}/").content.decode()
    assert "Nodes of real models" not in page


@pytest.fixture(scope="module")
def shipped():
    return list(read_pack(SHIPPED))


def test_what_ships_is_small_never_core_and_told_by_an_oracle(shipped):
    assert SHIPPED.stat().st_size < 3_000_000
    assert len(shipped) > 350
    assert {(case.origin, case.core) for case in shipped} == {("harvest", False)}
    assert {case.oracles_agree for case in shipped} <= {"both", "one"}
    assert all(case.expected for case in shipped)


def test_what_ships_is_counted_in_real_models(shipped):
    for case in shipped[:5]:
        operator = make_operator(case.op_type, case.domain)
        make_case(operator, case.name, core=False, origin="harvest")
    assert load_shipped() > 1
    models = set(Occurrence.objects.values_list("model", flat=True))
    assert all("==" in model for model in models)


@pytest.mark.parametrize("path", REPRO, ids=lambda path: path.stem)
def test_every_node_of_the_reported_models_has_a_case_of_its_class(path, shipped):
    signatures = make_facts(path)["signatures"]
    operators = {each["op"] for each in signatures}
    mainstream = (build_case(row) for row in all_rows() if row.op in operators)
    missing = {class_key(each): each["op"] for each in signatures}
    for case in (*shipped, *mainstream):
        if case.signature:
            missing.pop(class_key(case.signature), None)
    assert missing == {}
