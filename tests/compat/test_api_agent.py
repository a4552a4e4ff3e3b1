"""The agent's side of the API: hello, claims, cases, results, and every typed refusal."""

import json
import time
import uuid

import pytest

from compat.agents import AgentRefusal
from compat.bundles import load_bundle
from compat.casebook import case_store
from compat.devices import register_device, set_standing
from compat.models import Cell, Device, Environment, Probe, Sweep, Target
from compat.submissions import submit
from compat.sweeps import start_sweep
from compat.tokens import issue_token
from probes.protocol import AGENT_SCHEMA
from probes.run.outcome import Outcome, ProbeResult
from tests.make import (
    make_case,
    make_column,
    make_device,
    make_operator,
    make_result,
    make_runnable_case,
)
from tests.openapi import operation_of

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

ME, OTHER = str(uuid.uuid4()), str(uuid.uuid4())
OFFER = {
    "runtime": "fake",
    "runtime_version": "1.0",
    "config_name": "default",
    "config": {"threads": 1},
    "capabilities": {"max_opset": 18, "dtypes": ["float"], "something_newer": True},
}
SLUG = "board.fake.default@1.0"


@pytest.fixture
def token():
    return register_device(slug="board", title="A board", device_class="rk3588")[1]


@pytest.fixture
def call(client, token):
    """POST as the agent; each answer is checked against the snapshot."""

    def call(path, operation, document, status=200, secret=token, content_type="application/json"):
        data = document if isinstance(document, str) else json.dumps(document)
        answer = client.post(
            f"/api/v1/{path}",
            data,
            content_type=content_type,
            headers={"Authorization": f"Bearer {secret}"},
        )
        assert answer.status_code == status, answer.content[:500]
        assert operation_of(answer) == operation
        return answer.json()

    return call


@pytest.fixture
def hello(call):
    def hello(status=200, secret=None, **changes):
        document = {
            "schema": AGENT_SCHEMA,
            "agent": ME,
            "clock": time.time(),
            "device": {"cores": 8, "os": "Debian"},
            "targets": [OFFER],
        }
        more = {"secret": secret} if secret else {}
        return call("agent/hello/", "agent_hello", document | changes, status, **more)

    return hello


@pytest.fixture
def claim(call):
    def claim(size=128, status=200, agent=ME, target=SLUG, **more):
        asked = {"agent": agent, "target": target, "size": size}
        return call("agent/claims/", "claim_probes", asked, status, **more)

    return claim


@pytest.fixture
def post(call):
    def post(results, status=200, claim=None, **more):
        target = OFFER | {"device": "board", "device_title": "A board", "device_class": "rk3588"}
        header = {
            "schema": 1,
            "kind": "opatlas-results",
            "date": "2026-11-29T12:00:00+00:00",
            "environment": {"cpu_model": "RK3588"},
            "target": target | more.pop("target", {}),
            **({"claim": claim} if claim else {}),
        }
        lines = [json.dumps(header), *(result.to_json() for result in results)]
        body = "\n".join(lines) + "\n"
        kind = "application/x-ndjson"
        return call("results/", "submit_results", body, status, content_type=kind, **more)

    return post


def results_of(batch, at=1_800_000_000.0):
    target = Target.objects.get(slug=SLUG)
    cases = {probe["case"]: probe["form"] for probe in batch["probes"]}
    at = min(at, time.time() - 5)
    return [make_result(make_named(case), target, at=at, form=form) for case, form in cases.items()]


def make_named(pk):
    return Probe.objects.filter(case_id=pk).select_related("case").first().case


def test_an_agent_fills_its_column(hello, claim, post, client, token):
    for number in range(3):
        make_runnable_case("Relu", number)
    welcome = hello()
    assert [target["slug"] for target in welcome["targets"]] == [SLUG]
    assert welcome["wake"] is None
    batch = claim()
    assert len(batch["probes"]) == 3
    document = results_of(batch)
    assert post(document, claim=batch["claim"]) == {"new": 3, "known": 0}
    assert post(document, claim=batch["claim"]) == {"new": 0, "known": 3}
    assert claim()["probes"] == []
    assert Probe.objects.filter(state="done", latest=True).count() == 3
    assert Sweep.objects.get().state == "done"
    assert Cell.objects.get(operator__name="Relu").level == "green"
    assert Device.objects.get(slug="board").facts == {"cores": "8", "os": "Debian"}


