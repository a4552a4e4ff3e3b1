"""The mainstream tables: what they cover, that they rebuild to the listed ids, and their source."""

import csv
import hashlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from probes.cases.alternatives import build_alternatives
from probes.cases.fills import FILLS, fill, words
from probes.cases.tables import all_rows

LIST = Path(__file__).parents[3] / "fixtures" / "cases" / "mainstream.csv"
ROWS = list(all_rows())


def words_of(text):
    return text.split()


# The commonest operators of the models in the survey of PyPI wheels, in its order.
COMMONEST = words_of(
    """
    Relu Conv Add Concat Reshape Mul BatchNormalization Sigmoid Slice HardSigmoid GlobalAveragePool
    Softmax Unsqueeze Div MatMul Shape MaxPool Identity Transpose Cast ReduceMean Constant Squeeze
    Sqrt Pow ConstantOfShape AveragePool Pad Resize Sub
    """
)
SEEN = words_of(
    """
    ConvTranspose HardSwish Clip Erf LSTM Gather Equal Gemm If Size Not Scaler Sum Dropout Neg Tanh
    Split LRN ReduceSum Log ReduceMin ReduceMax Where
    """
)
ASKED = words_of(
    """
    Gelu LayerNormalization InstanceNormalization GroupNormalization Attention GridSample TopK
    NonMaxSuppression Loop GRU Einsum CumSum ScatterND QuantizeLinear DequantizeLinear QLinearConv
    DynamicQuantizeLinear GatherElements GatherND Expand Tile Greater Less And Or RMSNormalization
    RotaryEmbedding MultiHeadAttention DepthToSpace RoiAlign ArgMax PRelu LeakyRelu Mod
    """
)


DIGESTS = {
    "normal": "52e8bfec",
    "unit": "bb56814a",
    "scale": "c28b8460",
    "signed_unit": "0cc13d12",
    "positive": "be0c5711",
    "square": "2b563477",
    "small": "5846f306",
    "nonzero": "0f73d839",
    "conv": "84fdb989",
    "matmul": "bccbaec9",
    "recurrent": "c61b20d7",
    "distinct": "ab0230b4",
    "boxes": "39639175",
    "bits": "b4e3afa1",
    "uint8": "7d46ac63",
    "int8": "e919aef7",
    "int32": "49661ca8",
    "below:7": "836ff65e",
}


def test_every_operator_of_real_models_has_a_case():
    covered = {row.op for row in ROWS}
    assert [op for op in (*COMMONEST, *SEEN, *ASKED) if op not in covered] == []
    assert len(covered) >= 130


def test_the_commonest_operators_have_three_cases_or_more():
    counts = Counter(row.op for row in ROWS)
    assert {op: counts[op] for op in COMMONEST if counts[op] < 3} == {}


def test_names_are_unique_and_versioned():
    assert [name for name, count in Counter(row.name for row in ROWS).items() if count > 1] == []
    assert [row.name for row in ROWS if not row.name.rsplit("-v")[-1].isdigit()] == []


def test_every_shape_is_cited():
    sources = ("==", "arXiv:", "Ultralytics", "Radford")
    assert [row.name for row in ROWS if not any(mark in row.cite for mark in sources)] == []


def test_weights_are_constant_and_data_is_not():
    """Only what has no data at all may have no run-time input."""
    still = {row.op for row in ROWS if all(feed is None or feed.constant for feed in row.feeds)}
    assert still == {"Constant", "ConstantOfShape", "DequantizeLinear", "Expand"}


def test_the_list_is_rebuilt_to_the_same_ids(built):
    with LIST.open(encoding="utf-8", newline="") as file:
        listed = {row["name"]: row["id"] for row in csv.DictReader(file)}
    ways = {case.name: case.id for case in build_alternatives()}
    assert {case.name: case.id for case in built} | ways == listed


def test_cases_are_core_timed_and_described(built):
    for case in built:
        assert (case.core, case.timed, case.origin) == (True, True, "mainstream")
        assert case.signature["op"] == case.op_type
        assert case.since_version == case.signature["since"]
        assert case.ir_version <= 10


def test_expected_values_are_finite_and_not_all_alike(built):
    for case in built:
        assert case.finite, case.name


@pytest.mark.parametrize("name", [*FILLS, "below:7"])
def test_fills_do_not_move(name):
    """The bytes decide the ids, so a numpy that gave others would orphan every result."""
    drawn = fill(name, "a seed", (4, 6, 4))
    assert drawn.shape == (4, 6, 4)
    assert hashlib.sha256(drawn.tobytes()).hexdigest()[:8] == DIGESTS[name]


def test_words_are_splitmix64():
    assert len(set(words("a seed", 1000).tolist())) == 1000
    assert words("a seed", 3).tolist() == words("a seed", 9)[:3].tolist()
    assert words("a seed", 1).tolist() != words("b seed", 1).tolist()


def test_weights_keep_activations_near_their_size():
    weight = fill("conv", "w", (64, 64, 3, 3)).astype(np.float64)
    gain = np.sqrt((weight.reshape(64, -1) ** 2).sum(axis=1))
    assert 0.9 < gain.mean() < 1.4
