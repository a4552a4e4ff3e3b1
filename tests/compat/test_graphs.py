"""Patterns and torch modules as rows: they stand in the matrix and decide nothing else."""

import pytest

from compat import catalogue, graphs
from compat.casebook import BUILT, load_cases
from compat.cells import rebuild_cells
from compat.history import load_operator
from compat.knowledge import knowledge_for
from compat.matrix import MatrixFilters, load_matrix
from compat.models import Case, Cell, Operator
from compat.operators import GRAPH_KINDS, named_operators
from compat.top20 import TOP20
from probes.cases.catalogue import read_pack
from probes.cases.graphs import Step, read_graphs
from probes.cases.node_files import names_beside
from tests.make import make_case, make_operator, make_probe, make_target

pytestmark = pytest.mark.django_db

PACKS = [path for path in BUILT if path.name.startswith(("patterns", "modules"))]
DOMAINS = {"pattern": "pattern", "module": "torch.nn"}


def make_softmax(kind="module", outcome="rejected"):
    """The row torch.nn::Softmax with one probe, and its cell."""
    row = make_operator("Softmax", domain=DOMAINS[kind], kind=kind, since_versions=[])
    case = make_case(row, "module/Softmax/dynamo-18-v1", origin=kind, dtypes=[])
    target = make_target(capabilities={"dtypes": ["float16"]})
    probe = make_probe(case, target, outcome=outcome)
    rebuild_cells(column=target.column)
    return probe


def test_the_catalogue_has_a_row_for_each():
    catalogue.load_operators()
    found = Operator.objects.filter(kind__in=GRAPH_KINDS)
    assert {(row.kind, row.domain) for row in found} == set(DOMAINS.items())
    assert found.filter(kind="pattern").count() >= 12
    assert found.filter(kind="module").count() >= 34


def test_the_rows_are_loaded_again_when_a_list_changes():
    files = {name: files for name, files, _ in catalogue.PARTS}["operators"]()
    assert set(graphs.FILES.values()) <= set(files)


@pytest.mark.parametrize("pack", PACKS, ids=lambda path: path.name)
def test_every_case_has_a_row_and_is_listed_beside_its_pack(pack):
    listed = [graph for graph in read_graphs(names_beside(pack)) if graph.case]
    assert [(graph.domain, graph.name, graph.case) for graph in listed] == [
        (case.domain, case.op_type, case.name) for case in read_pack(pack)
    ]


def test_a_stored_case_of_a_graph_has_no_signature_that_a_node_could_match():
    catalogue.load_operators()
    load_cases(read_pack(PACKS[0]))
    for case in Case.objects.all():
        assert (case.core, case.signature, case.dtypes, case.dtype_key) == (True, {}, [], "")


@pytest.mark.parametrize(("outcome", "level"), [("passed", "green"), ("rejected", "red")])
def test_its_cases_decide_its_row_whatever_types_a_runtime_declares(outcome, level):
    make_softmax(outcome=outcome)
    cell = Cell.objects.get()
    assert (cell.level, cell.core_total) == (level, 1)


def test_no_node_of_a_model_is_judged_by_such_a_row():
    probe = make_softmax()
    names = {("torch.nn", "Softmax"), ("ai.onnx", "Softmax")}
    assert not named_operators(names).exists()
    node = {"domain": "torch.nn", "op": "Softmax", "signature": 0}
    facts = {
        "nodes": [node],
        "model": {"opsets": {"ai.onnx": 17}, "ir_version": 8},
        "signatures": [],
    }
    (known,) = knowledge_for([probe.target.column], facts, keys=[])
    assert known.cells == {}


def test_the_matrix_shows_them_by_their_domain_and_never_among_the_top_20():
    make_softmax()
    make_operator("Softmax")
    shown = load_matrix(MatrixFilters(domains=("torch.nn",)))
    assert [(row.domain, row.cells[0].level) for row in shown.rows] == [("torch.nn", "red")]
    assert [row.domain for row in load_matrix(MatrixFilters(top20=True)).rows] == ["ai.onnx"]
    assert not {row.domain for row in TOP20} & set(DOMAINS.values())


def test_the_page_says_which_operators_each_export_becomes():
    catalogue.load_operators()
    page = load_operator("torch.nn", "GELU")
    assert {(graph.exporter, graph.opset) for graph in page.graphs} == {
        ("torchscript", 17),
        ("torchscript", 20),
        ("dynamo", 18),
        ("dynamo", 23),
    }
    newest = next(graph for graph in page.graphs if graph.opset == 23)
    assert newest.operators == (Step("Gelu", 1),)
    assert load_operator("ai.onnx", "Gelu").graphs == ()


def test_an_export_that_fails_is_told_with_the_exporters_words():
    catalogue.load_operators()
    failed = [graph for graph in load_operator("torch.nn", "RMSNorm").graphs if graph.error]
    assert [(graph.exporter, graph.case) for graph in failed] == [("torchscript", "")] * 2
    assert all("aten::rms_norm" in graph.error for graph in failed)