def test_a_case_is_fetched_by_its_id_and_only_with_a_token(client, token):
    case = make_runnable_case("Relu")
    path = f"/api/v1/cases/{case.pk}/"
    headers = {"Authorization": f"Bearer {token}"}
    answer = client.get(path, headers=headers)
    stored = case_store().path(case.pk).read_bytes()
    assert (answer.getvalue(), answer["ETag"]) == (stored, f'"{case.pk}"')
    again = client.get(path, headers=headers | {"If-None-Match": answer["ETag"]})
    assert again.status_code == 304
    assert client.get(path).status_code == 401
    for name in ("0" * 32, "..%2F..%2Fsecret.key", "x"):
        assert client.get(f"/api/v1/cases/{name}/", headers=headers).status_code == 404


@pytest.mark.parametrize(
    ("changes", "status", "code", "says"),
    [
        ({"schema": 99}, 409, "schema_mismatch", "Install"),
        ({"clock": 1000.0}, 409, "clock_skew", "NTP"),
        ({"clock": 4_000_000_000.0}, 409, "clock_skew", "NTP"),
    ],
)
def test_what_an_agent_is_refused_for_at_hello(hello, changes, status, code, says):
    problem = hello(status, **changes)
    assert problem["code"] == code
    assert says in problem["detail"]
    assert not Target.objects.exists()


def test_a_second_agent_with_the_same_token_is_refused_while_the_first_is_heard(hello, claim):
    make_runnable_case("Relu")
    hello()
    assert hello(409, agent=OTHER)["code"] == "second_agent"
    assert claim(status=409, agent=OTHER)["code"] == "second_agent"
    hello()  # the same one, restarted
    Device.objects.update(seen_at="2026-01-01T00:00:00Z")
    hello(agent=OTHER)
    assert hello(409)["code"] == "second_agent"


def test_a_device_in_maintenance_or_retired_gets_no_work(hello, claim, post):
    make_runnable_case("Relu")
    hello()
    batch = claim()
    set_standing(slug="board", standing="maintenance")
    assert claim(status=409)["code"] == "device_maintenance"
    assert post(results_of(batch), claim=batch["claim"])["new"] == 1  # what was done counts
    set_standing(slug="board", standing="retired")
    assert hello(409)["code"] == "device_retired"
    assert post([], 409)["code"] == "device_retired"
    set_standing(slug="board", standing="active")
    hello()


def test_a_token_speaks_for_its_device_only(hello, claim, post, call):
    case = make_runnable_case("Relu")
    hello()
    _, other = register_device(slug="other", title="", device_class="rk3588", runtimes=["fake"])
    assert claim(status=403, secret=other, agent=OTHER)["code"] == "not_this_device"
    result = [make_result(case, Target.objects.get(slug=SLUG), at=time.time() - 5)]
    assert post(result, 403, secret=other)["code"] == "not_this_device"
    offer = OFFER | {"runtime": "reference"}
    refused = hello(403, secret=other, agent=OTHER, targets=[offer])
    assert (refused["code"], "reference" in refused["detail"]) == ("not_this_device", True)
    _, nobody = issue_token(name="ci", scopes=["results"])
    assert hello(403, secret=nobody)["code"] == "not_this_device"
    _, reader = issue_token(name="ci", scopes=["read"])
    hello(403, secret=reader)
    batch = claim()
    path = f"agent/claims/{batch['claim']}"
    for each, operation in (("renew", "renew_claim"), ("release", "release_claim")):
        answer = call(f"{path}/{each}/", operation, {"agent": OTHER}, secret=other)
        assert answer == {"probes": 0}
    assert Probe.objects.get().claim == batch["claim"]


