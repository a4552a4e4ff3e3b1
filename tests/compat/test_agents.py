"""Registered devices by command: their tokens, what they may offer, bundles and results files."""

import io
import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from compat import work
from compat.agents import AgentRefusal
from compat.devices import DeviceError, load_devices, register_device, set_standing
from compat.models import Device, Probe, Token
from compat.submissions import submit
from compat.sweeps import SweepError, start_sweep
from compat.tokens import find_token
from compat.wake import wake_acl
from probes.bundle import read_bundle
from probes.outbox import results_header
from probes.run.adapter import Capabilities
from tests.make import make_column, make_device, make_result, make_runnable_case, make_target

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def run(name, *arguments, **options):
    out = io.StringIO()
    call_command(name, *arguments, stdout=out, **options)
    return out.getvalue()


def test_a_device_is_registered_with_a_token_of_its_own(settings):
    said = run("register_device", "rk-1", "--device-class", "rk3588", "--runtime", "fake")
    secret = next(line for line in said.splitlines() if line.startswith("opa_"))
    token = find_token(secret)
    assert (token.scopes, token.device.slug) == (["results"], "rk-1")
    assert secret not in str(list(Token.objects.values()))
    assert "ACL" not in said
    settings.AGENT_REDIS_URL = "redis://redis.example/0"
    said = run("register_device", "rk-2", "--title", "Second", "--device-class", "rk3588")
    assert wake_acl("rk-2") in said
    with pytest.raises(CommandError, match="already"):
        run("register_device", "rk-1", "--device-class", "rk3588")
    with pytest.raises(CommandError, match="no such runtime"):
        run("register_device", "rk-3", "--device-class", "rk3588", "--runtime", "rk")
    assert not Device.objects.filter(slug="rk-3").exists()


def test_a_board_of_the_catalogue_becomes_ours_but_never_somebody_elses_record():
    make_device("rk3588", "rk3588")
    make_device("cpu-recorded", origin="recorded")
    device, _ = register_device(slug="rk3588", title="Our RK3588", device_class="rk3588")
    assert (device.origin, device.title) == ("registered", "Our RK3588")
    with pytest.raises(DeviceError, match="recorded"):
        register_device(slug="cpu-recorded", title="", device_class="x86_cpu")


def test_a_chip_that_a_toolchain_speaks_for_is_nobodys_board():
    """Its token would write into the column that holds what was simulated."""
    make_column("rknn", make_device("rk3588", "rk3588"))
    with pytest.raises(DeviceError, match="catalogue"):
        register_device(slug="rk3588", title="Ours", device_class="rk3588")
    assert Device.objects.get().origin == "catalogue"
    assert not Token.objects.exists()


@pytest.mark.parametrize(
    ("runtime", "evidence", "is_taken"),
    [("rknn", "simulated", True), ("rknn", "measured", False), ("iree", "simulated", False),
     ("onnxruntime-cpu", "simulated", False), ("unheard-of", "simulated", False)],
)  # fmt: skip
def test_of_a_chip_that_is_not_here_only_its_toolchain_tells(runtime, evidence, is_taken):
    make_column("rknn", make_device("rk3588", "rk3588"), config={})
    case = make_runnable_case("Relu")
    head = {
        "device": "rk3588",
        "runtime": runtime,
        "runtime_version": "1.0",
        "config_name": "default",
        "config": {},
        "capabilities": {**Capabilities().to_dict(), "evidence": evidence},
    }
    header = results_header(head, {})
    results = [make_result(case, make_target(), at=1_700_000_000.0)]
    if is_taken:
        assert submit(device=None, header=header, results=results, is_admin=True).new == 1
        assert Probe.objects.get().kind == "simulated"
        return
    with pytest.raises(AgentRefusal):
        submit(device=None, header=header, results=results, is_admin=True)


def test_what_was_simulated_never_becomes_measured():
    """The toolkit on a host and the board's runtime may have one name and version."""
    register_device(slug="rk3588", title="", device_class="rk3588")
    case = make_runnable_case("Relu")
    head = {
        "device": "rk3588",
        "runtime": "rknn",
        "runtime_version": "1.0",
        "config_name": "default",
        "config": {},
    }
    told = Capabilities().to_dict()
    for evidence, is_taken in (("measured", True), ("simulated", False), ("measured", True)):
        header = results_header({**head, "capabilities": {**told, "evidence": evidence}}, {})
        results = [make_result(case, make_target(), at=1_700_000_000.0)]
        if is_taken:
            submit(device=None, header=header, results=results, is_admin=True)
            continue
        with pytest.raises(ValueError, match="holds what was measured"):
            submit(device=None, header=header, results=results, is_admin=True)
    assert set(Probe.objects.values_list("kind", flat=True)) == {"measured"}


