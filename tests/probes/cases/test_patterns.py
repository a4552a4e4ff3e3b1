"""The patterns: what ships is what the tables say, and both oracles give it."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from probes.cases import origins
from probes.cases.build_patterns import build_patterns
from probes.cases.catalogue import read_pack
from probes.cases.graphs import Graph, Step, graph_of, read_graphs, write_graphs
from probes.cases.patterns import all_patterns, pattern_names
from probes.model.values import to_numpy
from probes.run.outcome import Outcome
from probes.run.sandbox import ProbeRequest, Sandbox

SHIPPED = Path(__file__).parents[3] / "fixtures" / "cases" / "patterns.pack.xz"
# onnx's evaluator has no DequantizeLinear-13, and GatherElements only along short axes.
ONE_ORACLE = {
    "pattern/Conv-QDQ/per-tensor-16-32-14-v2",
    "pattern/Conv-QDQ/per-channel-16-32-14-v2",
    "pattern/Conv-QDQ/symmetric-16-32-14-v1",
    "pattern/TopK-tail/300x4-v1",
}
LOW = "pattern/Attention-masked-1e12/4x40x16-v1"


@pytest.fixture(scope="module")
def shipped():
    return list(read_pack(SHIPPED))


@pytest.fixture(scope="module")
def built():
    return {case.name: case for case in build_patterns()}


def test_what_ships_is_what_the_tables_say(shipped, built):
    assert [case.name for case in shipped] == [row.case_name for row in all_patterns()]
    assert {case.name: case.id for case in shipped} == {
        name: case.id for name, case in built.items()
    }
    for case in shipped:
        for stored, made in zip(case.expected, built[case.name].expected, strict=True):
            assert np.allclose(to_numpy(stored), to_numpy(made), rtol=1e-5, atol=1e-6), case.name


def test_both_oracles_agree_but_in_the_listed_cases(shipped):
    assert {case.name for case in shipped if case.oracles_agree != "both"} == ONE_ORACLE
    assert {case.oracles_agree for case in shipped} == {"both", "one"}


def test_onnx_runtime_passes_every_pattern(shipped):
    with Sandbox("onnxruntime-cpu", latency=False) as sandbox:
        outcomes = [result.outcome for result in sandbox.run_many(map(ProbeRequest, shipped))]
    assert outcomes == [Outcome.PASSED] * len(shipped)


def test_each_is_a_sound_model_of_several_nodes_that_decides_its_own_row(shipped):
    for case in shipped:
        model = onnx.load_from_string(case.model)
        if "NMS" not in case.name:  # its output has no shape to check
            onnx.checker.check_model(model, full_check=True)
        assert len(model.graph.node) > 1
        assert (case.domain, case.origin, case.core) == ("pattern", origins.PATTERN, True)
        assert all(np.isfinite(to_numpy(value)).all() for value in case.expected)


def test_there_are_the_patterns_that_were_asked_for():
    asked = {
        *("Conv-BatchNormalization-Relu", "Conv-SiLU", "LayerNormalization-decomposed"),
        *("GELU-erf", "GELU-tanh", "RMSNorm-decomposed", "Attention", "Attention-masked"),
        *("Attention-masked-1e12", "MultiheadAttention", "SqueezeExcite", "ChannelShuffle"),
        *("PixelShuffle", "NMS-tail", "HardSwish-decomposed", "Conv-QDQ"),
    }
    assert asked <= set(pattern_names())


def test_a_mask_beyond_half_precision_is_in_the_graph(built):
    model = onnx.load_from_string(built[LOW].model)
    low = next(each for each in model.graph.initializer if each.name == "low")
    assert abs(onnx.numpy_helper.to_array(low)) > np.finfo(np.float16).max


def test_the_list_beside_the_pack_says_what_each_consists_of(shipped):
    listed = list(read_graphs(SHIPPED.with_name("patterns.csv")))
    assert listed == [graph_of(case) for case in shipped]
    known = {graph.case: graph.operators for graph in listed}
    assert known["pattern/Conv-SiLU/1x1-32-32-20-v1"] == (
        Step("Conv", 1),
        Step("Sigmoid", 1),
        Step("Mul", 1),
    )


def test_a_list_reads_as_it_was_written(tmp_path):
    graphs = [
        Graph("d", "N", "case", "dynamo", 18, (Step("com.microsoft::Gelu", 2), Step("Add", 1))),
        Graph("d", "N", "", "torchscript", 17, (), 'it said, "no"'),
    ]
    write_graphs(tmp_path / "graphs.csv", graphs)
    assert list(read_graphs(tmp_path / "graphs.csv")) == graphs