def test_a_claim_is_renewed_released_and_lost(hello, claim, call):
    make_runnable_case("Relu")
    hello()
    for offers, lost in ((1, False), (1, True), (2, True), (3, True)):
        batch = claim()
        path = f"agent/claims/{batch['claim']}"
        before = Probe.objects.get().lease_until
        assert call(f"{path}/renew/", "renew_claim", {"agent": ME}) == {"probes": 1}
        assert Probe.objects.get().lease_until > before
        assert Probe.objects.get().offers == offers
        document = {"agent": ME, "lost": lost}
        call(f"{path}/release/", "release_claim", document)
    probe = Probe.objects.get()
    assert (probe.state, probe.outcome) == ("done", "lost_agent")
    assert Sweep.objects.get().state == "done"


def test_results_that_come_after_their_lease_are_taken_if_nobody_else_has_the_probe(
    hello, claim, post
):
    for number in range(2):
        make_runnable_case("Relu", number)
    hello()
    lost = claim()
    Probe.objects.update(lease_until="2026-01-01T00:00:00Z")
    again = claim(size=1)  # what expired is offered again at once
    assert len(again["probes"]) == 1
    assert post(results_of(lost), claim=lost["claim"]) == {"new": 1, "known": 1}
    assert post(results_of(again), claim=again["claim"]) == {"new": 1, "known": 0}
    assert post(results_of(lost), claim=lost["claim"]) == {"new": 0, "known": 2}
    assert Probe.objects.filter(state="done").count() == 2
    assert Probe.objects.count() == 2
    assert Sweep.objects.get().state == "done"


def test_a_document_without_a_claim_is_stored_once(hello, post):
    case = make_runnable_case("Relu")
    hello()
    Probe.objects.all().delete()
    document = [make_result(case, Target.objects.get(slug=SLUG), at=time.time() - 9)]
    assert post(document) == {"new": 1, "known": 0}
    assert post(document) == {"new": 0, "known": 1}
    assert Probe.objects.count() == 1
    assert Environment.objects.count() == 1


def test_results_of_tomorrow_are_refused(hello, post):
    case = make_runnable_case("Relu")
    hello()
    result = make_result(case, Target.objects.get(slug=SLUG), at=time.time() + 86400)
    assert post([result], 409)["code"] == "clock_skew"


def test_what_is_no_results_document_is_422_with_a_sentence(call, hello, post):
    hello()
    make_operator("Abs")
    kind = {"content_type": "application/x-ndjson"}
    head = {"schema": 1, "kind": "opatlas-results", "environment": {}}
    for body in ("", "{", "[]", '{"kind": 1}', json.dumps(head), json.dumps(head | {"target": 3})):
        problem = call("results/", "submit_results", body, 422, **kind)
        assert problem["code"] == "not_results"
    lost = make_result(make_case(), Target.objects.get(slug=SLUG), at=time.time() - 9)
    lost.__dict__["case_id"] = "f" * 32
    assert "not in the catalogue" in post([lost], 422)["detail"]
    for name in ("@host.1.2.ab", "x" * 33, ["c"]):
        assert "claim" in post([], 422, claim=name)["detail"]
    clash = post([], 422, target={"config": {"threads": 9}})
    assert "configuration" in clash["detail"]
    call("results/", "submit_results", "{}", 415)


def test_a_clashing_or_broken_offer_is_400(hello):
    hello()
    assert "configuration" in hello(400, targets=[OFFER | {"config": {"threads": 2}}])["detail"]
    for broken in ({"evidence": "claimed"}, {"max_opset": "18"}, {"dtypes": 3}):
        assert "capability" in hello(400, targets=[OFFER | {"capabilities": broken}])["detail"]
    hello(400, targets=[OFFER | {"config": {"a\0": 1}}])
    hello(400, device={"os": "\ud800"})
    hello(400, targets=[OFFER | {"runtime_version": "1.0 <script>"}])
    hello(400, targets=[OFFER] * 33)


