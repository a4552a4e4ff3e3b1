"""`python -m probes check`: what is sent, what is printed, and with which exit status it ends."""

import json
import time
from pathlib import Path

import pytest
from django.core.management import call_command

from compat.models import Report
from compat.tokens import issue_token
from probes.cli.main import main
from probes.model.facts import make_facts
from tests.live import serve_site, serve_told
from tests.make import make_cell, make_column, make_model, make_operator

pytestmark = pytest.mark.django_db

CPU = "test-cpu.onnxruntime-cpu.default"
HOSTILE = Path("tests/data/hostile")


@pytest.fixture(autouse=True)
def knowledge(monkeypatch, tmp_path, settings):
    """Relu works, Exp has limits, Tan fails, of Sin nothing is known."""
    settings.UPLOAD_DIR = tmp_path / "uploads"
    monkeypatch.delenv("OPATLAS_TOKEN", raising=False)
    quick = lambda path, **_: make_facts(path)  # noqa: E731
    monkeypatch.setattr("probes.run.analyse.facts_of", quick)
    monkeypatch.setattr("probes.cli.check.facts_of", quick)
    make_cell(make_operator("Relu"))
    make_cell(make_operator("Exp"), level="yellow", reason_code="close")
    make_cell(
        make_operator("Tan"),
        level="red",
        reason_code="refused",
        reason_params={"stage": "load", "message": "no kernel"},
    )


@pytest.fixture
def site():
    with serve_site() as address:
        yield address


@pytest.fixture
def model(tmp_path):
    def write(*ops, name="secret"):
        path = tmp_path / "private_net.onnx"
        path.write_bytes(make_model(*ops, name=name))
        return path

    return write


@pytest.fixture
def check(capsys):
    def run(path, server, *options, targets=(CPU,)):
        asked = [f"--target={target}" for target in targets]
        code = main(["check", str(path), f"--server={server}", *asked, *options])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.mark.parametrize(
    ("ops", "fail_on", "code"),
    [
        (["Relu"], "unknown", 0),
        (["Relu", "Exp"], "red", 0),
        (["Relu", "Exp"], "yellow", 1),
        (["Relu", "Tan"], "red", 1),
        (["Relu", "Sin"], "yellow", 0),
        (["Relu", "Sin"], "unknown", 1),
    ],
)
def test_the_exit_status_says_whether_anything_is_as_bad_as_asked(
    check, site, model, ops, fail_on, code
):
    assert check(model(*ops), site, "--fail-on", fail_on)[0] == code


def test_the_exit_status_is_of_the_targets_that_were_asked(check, site, model):
    make_cell(make_operator("Relu"), make_column("openvino-cpu"), "red", reason_code="run_error")
    path = model("Relu")
    assert check(path, site)[0] == 0
    assert check(path, site, targets=["openvino-cpu"])[0] == 1
    assert check(path, site, targets=[CPU, "openvino-cpu"])[0] == 1


@pytest.mark.parametrize("way", ["", "--hash-names", "--upload"])
def test_the_text_is_that_of_check_model_however_it_is_asked(check, site, model, capsys, way):
    path = model("Relu", "Tan", "Tan", "Sin")
    code, printed, _ = check(path, site, *filter(None, [way]))
    with pytest.raises(SystemExit) as ending:
        call_command("check_model", str(path), f"--target={CPU}")
    told, _, page = printed.rstrip().rpartition("\n\nReport: ")
    assert told == capsys.readouterr().out.rstrip()
    assert code == ending.value.code == 1
    assert page == f"{site}/reports/{Report.objects.get().token}/"
    assert "at: secret, secret" in told


def test_the_json_is_that_of_check_model(check, site, model, capsys):
    path = model("Relu", "Tan")
    _, printed, _ = check(path, site, "--format", "json")
    with pytest.raises(SystemExit):
        call_command("check_model", str(path), f"--target={CPU}", format="json")
    assert json.loads(printed)["targets"] == json.loads(capsys.readouterr().out)["targets"]


def test_hidden_names_never_reach_the_server(check, site, model):
    check(model("Relu", "Tan"), site, "--hash-names")
    report = Report.objects.get()
    stored = json.dumps([report.facts, report.results, report.file_name])
    assert "secret" not in stored
    assert "private_net" not in stored
    check(model("Relu", "Tan"), site, "--hash-names")
    assert Report.objects.count() == 1  # the digests are the same each time


def test_weights_are_not_sent(check, model):
    with serve_told((500, {}, b"")) as (address, told):
        path = model("Relu")
        assert check(path, address)[0] == 2
    ((_, _, _, body),) = told.asked
    assert set(json.loads(body)) == {"facts", "targets", "file_name"}
    assert path.read_bytes() not in body


