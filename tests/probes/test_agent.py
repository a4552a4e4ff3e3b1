"""The agent's loop and what it keeps on disk; servers that answer as told, and the real one."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress

import pytest

from compat.devices import register_device
from compat.management.commands.import_results import Command as ImportResults
from compat.models import Cell, Device, Probe, Sweep
from probes.agent import Agent, AgentError
from probes.bundle import read_bundle, sweep_bundle
from probes.cases.case import CaseError
from probes.cli import agent as command
from probes.cli.main import main
from probes.client import Client
from probes.outbox import Outbox, read_document, results_header
from probes.run.outcome import Outcome, ProbeResult
from probes.run.sandbox import Sandbox
from probes.run.slot import StartError
from tests.live import serve_told
from tests.make import make_runnable_case

ME = str(uuid.uuid4())
TARGET = {
    "slug": "board.fake.default@1.0",
    "device": "board",
    "runtime": "fake",
    "runtime_version": "1.0",
    "config_name": "default",
    "config": {"threads": 1},
}
WELCOME = {"device": "board", "targets": [TARGET], "lease_s": 9, "poll_s": 1, "wake": None}


def make_agent(url, cache, token="", once=True, runtimes=("fake",)):
    client = Client(url, token, tries=1)
    return Agent(client, list(runtimes), cache=cache, instance=ME, once=once)


def answer(document, status=200):
    kind = "application/json" if status < 400 else "application/problem+json"
    return status, {"Content-Type": kind}, json.dumps(document).encode()


def result(number, **fields):
    return ProbeResult(f"{number:032x}", "as_is", TARGET["slug"], Outcome.PASSED, **fields)


@pytest.fixture
def site(transactional_db, live_server, tmp_path, settings):
    settings.CASE_DIR = tmp_path / "server"
    return live_server.url


@pytest.mark.both_databases
def test_an_agent_does_what_waits_and_says_how_much(site, tmp_path):
    for number in range(5):
        make_runnable_case("Relu", number)
    make_runnable_case("Abs", says="segfault")
    _, token = register_device(slug="board", title="", device_class="rk3588")
    assert make_agent(site, tmp_path, token).run() == 6
    outcomes = sorted(Probe.objects.values_list("outcome", flat=True))
    assert outcomes == ["crashed"] + ["passed"] * 5
    assert dict(Cell.objects.values_list("operator__name", "level")) == {
        "Relu": "green", "Abs": "red",
    }  # fmt: skip
    assert Sweep.objects.get().state == "done"
    assert make_agent(site, tmp_path, token).run() == 0
    assert list((tmp_path / "results").iterdir()) == []


@pytest.mark.both_databases
def test_a_bundle_gives_the_same_cells_as_the_agent(site, tmp_path, capsys):
    for number in range(4):
        make_runnable_case("Relu", number)
        make_runnable_case("Neg", number, says="mismatch" if number else "")
    make_runnable_case("Abs", says="refuse_compile", core=False)
    make_runnable_case("Exp", says="refuse_run")
    _, token = register_device(slug="board", title="", device_class="rk3588")
    make_agent(site, tmp_path, token).run()
    by_agent = told_cells(), told_probes()
    Probe.objects.all().delete()
    Cell.objects.all().delete()
    bundle, out = tmp_path / "board.bundle", tmp_path / "results.jsonl"
    secret = tmp_path / "token"
    secret.write_text(f"{token}\n")
    asked = ["--server", site, "--token-file", str(secret), "--target", "board.fake"]
    assert main(["bundle", *asked, "-o", str(bundle)]) == 0
    assert main(["sweep", "--bundle", str(bundle), "--out", str(out)]) == 0
    client = Client(site, token)
    posted = client.post("results/", out.read_bytes(), "application/x-ndjson").json()
    assert posted == {"new": 10, "known": 0}
    assert (told_cells(), told_probes()) == by_agent
    ImportResults().execute(files=[out], no_color=True, force_color=False, skip_checks=True)
    assert "0 new of board, 10 known" in capsys.readouterr().out
    assert (told_cells(), told_probes()) == by_agent


def told_cells():
    fields = [f.attname for f in Cell._meta.fields if f.name not in ("id", "probe", "p50_ms")]
    rows = [{name: getattr(cell, name) for name in fields} for cell in Cell.objects.all()]
    for cell, row in zip(Cell.objects.all(), rows, strict=True):
        row["case"] = cell.probe and cell.probe.case_id
    return sorted(rows, key=lambda row: row["operator_id"])


def told_probes():
    timed = ("id", "sweep", "seconds", "finished_at", "p50_ms", "p95_ms", "min_ms", "offers",
             "peak_memory_bytes")  # fmt: skip
    fields = [f.attname for f in Probe._meta.fields if f.name not in timed]
    rows = Probe.objects.values_list(*fields)
    return sorted(rows, key=lambda row: str(row))


def test_a_bundle_whose_runtime_goes_away_is_gone_on_with_later(tmp_path, monkeypatch):
    from probes.bundle import write_bundle
    from tests.make import engine_case

    cases = [engine_case("Relu", says="segfault"), engine_case("Relu", 1)]
    target = {"device": "board", "runtime": "fake", "config_name": "default", "config": {}}
    bundle, out = tmp_path / "b", tmp_path / "r.jsonl"
    write_bundle(bundle, target, cases)
    checked = Sandbox.capabilities

    def loses_its_python(sandbox):
        sandbox.python, told = "/no/such/python", checked(sandbox)
        return told

    monkeypatch.setattr(Sandbox, "capabilities", loses_its_python)
    with pytest.raises(StartError, match="cannot be started"):
        sweep_bundle(bundle, out)
    assert read_document(out)[1] == []
    monkeypatch.undo()
    assert sweep_bundle(bundle, out) == 2


def test_a_stopped_sweep_of_a_bundle_goes_on_and_another_run_is_not_mixed_in(tmp_path):
    from probes.bundle import write_bundle
    from tests.make import engine_case

    cases = [engine_case("Relu", number) for number in range(3)]
    target = {"device": "board", "runtime": "fake", "config_name": "default", "config": {}}
    bundle, out = tmp_path / "b", tmp_path / "r.jsonl"
    write_bundle(bundle, target, cases)
    assert sweep_bundle(bundle, out) == 3
    whole = out.read_bytes().splitlines(keepends=True)
    out.write_bytes(b"".join(whole[:2]) + whole[2][:40])  # the power went
    assert sweep_bundle(bundle, out) == 2
    ids = [json.loads(line)["case_id"] for line in read_document(out)[1]]
    assert ids == [case.id for case in cases]
    write_bundle(bundle, target | {"runtime": "unheard-of"}, cases)
    with pytest.raises(CaseError, match="for unheard-of, which this release does not know"):
        sweep_bundle(bundle, out)
    write_bundle(bundle, target | {"config": {"threads": 2}}, cases)
    with pytest.raises(CaseError, match="another run"):
        sweep_bundle(bundle, out)
    bundle.write_bytes(bundle.read_bytes()[:-20])
    with pytest.raises(CaseError, match="damaged"):
        list(read_bundle(bundle))
    bundle.write_bytes(b"not gzip")
    with pytest.raises(CaseError, match="no bundle"):
        list(read_bundle(bundle))


@pytest.mark.parametrize(
    ("code", "status"),
    [("schema_mismatch", 409), ("not_this_device", 403), ("authentication_failed", 401)],
)
def test_a_refusal_that_does_not_pass_ends_the_agent_with_its_sentence(tmp_path, code, status):
    problem = {"code": code, "status": status, "detail": "Do this."}
    with serve_told(answer(problem, status)) as (url, told):
        with pytest.raises(AgentError, match="Do this"):
            make_agent(url, tmp_path, once=False).run()
        assert len(told.asked) == 1


@pytest.mark.parametrize("status", [409, 500, 503])
def test_a_server_in_trouble_or_a_passing_refusal_is_waited_for(
    tmp_path, status, caplog, monkeypatch
):
    monkeypatch.setattr("probes.agent.FIRST_DELAY_S", 0.01)
    caplog.set_level("INFO", "opatlas.agent")
    trouble = answer({"code": "device_maintenance", "detail": "In maintenance."}, status)
    claims = [answer({"claim": "c", "lease_s": 9, "probes": []}), answer({"code": "gone"}, 403)]
    with serve_told(trouble, trouble, answer(WELCOME), *claims) as (url, told):
        agent = make_agent(url, tmp_path, once=False)
        with pytest.raises(AgentError):
            agent.run()
    assert [path.rsplit("/", 2)[1] for _, path, *_ in told.asked] == [
        "hello", "hello", "hello", "claims", "claims",
    ]  # fmt: skip
    assert sum("tries again" in line for line in caplog.messages) == 1
    assert sum("takes our calls again" in line for line in caplog.messages) == 1


def test_what_an_earlier_life_found_is_posted_and_what_it_did_not_do_is_lost(tmp_path):
    box = Outbox(tmp_path / "results")
    file = box.begin("c" * 32, results_header(TARGET, {}, claim="c" * 32))
    file.append(result(1))
    file.append(result(2))
    file.close()
    with file.path.open("ab") as torn:
        torn.write(b'{"schema": 1, "case_')
    done = answer({"new": 2, "known": 0}), answer({"probes": 5})
    empty = answer({"claim": "d", "lease_s": 9, "probes": []})
    with serve_told(answer(WELCOME), *done, empty) as (url, told):
        assert make_agent(url, tmp_path).run() == 0
    (_, _, _, posted), (_, path, _, released) = told.asked[1:3]
    assert [json.loads(line).get("case_id") for line in posted.splitlines()] == [
        None, f"{1:032x}", f"{2:032x}",
    ]  # fmt: skip
    assert path.endswith(f"claims/{'c' * 32}/release/")
    assert json.loads(released)["lost"] is True
    assert not file.path.exists()


def test_results_that_the_server_can_never_take_are_kept_for_people(tmp_path, caplog):
    box = Outbox(tmp_path / "results")
    file = box.begin("c", results_header(TARGET, {}, claim="c"))
    file.append(result(1))
    file.close()
    refused = answer({"code": "not_results", "detail": "No such case."}, 422)
    empty = answer({"claim": "d", "lease_s": 9, "probes": []})
    with serve_told(answer(WELCOME), refused, answer({"probes": 0}), empty) as (url, _):
        make_agent(url, tmp_path).run()
    assert file.path.with_suffix(".refused").exists()
    assert "No such case" in caplog.text


def test_a_case_with_other_content_is_no_evidence(tmp_path):
    probes = [{"case": "a" * 32, "form": "as_is"}]
    batch = answer({"claim": "c", "lease_s": 9, "probes": probes})
    empty = answer({"claim": "d", "lease_s": 9, "probes": []})
    other = 200, {"Content-Type": "application/octet-stream"}, b"something else"
    answers = answer(WELCOME), batch, other, answer({"new": 1, "known": 0}), empty
    with serve_told(*answers) as (url, told):
        make_agent(url, tmp_path).run()
    posted = json.loads(told.asked[3][3].splitlines()[1])
    assert posted["outcome"] == "harness_error"
    assert not list((tmp_path / "cases").rglob("*.case"))


def test_no_agent_without_a_runtime(tmp_path):
    with serve_told(answer(WELCOME)) as (url, told):
        agent = make_agent(url, tmp_path, runtimes=["openvino-cpu"])
        agent.slugs = ["nothing-here"]
        with pytest.raises(KeyError):
            agent.run()
    assert told.asked == []


def test_a_token_does_not_travel_openly(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("OPATLAS_TOKEN", "opa_secret")
    asked = ["agent", "--runtime", "fake", "--cache", str(tmp_path), "--server"]
    assert main([*asked, "http://opatlas.example"]) == 1
    assert "not encrypted" in capsys.readouterr().err
    monkeypatch.delenv("OPATLAS_TOKEN")
    assert main([*asked, "http://127.0.0.1:9"]) == 1
    assert "no token" in capsys.readouterr().err
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_one_cache_has_one_agent_and_keeps_its_name(tmp_path):
    with command._only_agent(tmp_path) as lock:
        name = command._instance(lock)
        with pytest.raises(AgentError, match="Another agent"), command._only_agent(tmp_path):
            pass
    with command._only_agent(tmp_path) as lock:
        assert command._instance(lock) == name


def count_lines(path):
    with suppress(FileNotFoundError):
        return path.read_bytes().count(b"\n")
    return 0


@pytest.mark.both_databases
def test_sigterm_ends_cleanly_and_offers_the_rest_again(site, tmp_path):
    for number in range(30):
        make_runnable_case("Relu", number, says="sleep=0.2")
    _, token = register_device(slug="board", title="", device_class="rk3588")
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "probes", "agent", "--server", site, "--runtime", "fake"),
            *("--cache", str(tmp_path / "cache")),
        ],
        env={**os.environ, "OPATLAS_TOKEN": token},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while sum(map(count_lines, (tmp_path / "cache" / "results").glob("*"))) < 3:
            assert process.poll() is None
            time.sleep(0.02)
        process.terminate()
        said = process.communicate(timeout=30)[1]
    finally:
        process.kill()
    assert process.returncode == 0
    assert "Traceback" not in said
    states = dict.fromkeys(Probe.objects.values_list("state", flat=True))
    assert set(states) == {"done", "queued"}
    assert set(Probe.objects.filter(state="queued").values_list("offers", "claim")) == {(0, "")}
    assert Device.objects.get(slug="board").agent