def test_tokens_are_issued_listed_and_revoked():
    register_device(slug="board", title="", device_class="rk3588")
    said = run("issue_token", "spare", "--device", "board")
    spare = find_token(said.splitlines()[1])
    assert (spare.scopes, spare.device.slug) == (["results"], "board")
    said = run("issue_token", "ci", "--scope", "reports", "--scope", "read")
    assert find_token(said.splitlines()[1]).scopes == ["read", "reports"]
    with pytest.raises(CommandError, match="--scope"):
        run("issue_token", "ci")
    with pytest.raises(CommandError, match="No registered device"):
        run("issue_token", "ci", "--device", "nothing")
    assert "device board" in run("revoke_token")
    assert "opens nothing" in run("revoke_token", str(spare.pk))
    with pytest.raises(CommandError, match="no valid token"):
        run("revoke_token", str(spare.pk))


def test_what_its_owner_wants_is_its_state():
    register_device(slug="board", title="", device_class="rk3588")
    assert load_devices()[0].state == "offline"
    assert "maintenance" in run("set_device", "board", "maintenance")
    assert load_devices()[0].state == "maintenance"
    with pytest.raises(CommandError, match="No registered device"):
        run("set_device", "nobody", "active")
    with pytest.raises(DeviceError, match="none of"):
        set_standing(slug="board", standing="gone")


def test_devices_are_listed_in_two_queries(django_assert_num_queries):
    for number in range(3):
        device, _ = register_device(slug=f"b{number}", title="", device_class="rk3588")
        make_target("1.0", make_column("fake", device))
    with django_assert_num_queries(2):
        rows = load_devices()
    assert [row.targets for row in rows] == [(f"b{n}.fake.default@1.0",) for n in range(3)]


def test_the_local_worker_leaves_a_registered_devices_probes_to_its_agent():
    make_runnable_case("Relu")
    device, _ = register_device(slug="board", title="", device_class="rk3588")
    start_sweep(target=make_target("1.0", make_column("fake", device)))
    assert work.probe_here() == 0
    assert Probe.objects.get().state == "queued"


def test_a_bundle_and_a_results_file_by_command(tmp_path):
    case = make_runnable_case("Relu")
    bundle, out = tmp_path / "board.bundle", tmp_path / "results.jsonl"
    with pytest.raises(CommandError, match="No registered device"):
        run("make_bundle", bundle, target="board.fake")
    register_device(slug="board", title="A board", device_class="rk3588")
    assert "1 cases" in run("make_bundle", bundle, target="board.fake")
    target, *cases = read_bundle(bundle)
    assert target["device_title"] == "A board"
    assert [each.id for each in cases] == [case.pk]
    target = {**target, "runtime_version": "1.0"}
    header = {"schema": 1, "kind": "opatlas-results", "date": "2026-11-29T10:00:00+00:00"}
    header |= {"environment": {"cpu": "x"}, "target": target}
    result = make_result(case, make_target("1.0", make_column("fake")), at=1_700_000_000.0)
    out.write_text(f"{json.dumps(header)}\n{result.to_json()}\n")
    assert "1 new of board, 0 known" in run("import_results", out)
    assert "0 new of board, 1 known" in run("import_results", out)
    assert Probe.objects.get().target.slug == "board.fake.default@1.0"
    out.write_text(out.read_text().replace('"board"', '"another"'))
    with pytest.raises(CommandError, match="register_device another"):
        run("import_results", out)
    out.write_text("nothing")
    with pytest.raises(CommandError, match="JSON lines"):
        run("import_results", out)


def test_a_sweep_of_a_recorded_device_is_still_refused():
    make_runnable_case("Relu")
    target = make_target("1.0", make_column("fake", make_device("x-recorded", origin="recorded")))
    with pytest.raises(SweepError):
        start_sweep(target=target)


def test_the_page_of_a_registered_devices_column_says_whether_its_agent_is_heard(client, settings):
    settings.OPEN_SWEEPS = True
    device, _ = register_device(slug="board", title="", device_class="rk3588")
    make_target("1.0", make_column("fake", device))
    page = client.get("/targets/board.fake.default/").content.decode()
    assert "offline: its agent is not heard" in page
    assert "Start a sweep" in page
    Device.objects.update(agent="x", seen_at=timezone.now())
    assert "last heard" in client.get("/targets/board.fake.default/").content.decode()
    set_standing(slug="board", standing="retired")
    page = client.get("/targets/board.fake.default/").content.decode()
    assert "retired" in page
    assert "Start a sweep" not in page
