import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper

from probes.model.facts import make_facts
from probes.model.modelfile import read_structure
from probes.model.refusals import ModelFileError
from probes.model.wire import strip_weights
from tests.probes.model.make_models import make_function, make_model, relu

DATA = Path(__file__).parents[2] / "data"
SEEDS = [
    *(path.read_bytes() for path in sorted((DATA / "models").glob("*.onnx"))),
    *(
        (DATA / "hostile" / f"{name}.onnx").read_bytes()
        for name in ("H10_deep_nested_if", "H15_model_local_functions", "H28_value_info_lies")
    ),
    make_model(
        [helper.make_node("F", ["x"], ["y"], domain="local")],
        functions=[make_function("F", [relu("a", "b")])],
        domains=["local"],
    ).SerializeToString(),
]

edits = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.sampled_from("=+-"), st.binary(max_size=6)),
    min_size=1,
    max_size=6,
)


def mutate(data, changes):
    out = bytearray(data)
    for where, kind, new in changes:
        at = int(where * len(out))
        if kind == "=":
            out[at : at + len(new)] = new
        elif kind == "+":
            out[at:at] = new
        else:
            del out[at : at + len(new)]
    return bytes(out)


def answer(read, *given):
    """What `read` yields, or the sentence of its refusal; anything else it raises is a bug."""
    try:
        return read(*given)
    except ModelFileError as error:
        return error.sentence


LONG = {"suppress_health_check": [HealthCheck.function_scoped_fixture]}


@settings(max_examples=400, deadline=2000, **LONG)
@given(seed=st.sampled_from(SEEDS), changes=edits)
def test_mutated_models_are_read_or_refused_and_nothing_else(tmp_path, seed, changes):
    path = tmp_path / "mutated.onnx"
    path.write_bytes(mutate(seed, changes))
    assert answer(read_structure, path)


@settings(max_examples=250, deadline=5000, **LONG)
@given(seed=st.sampled_from(SEEDS), changes=edits)
def test_mutated_models_have_facts_or_a_sentence(tmp_path, seed, changes):
    path = tmp_path / "mutated.onnx"
    path.write_bytes(mutate(seed, changes))
    found = answer(make_facts, path)
    assert isinstance(found, str) or json.loads(json.dumps(found, allow_nan=False)) == found


@settings(max_examples=300, deadline=1000)
@given(st.binary(max_size=200))
def test_any_bytes_at_all_are_survived(data):
    assert answer(strip_weights, memoryview(data))
