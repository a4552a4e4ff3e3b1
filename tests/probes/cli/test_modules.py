"""The modules of torch: what ships, and that both exporters still give it."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from probes.cases import origins
from probes.cases.catalogue import read_pack
from probes.cases.graphs import OTHER_GRAPH, read_graphs
from probes.cli.build_cases import sound_graphs
from probes.cli.modules.export import EXPORTERS, bare, export_modules, first_sentence
from probes.cli.modules.table import MODULES
from probes.model.values import to_numpy
from probes.run.outcome import Outcome
from probes.run.sandbox import ProbeRequest, Sandbox

CASES = Path(__file__).parents[3] / "fixtures" / "cases"


@pytest.fixture(scope="module")
def shipped():
    return {case.name: case for case in read_pack(CASES / "modules.pack.xz")}


@pytest.fixture(scope="module")
def listed():
    return list(read_graphs(CASES / "modules.csv"))


def test_every_module_was_tried_by_every_exporter_at_two_opsets(listed):
    tries = [(row.name, each.name, o) for row in MODULES for each in EXPORTERS for o in each.opsets]
    assert [(graph.name, graph.exporter, graph.opset) for graph in listed] == tries
    assert {len(each.opsets) for each in EXPORTERS} == {2}
    assert len(MODULES) >= 34


def test_every_try_is_a_case_or_says_why_not(listed, shipped):
    assert [graph.case for graph in listed if graph.case] == list(shipped)
    assert all(bool(graph.case) != bool(graph.error) for graph in listed)
    failing = Counter((graph.name, graph.exporter) for graph in listed if graph.error)
    assert failing == {
        ("RMSNorm", "torchscript"): 2,
        ("AdaptiveAvgPool2d-5", "torchscript"): 2,
        ("BatchNorm2d-train", "dynamo"): 2,
    }


def test_what_ships_agrees_with_a_second_oracle_and_names_no_file(shipped):
    for case in shipped.values():
        assert (case.domain, case.origin, case.core) == ("torch.nn", origins.MODULE, True)
        assert case.oracles_agree in ("both", "one"), case.name
        assert case.oracle.startswith("torch 2.")
        assert b".py" not in case.model
        assert all(np.isfinite(to_numpy(value)).all() for value in case.expected)


def test_onnx_runtime_passes_every_module(shipped):
    with Sandbox("onnxruntime-cpu", latency=False) as sandbox:
        results = list(sandbox.run_many(map(ProbeRequest, shipped.values())))
    assert {result.outcome for result in results} == {Outcome.PASSED}


@pytest.mark.parametrize("name", ["GELU", "AdaptiveAvgPool2d-5"])
def test_the_exporters_give_what_ships(name, listed, shipped):
    exported = list(export_modules(name))
    assert [each.graph for each in exported] == [graph for graph in listed if graph.name == name]
    for each in exported:
        if each.case:
            assert each.case.id == shipped[each.case.name].id


def test_a_graph_that_no_oracle_confirms_is_told_as_wrong(listed):
    graph = next(graph for graph in listed if graph.case)
    assert list(sound_graphs([graph], [])) == [replace(graph, case="", error=OTHER_GRAPH)]


def test_an_error_is_its_innermost_cause_without_advice():
    error = RuntimeError("the export failed")
    error.__cause__ = ValueError("no such operator. Please tell us.\nA stack follows.")
    assert first_sentence(error) == "ValueError: no such operator"


def test_what_an_exporter_tells_of_its_files_is_left_out():
    inner = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "g", [], [])
    inner.node[0].doc_string = "File 'inner.py'"
    outer = onnx.helper.make_node("If", ["c"], ["z"], then_branch=inner, else_branch=inner)
    outer.metadata_props.add(key="pkg.torch.onnx.stack_trace", value="File 'outer.py'")
    graph = onnx.helper.make_graph([outer], "g", [], [])
    model = onnx.helper.make_model(graph, producer_name="pytorch")
    assert b".py" not in bare(model).SerializeToString()
    assert model.producer_name == ""