def test_a_token_opens_a_closed_server(check, site, model, settings, monkeypatch, tmp_path):
    settings.OPEN_SCOPES = frozenset()
    path = model("Relu")
    code, _, err = check(path, site)
    assert code == 2
    assert "OPATLAS_TOKEN" in err
    _, secret = issue_token(name="ci", scopes=["reports"])
    file = tmp_path / "token"
    file.write_text(secret + "\n")
    assert check(path, site, f"--token-file={file}")[0] == 0
    monkeypatch.setenv("OPATLAS_TOKEN", secret)
    assert check(path, site)[0] == 0


@pytest.mark.parametrize("way", ["", "--upload"])
def test_a_token_that_travels_openly_is_warned_of(check, model, monkeypatch, way):
    """The address 0.0.0.0 leads here too, and is none of loopback."""
    monkeypatch.setenv("NO_PROXY", "*")
    warned = {}
    for token in ("", "opa_x"):
        monkeypatch.setenv("OPATLAS_TOKEN", token)
        with serve_told((500, {}, b"")) as (address, told):
            there = address.replace("127.0.0.1", "0.0.0.0")
            for server in (address, there):
                code, out, err = check(model("Relu"), server, "--format=json", *filter(None, [way]))
                warned[token, server == there] = "others on the way can read the token" in err
                assert (code, set(json.loads(out))) == (2, {"error"})
                assert "opa_x" not in err
        assert len(told.asked) == 2
    assert warned == {("", False): False, ("", True): False,
                      ("opa_x", False): False, ("opa_x", True): True}  # fmt: skip


@pytest.mark.parametrize("content", [None, "", "a b", "a\nb", "é"])
def test_a_token_file_that_holds_no_token_is_said(check, model, tmp_path, content):
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content)
    code, _, err = check(model("Relu"), "http://127.0.0.1:9", f"--token-file={file}")
    assert code == 2
    assert "token file" in err


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize(
    ("path", "targets", "said"),
    [
        (HOSTILE / "H01_truncated.onnx", [CPU], "truncated"),
        (HOSTILE / "H03_empty_file.onnx", [CPU], "empty"),
        (Path("no/such/file.onnx"), [CPU], "cannot be read"),
        (Path("tests"), [CPU], "cannot be read"),
        (None, ["no.such.target"], "no target"),
        (None, [CPU, "tensorrt"], "no target"),
    ],
)
@pytest.mark.parametrize("way", ["--hash-names", "--upload"])
def test_what_cannot_be_told_is_two_and_a_sentence(
    check, site, model, path, targets, said, format, way
):
    code, printed, err = check(
        path or model("Relu"), site, "--format", format, way, targets=targets
    )
    assert (code, err.count("\n")) == (2, 1)
    assert said in err
    if format == "json":
        assert said in json.loads(printed)["error"]["detail"]
    else:
        assert printed == ""


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((200, {}, b"<html>"), "no JSON"),
        ((200, {}, b"[]"), "opatlas-probes of the server's version"),
        ((200, {}, b'{"state": "ready"}'), "opatlas-probes of the server's version"),
        ((200, {}, b'{"state": "failed"}'), "could not judge the model"),
        ((404, {}, b"no"), "is it an OpAtlas server"),
        ((302, {"Location": "http://other/"}, b""), "sends callers to http://other/"),
        ((422, {}, b'{"code": "x", "detail": "\\u001b[31mred"}'), "\ufffd[31mred"),
    ],
)
def test_an_answer_that_is_no_report_is_two_and_a_sentence(check, model, answer, said):
    with serve_told(answer) as (address, _):
        code, _, err = check(model("Relu"), address)
    assert code == 2
    assert said in err
    assert "Traceback" not in err


def test_a_server_that_is_away_is_two_within_the_time_limit(check, model):
    began = time.monotonic()
    code, _, err = check(model("Relu"), "http://127.0.0.1:9", "--timeout", "1.5")
    assert code == 2
    assert "--timeout" in err
    assert time.monotonic() - began < 5


def test_our_own_failure_is_never_read_as_findings(check, model, monkeypatch):
    def fail(*args):
        raise ZeroDivisionError

    monkeypatch.setattr("probes.cli.check.read_token", fail)
    code, _, err = check(model("Relu"), "http://127.0.0.1:9")
    assert code == 2
    assert "The check itself failed" in err


def test_a_report_that_waits_is_asked_for_until_it_is_ready(check, model, client, monkeypatch):
    monkeypatch.setattr("probes.cli.check.POLL_SECONDS", 0.01)
    question = {"facts": make_facts(model("Tan")), "targets": [CPU]}
    report = client.post("/api/v1/reports/", question, content_type="application/json").json()
    waiting = (202, {}, json.dumps(report | {"state": "queued", "targets": []}).encode())
    done = (200, {}, json.dumps(report).encode())
    with serve_told(waiting, waiting, done) as (address, told):
        assert check(model("Tan"), address)[0] == 1
    assert [each[1] for each in told.asked[1:]] == [f"/api/v1/reports/{report['token']}/"] * 2
    with serve_told(waiting) as (address, told):
        code, _, err = check(model("Tan"), address, "--timeout", "1")
    assert (code, "not ready yet" in err) == (2, True)
