"""The command for CI jobs: three exit codes, two formats, one sentence when it cannot tell."""

import json

import pytest
from django.core.management import call_command
from django.db import DatabaseError

from probes.model.facts import make_facts
from tests.make import make_cell, make_column, make_model, make_operator

pytestmark = pytest.mark.django_db

CPU = "test-cpu.onnxruntime-cpu.default"
HOSTILE = "tests/data/hostile"


@pytest.fixture(autouse=True)
def knowledge(monkeypatch):
    """Relu works, Exp has limits, Tan fails, of Sin nothing is known."""
    monkeypatch.setattr("probes.run.analyse.facts_of", make_facts)
    make_cell(make_operator("Relu"))
    make_cell(make_operator("Exp"), level="yellow", reason_code="close")
    make_cell(
        make_operator("Tan"),
        level="red",
        reason_code="refused",
        reason_params={"stage": "load", "message": "no kernel"},
    )


@pytest.fixture
def check(tmp_path, capsys):
    def run(*ops, targets=(CPU,), path=None, **options):
        if path is None:
            path = tmp_path / "model.onnx"
            path.write_bytes(make_model(*ops))
        asked = [f"--target={target}" for target in targets]
        with pytest.raises(SystemExit) as ending:
            call_command("check_model", str(path), *asked, **options)
        printed = capsys.readouterr()
        return ending.value.code, printed.out, printed.err

    return run


@pytest.mark.parametrize(
    ("ops", "fail_on", "code"),
    [
        (["Relu"], "unknown", 0),
        (["Relu", "Exp"], "red", 0),
        (["Relu", "Exp"], "yellow", 1),
        (["Relu", "Tan"], "red", 1),
        (["Relu", "Tan"], "unknown", 1),
        (["Relu", "Sin"], "red", 0),
        (["Relu", "Sin"], "yellow", 0),
        (["Relu", "Sin"], "unknown", 1),
    ],
)
def test_the_exit_code_says_whether_anything_is_as_bad_as_asked(check, ops, fail_on, code):
    assert check(*ops, fail_on=fail_on)[0] == code


def test_red_is_what_fails_when_nothing_is_said(check):
    assert check("Exp")[0] == 0
    assert check("Tan")[0] == 1


def test_one_bad_target_among_several_is_enough(check):
    make_cell(make_operator("Relu"), make_column("openvino-cpu"), "red", reason_code="run_error")
    code, printed, _ = check("Relu", targets=[CPU, "openvino-cpu"], format="json")
    levels = {target["id"]: target["level"] for target in json.loads(printed)["targets"]}
    assert code == 1
    assert levels == {CPU: "green", "test-cpu.openvino-cpu.default": "red"}


def test_json_has_targets_with_levels_and_findings(check):
    _, printed, err = check("Relu", "Tan", "Sin", format="json")
    (target,) = json.loads(printed)["targets"]
    assert (target["id"], target["level"], err) == (CPU, "red", "")
    first = target["findings"][0]
    assert first["level"] == "red"
    assert first["operator"] == ["ai.onnx", "Tan"]
    assert first["kind"] == "measured"
    assert first["rung"] == "operator"
    assert first["detail_text"] == "refused at loading: no kernel"
    assert first["node_names"] == ["n1"]
    assert target["totals"]["unknown"] == 1


def test_text_says_what_where_why_and_what_to_do(check):
    _, printed, _ = check("Relu", "Tan", "Tan", "Sin")
    assert "model.onnx: 4 nodes, ai.onnx 18" in printed
    assert f"{CPU}: red (nodes: 2 red, 0 yellow, 1 green, 1 unknown, 0 free)" in printed
    assert "✗ red     Tan x2: " in printed
    assert "refused at loading: no kernel" in printed
    assert "at: n1, n2" in printed
    assert "? unknown Sin: " in printed
    assert "Relu" not in printed


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize(
    ("path", "targets", "said"),
    [
        (f"{HOSTILE}/H01_truncated.onnx", [CPU], "truncated"),
        (f"{HOSTILE}/H03_empty_file.onnx", [CPU], "empty"),
        ("no/such/file.onnx", [CPU], "cannot be read"),
        ("tests", [CPU], "cannot be read"),
        (None, ["no.such.target"], "no target"),
        (None, [CPU, "tensorrt"], "no target"),
    ],
)
def test_what_cannot_be_told_is_two_and_a_sentence(check, path, targets, said, format):
    code, printed, err = check("Relu", path=path, targets=targets, format=format)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    if format == "json":
        assert said in json.loads(printed)["error"]["detail"]
    else:
        assert printed == ""


def test_our_own_failure_is_never_read_as_findings(check, monkeypatch):
    def fail(*args):
        raise DatabaseError("no such table")

    monkeypatch.setattr("compat.reports.knowledge_for", fail)
    code, _, err = check("Relu")
    assert code == 2
    assert "The check itself failed: no such table" in err


def test_a_hostile_name_does_not_reach_the_terminal(check, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(make_model("Tan", name="\x1b]0;owned\x07"))
    _, printed, _ = check(path=path)
    assert "\x1b" not in printed
    assert "owned" in printed
