"""What the page of a pattern or a module says of its graphs, in both languages."""

import re

import pytest

from compat import catalogue
from compat.graphs import FILES
from compat.matrix import MatrixFilters, load_matrix
from probes.cases.graphs import read_graphs
from webui.table import matrix_rows
from webui.words import word

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def rows():
    catalogue.load_operators()


def read(client, path, language="en"):
    client.cookies["django_language"] = language
    return client.get(path).content.decode()


def test_a_pattern_says_what_it_consists_of(client):
    page = read(client, "/operators/pattern/Conv-SiLU/")
    assert "What it consists of" in page
    assert 'href="/operators/ai.onnx/Sigmoid/"' in page


def test_a_module_says_what_each_exporter_makes_of_it(client):
    page = read(client, "/operators/torch.nn/GELU/")
    assert "What exporters make of it" in page
    assert page.count("torch.onnx.export(dynamo=True)") == 2
    assert 'href="/operators/ai.onnx/Erf/"' in page
    assert "The export fails" not in page


def test_a_refusal_and_a_wrong_graph_are_told_apart(client):
    refused = read(client, "/operators/torch.nn/RMSNorm/")
    assert refused.count("The export fails:") == 2
    wrong = read(client, "/operators/torch.nn/BatchNorm2d-train/")
    assert wrong.count("No case:") == 2
    assert "the graph computes something else than the module" in wrong


def test_it_says_the_same_in_chinese(client):
    assert "由什么组成" in read(client, "/operators/pattern/Conv-SiLU/", "zh-hans")
    assert "导出失败：" in read(client, "/operators/torch.nn/RMSNorm/", "zh-hans")
    wrong = read(client, "/operators/torch.nn/BatchNorm2d-train/", "zh-hans")
    assert "计算图算出的结果与该模块不同" in wrong


def test_every_exporter_has_a_name():
    named = {graph.exporter for graph in read_graphs(FILES["module"])}
    assert all(word("exporter", name) != name for name in named)


def test_an_operator_has_no_such_section(client):
    assert 'id="graphs"' not in read(client, "/operators/ai.onnx/Conv/")


def test_only_a_long_name_may_take_a_second_line_in_the_matrix():
    rows = matrix_rows(load_matrix(MatrixFilters(domains=("pattern",))))
    long = re.findall(r'<th scope=row class=long><a href="/operators/pattern/(.+?)/"', rows)
    assert "LayerNormalization-decomposed" in long
    assert "Attention-masked" not in long
