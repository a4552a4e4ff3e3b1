"""Limits by search: of runtimes that are made up here, and of a real one."""

import json

import pytest

from probes.cases.case import case_id
from probes.cases.limits import all_limits, limits_by_operator
from probes.cases.limits.build import limit_case, typed_cases
from probes.cases.limits.row import KINDS
from probes.cli.main import main
from probes.run.limits import BEST, ELSEWHERE, PARTLY, Unanswered, search, standing
from probes.run.outcome import Outcome, Placement, ProbeResult
from probes.run.requests import ProbeRequest
from probes.run.sandbox import Sandbox

ROWS = list(all_limits())
MEGA = 10**6
REFUSALS = (Outcome.REJECTED, Outcome.RUN_ERROR)
CONV = limits_by_operator()["Conv"][0]


def name_of(row):
    return f"{row.op} {row.parameter}"


def ask_by(tell):
    """A runtime that answers by the value in the case's name."""

    def ask(case):
        outcome, placement = tell(int(case.name.rpartition("/")[2]))
        return ProbeResult(case.id, "as_is", "t", outcome, message="why", placement=placement)

    return ask


def on_the_unit(outcome):
    return outcome, Placement.ACCELERATOR


def test_operators_and_parameters_are_many_and_named_once():
    assert len(limits_by_operator()) >= 12
    names = [name_of(row) for row in ROWS]
    assert len(set(names)) == len(names)
    for row in ROWS:
        assert row.least <= row.usual <= row.most
        assert row.kind in KINDS


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_every_case_is_small_and_has_an_ordinary_id(row):
    for value in {row.least, row.usual, row.most}:
        case = limit_case(row, value)
        tensors = [tensor.data for tensor in (*case.inputs, *case.expected)]
        assert max(map(len, [case.model, *tensors])) < 8 * MEGA
        assert case.id == case_id(case.model, case.inputs) == limit_case(row, value).id
        assert case.name.startswith(f"limit/{row.op}/")


def test_expected_outputs_are_what_onnx_runtime_computes():
    cases = [limit_case(row, row.usual) for row in ROWS]
    cases += [
        case for rows in limits_by_operator().values() for case in typed_cases(rows[0]).values()
    ]
    with Sandbox("onnxruntime-cpu", latency=False) as sandbox:
        results = list(sandbox.run_many(ProbeRequest(case) for case in cases))
    names = {case.id: case.name for case in cases}
    wrong = {names[each.case_id]: each.message for each in results
             if each.outcome not in (Outcome.PASSED, *REFUSALS)}  # fmt: skip
    assert wrong == {}
    refused = [names[each.case_id] for each in results if each.outcome in REFUSALS]
    assert all(name.count("/") == 4 for name in refused)  # a data type, never a usual value


def test_a_refusal_is_told_with_its_neighbour_and_its_words():
    found = search(CONV, ask_by(lambda k: on_the_unit(
        Outcome.PASSED if k <= 7 else Outcome.REJECTED)))  # fmt: skip
    assert found.largest.worked["value"] == 7
    assert found.largest.failed["value"] == 8
    assert found.largest.failed["message"] == "why"
    assert found.largest.failed["case_id"] == limit_case(CONV, 8).id
    assert found.largest.failed["node"]["attributes"]["kernel_shape"] == [8, 8]
    assert found.largest.failed["node"]["inputs"][0]["shape"] == [1, 2, 11, 11]
    assert found.smallest.worked["value"] == 1
    assert found.smallest.failed is None


def test_what_falls_back_to_the_cpu_has_met_its_limit():
    found = search(CONV, ask_by(lambda k: (
        Outcome.PASSED, Placement.ACCELERATOR if k < 30 else Placement.FALLBACK)))  # fmt: skip
    assert (found.largest.worked["value"], found.largest.failed["value"]) == (29, 30)
    assert found.largest.failed["placement"] == "fallback"


@pytest.mark.parametrize(
    ("placement", "detail", "operator", "stands"),
    [
        ("accelerator", "Conv:NPU", "Conv", BEST),
        ("unknown", "", "Conv", BEST),
        ("mixed", "Reshape:CPU x2 exSoftmax13:NPU", "Softmax", BEST),
        ("mixed", "Conv:NPU Slice:CPU", "Slice", PARTLY),
        ("mixed", "Reshape:NPU x2 ReduceMax:CPU", "ReduceMax", ELSEWHERE),
        ("mixed", "Reshape:NPU Transpose:CPU", "Transpose", ELSEWHERE),
        ("mixed", "", "Conv", PARTLY),
        ("fallback", "", "Conv", ELSEWHERE),
        ("fallback", "TopK:CPU", "TopK", ELSEWHERE),
    ],
)
def test_an_operator_runs_where_its_own_layers_run(placement, detail, operator, stands):
    result = ProbeResult("c", "as_is", "t", Outcome.PASSED, placement=Placement(placement),
                         placement_detail=detail)  # fmt: skip
    assert standing(result, operator) == stands


def test_a_usual_value_that_does_not_work_ends_the_search():
    found = search(CONV, ask_by(lambda k: on_the_unit(Outcome.CRASHED)))
    assert found.largest.worked is None
    assert found.largest.failed["value"] == CONV.usual
    assert found.largest.tried == ((CONV.usual, "crashed"),)


def test_our_own_failure_is_no_limit():
    with pytest.raises(Unanswered, match="harness_error: why"):
        search(CONV, ask_by(lambda k: on_the_unit(
            Outcome.PASSED if k < 9 else Outcome.HARNESS_ERROR)))  # fmt: skip


def test_the_command_writes_a_document_and_goes_on_with_it(tmp_path, capsys):
    out = tmp_path / "limits.json"
    command = ["limits", "--runtime", "onnxruntime-cpu", "--out", str(out), "--operators"]
    assert main([*command, "Split"]) == 0
    first = json.loads(out.read_text())
    assert main([*command, "Split", "DepthToSpace"]) == 0
    document = json.loads(out.read_text())
    assert document["operators"][0] == first["operators"][0]
    assert [each["operator"] for each in document["operators"]] == ["Split", "DepthToSpace"]
    assert document["target"]["runtime_version"] == document["environment"]["runtime_version"]
    (outputs,) = document["operators"][0]["parameters"]
    assert outputs["largest"]["worked"]["value"] == 256
    assert outputs["largest"]["failed"] is None
    operands = document["operators"][0]["operands"]
    assert "float" in operands["input"]["dataTypes"]
    assert (
        "Split                outputs              1 (tried to 1) to 256" in capsys.readouterr().out
    )


def test_another_targets_file_is_not_overwritten(tmp_path, capsys):
    out = tmp_path / "limits.json"
    out.write_text("{}")
    assert (
        main(["limits", "--runtime", "reference", "--operators", "Split", "--out", str(out)]) == 1
    )
    assert "holds something else" in capsys.readouterr().err
    assert out.read_text() == "{}"


def test_the_command_writes_the_model_of_a_value(tmp_path, capsys):
    out = tmp_path / "conv.onnx"
    assert main(["limits", "--case", "limit/Conv/kernel/9", "--out", str(out)]) == 0
    assert out.read_bytes() == limit_case(CONV, 9).model
    assert main(["limits", "--case", "limit/Conv/nothing/9", "--out", str(out)]) == 1
    assert "no limit of the name" in capsys.readouterr().err