def test_work_for_a_registered_device_can_be_asked_for_over_the_api(hello, call, claim, settings):
    make_runnable_case("Relu")
    hello()
    _, admin = issue_token(name="me", scopes=["admin"])
    target = SLUG.partition("@")[0]
    call("sweeps/", "start_sweep", {"target": target}, 201, secret=admin)
    assert Sweep.objects.count() == 2
    assert len(claim()["probes"]) == 2


def test_devices_are_registered_listed_and_set(call, client, hello):
    _, admin = issue_token(name="me", scopes=["admin"])
    asked = {"slug": "orin", "title": "Orin", "device_class": "jetson_orin", "runtimes": ["fake"]}
    call("devices/", "register_device", asked, 403)
    made = call("devices/", "register_device", asked, 201, secret=admin)
    assert made["token"].startswith("opa_")
    assert made["device"]["state"] == "offline"
    call("devices/", "register_device", asked, 422, secret=admin)
    for wrong in ({"slug": "a.b"}, {"runtimes": ["nothing"]}, {"slug": "x/../y"}):
        call("devices/", "register_device", asked | {"slug": "new"} | wrong, 422, secret=admin)
    hello()
    call("devices/orin/", "set_device", {"standing": "maintenance"}, 200, secret=admin)
    call("devices/nobody/", "set_device", {"standing": "active"}, 422, secret=admin)
    call("devices/orin/", "set_device", {"standing": "gone"}, 400, secret=admin)
    answer = client.get("/api/v1/devices/")
    states = {row["slug"]: (row["state"], row["targets"]) for row in answer.json()}
    assert states == {"board": ("online", [SLUG]), "orin": ("maintenance", [])}
    Device.objects.filter(slug="board").update(seen_at="2026-01-01T00:00:00Z")
    states = {row["slug"]: row["state"] for row in client.get("/api/v1/devices/").json()}
    assert states["board"] == "offline"


def test_a_bundle_names_the_target_and_its_cases(client, token):
    case = make_runnable_case("Relu")
    headers = {"Authorization": f"Bearer {token}"}
    answer = client.get("/api/v1/bundles/board.fake/", headers=headers)
    assert answer.json()["cases"] == [case.pk]
    assert answer.json()["target"]["config"] == {"threads": 1}
    for name in ("other.fake", "board.nothing", "board.fake.fast", "board", "%3Cscript%3E"):
        assert client.get(f"/api/v1/bundles/{name}/", headers=headers).status_code == 404


def test_a_bundle_for_a_chip_whose_toolchain_speaks_for_it(client, token, tmp_path):
    """Made and brought back by whoever runs the server; a device's token has no part in it."""
    device = make_device("rk3588", "rk3588", origin="catalogue")
    make_column("rknn", device, config={"platform": "rk3588"})
    case = make_runnable_case("Relu")
    assert load_bundle("rk3588.rknn")["target"]["config"] == {"platform": "rk3588"}
    headers = {"Authorization": f"Bearer {token}"}
    assert client.get("/api/v1/bundles/rk3588.rknn/", headers=headers).status_code == 404
    target = {**load_bundle("rk3588.rknn")["target"], "runtime_version": "2.5.0"}
    header = {
        "date": "2026-11-01T00:00:00Z",
        "environment": {},
        "target": target | {"capabilities": {"evidence": "simulated", "dtypes": []}},
    }
    result = ProbeResult(case.pk, "as_is", "rk3588.rknn.default@2.5.0", Outcome.COMPILED)
    done = submit(device=None, header=header, results=[result], is_admin=True)
    assert (done.new, Target.objects.get(slug=result.target).column.device) == (1, device)
    header["target"]["capabilities"] = {"evidence": "measured", "dtypes": []}
    with pytest.raises(AgentRefusal):
        submit(device=None, header=header, results=[result], is_admin=True)


def test_a_stopped_sweep_is_not_offered(hello, claim):
    make_runnable_case("Relu")
    hello()
    Sweep.objects.update(state="stopped")
    assert claim()["probes"] == []
    start_sweep(target=Target.objects.get(slug=SLUG))
    assert len(claim()["probes"]) == 1
