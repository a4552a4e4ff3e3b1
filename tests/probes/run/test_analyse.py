import time
from pathlib import Path

import pytest

from probes.model.facts import make_facts
from probes.model.refusals import ModelFileError
from probes.run.analyse import facts_of

DATA = Path(__file__).parents[2] / "data"


def test_the_facts_are_those_made_in_this_process():
    path = DATA / "models" / "C28_qdq_int8_symmetric_control.onnx"
    assert facts_of(path) == make_facts(path)


@pytest.mark.parametrize(
    "name", ["H24_function_expansion_bomb", "H25_einsum_shape_inference_crash", "H03_empty_file"]
)
def test_a_refusal_crosses_the_process(name):
    path = DATA / "hostile" / f"{name}.onnx"
    with pytest.raises(ModelFileError) as inside:
        make_facts(path)
    started = time.monotonic()
    with pytest.raises(ModelFileError) as outside:
        facts_of(path)
    assert outside.value.sentence == inside.value.sentence
    assert time.monotonic() - started < 10


def test_too_much_time_ends_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("probes.run.analyse.call_limited", linger)
    with pytest.raises(ModelFileError, match="took too long"):
        facts_of(tmp_path / "any.onnx", seconds=0.2)


def test_too_much_memory_ends_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("probes.run.analyse.call_limited", linger)
    with pytest.raises(ModelFileError, match="took more than 10 MB"):
        facts_of(tmp_path / "any.onnx", memory_bytes=10_000_000)


@pytest.mark.parametrize("path", sorted((DATA / "crashers").glob("*.onnx")), ids=lambda p: p.stem)
def test_models_that_crash_onnx_itself_end_in_a_sentence(path):
    """Found by mutation: onnx 1.23.2 dies of both; another onnx may find words of its own."""
    with pytest.raises(ModelFileError) as caught:
        facts_of(path)
    assert caught.value.code in {"analysis_crashed", "invalid"}


def linger(function, payload, **limits):
    """A child that stays until it is noticed; any Python is larger than ten megabytes."""
    from probes.run.limited import call_limited

    return call_limited("tests.probes.run.test_analyse:wait", payload, **limits)


def wait(payload):
    time.sleep(60)
