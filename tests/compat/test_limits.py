"""Limits in the database: what loads, on whose target, what is refused, and how they are read."""

import json
import lzma

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db.models import Q

from compat.catalogue import load_devices, load_operators
from compat.exchange import ExchangeError
from compat.history.limits import load_limits as read_limits
from compat.limits import is_loaded, load_limits
from compat.models import Limit
from probes.cases.limits import limits_by_operator
from probes.cases.limits.build import case_named
from probes.run.outcome import OUTCOMES, Outcome
from probes.run.registry import RUNTIMES
from tests.make import make_claim, make_column, make_device, make_operator, make_target
from tests.make_limits import find_limits, make_limits

SHIPPED = sorted((settings.FIXTURES_DIR / "limits").glob("*.json.xz"))
CONFIG = {"platform": "rk3588", "precision": "fp16"}


def document(**changes):
    return {
        "schema": 1,
        "kind": "opatlas-limits",
        "date": "2026-11-29T21:00:00+00:00",
        "environment": {"runtime": "rknn"},
        "target": {
            "runtime": "rknn",
            "runtime_version": "2.5.0",
            "config_name": "default",
            "config": CONFIG,
            "capabilities": {"evidence": "simulated", "dtypes": []},
        },
        "operators": [find_limits()],
    } | changes


def write(folder, name="rknn.json", **changes):
    path = folder / name
    text = json.dumps(document(**changes))
    (lzma.open if name.endswith(".xz") else open)(path, "wt").write(text)
    return path


@pytest.fixture
def board(db):
    make_operator("Conv")
    device = make_device("rk3588", "rk3588", origin="catalogue")
    return make_column("rknn", device, config=CONFIG)


def test_a_simulations_limits_are_those_of_the_device_it_speaks_for(board, tmp_path):
    for name in ("rknn.json", "rknn.json.xz"):
        loaded = load_limits(write(tmp_path, name))
        assert loaded.target.slug == f"{board.slug}@2.5.0"
        assert (loaded.known, loaded.unknown) == (1, 0)
    row = Limit.objects.get()  # the second replaced the first
    assert row.parameters[0]["largest"]["failed"]["value"] == 8
    assert row.environment.facts == {"runtime": "rknn"}


def test_measured_limits_go_to_a_recorded_device(board, tmp_path):
    target = {
        "runtime": "onnxruntime-cpu",
        "runtime_version": "1.32.0",
        "config_name": "default",
        "config": {},
        "capabilities": {"evidence": "measured", "dtypes": []},
        "device": "some-cpu",
        "device_title": "Some CPU",
        "device_class": "x86_cpu",
    }
    loaded = load_limits(write(tmp_path, target=target))
    assert loaded.target.slug == "some-cpu-recorded.onnxruntime-cpu.default@1.32.0"


def test_an_unchanged_file_is_known_again(board, tmp_path):
    path = write(tmp_path)
    assert not is_loaded(path)
    load_limits(path)
    assert is_loaded(path)
    write(tmp_path, date="2026-11-30T21:00:00+00:00")
    assert not is_loaded(path)


def test_operators_that_the_catalogue_lacks_are_counted(board, tmp_path):
    strange = find_limits() | {"operator": "NoSuch"}
    loaded = load_limits(write(tmp_path, operators=[strange, find_limits()]))
    assert (loaded.known, loaded.unknown) == (1, 1)


def broken(**edge):
    found = find_limits()
    found["parameters"][0]["largest"] |= edge
    return [found]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "opatlas-results"}, "not a document of limits"),
        ({"schema": 2}, "of schema 1"),
        ({"operators": None}, "operators must be a list"),
        ({"operators": [{}]}, "lacks"),
        ({"operators": broken(failed=[])}, "largest.failed must be an object"),
        ({"operators": broken(again=["x"])}, "must be a whole number"),
        ({"target": None}, "names no runtime"),
        ({"target": {"runtime": "rknn"}}, "names no"),
        ({"environment": None}, "target and environment"),
        ({"date": "yesterday"}, "without a date"),
        ({"environment": {"a": "\0"}}, "no text"),
    ],
)
def test_what_is_no_such_document_is_refused_and_stores_nothing(board, tmp_path, changes, said):
    with pytest.raises(ExchangeError, match=said):
        load_limits(write(tmp_path, **changes))
    assert not Limit.objects.exists()


def test_an_unknown_configuration_has_no_device(board, tmp_path):
    target = document()["target"] | {"config": {"platform": "rk9999"}}
    with pytest.raises(ExchangeError, match="no device of the catalogue"):
        load_limits(write(tmp_path, target=target))


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[]", b"[" * 10**5])
@pytest.mark.parametrize("name", ["x.json", "x.json.xz"])
def test_a_damaged_file_is_refused(board, tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(CommandError, match=r"x\.json"):
        call_command("load_limits", str(tmp_path / name))


def test_reading_takes_one_query_and_shows_the_newest_version(board, django_assert_num_queries):
    older, newer = make_target("2.3.2", board), make_target("2.5.0", board)
    make_limits(older)
    make_limits(newer)
    with django_assert_num_queries(1):
        (view,) = read_limits(Q(target__column=board), [])
    assert view.runtime_version == "2.5.0"
    kernel = view.parameters[0]
    assert (kernel.largest.worked.value, kernel.largest.failed.value) == (7, 8)
    assert kernel.smallest.failed is None


def test_a_document_stands_beside_the_parameter_that_it_speaks_of(board, django_assert_num_queries):
    conv = make_operator("Conv")
    said = "kernel size: [1, 31]; only 2D. stride height: [1, 31]"
    make_claim(conv, "rknn", "partial", device_class="rk3588", restriction=said)
    make_claim(conv, "qnn-htp", "partial", restriction="kernel at most 5")
    make_limits(make_target("2.5.0", board))
    with django_assert_num_queries(2):
        (view,) = read_limits(Q())
    documented = {each.parameter: each.documented for each in view.parameters}
    assert documented == {
        "kernel": ("kernel size: [1, 31];",),
        "stride": ("stride height: [1, 31]",),
        "pad": (),
    }


def test_the_api_filters_by_target_and_operator(board, client):
    target = make_target("2.5.0", board)
    make_limits(target)
    make_limits(target, "MaxPool")
    make_limits(make_target())
    read = lambda query: client.get(f"/api/v1/limits/?{query}").json()  # noqa: E731
    assert len(read("")) == 3
    assert len(read("target=rknn")) == len(read(f"target={target.slug}")) == 2
    (found,) = read(f"target={board.slug}&operator=Conv")
    assert found["parameters"][0]["largest"]["failed"]["case"] == "limit/Conv/kernel/8"
    assert read("target=nothing") == []


def shipped():
    return {path.name: json.loads(lzma.open(path, "rt").read()) for path in SHIPPED}


def edges(found):
    for parameter in found["parameters"]:
        for name in ("smallest", "largest"):
            yield parameter, name, parameter[name]


def test_every_target_has_limits_of_twelve_operators():
    documents = shipped().values()
    runtimes = {each["target"]["runtime"] for each in documents}
    assert runtimes >= {"rknn", "qnn-htp", "tensorrt-rtx", "onnxruntime-cpu", "openvino-cpu"}
    for each in documents:
        assert len(each["operators"]) >= 12
        assert each["environment"]["runtime_version"] == each["target"]["runtime_version"]
        pinned = RUNTIMES[each["target"]["runtime"]].config
        assert each["target"]["config"] == pinned


@pytest.mark.parametrize("name", [path.name for path in SHIPPED])
def test_a_recorded_limit_is_right_one_step_beyond(name):
    """What fails is the neighbour of what works, and both are cases that are built here again."""
    document = shipped()[name]
    for found in document["operators"]:
        rows = {row.parameter: row for row in limits_by_operator()[found["operator"]]}
        for parameter, direction, edge in edges(found):
            row, step = rows[parameter["parameter"]], 1 if direction == "largest" else -1
            worked, failed = edge["worked"], edge["failed"]
            tried = dict(edge["tried"])
            if failed is None:
                assert worked["value"] == (row.most if step == 1 else row.least)
            elif worked is None:
                assert failed["value"] == row.usual
            else:
                assert failed["value"] == worked["value"] + step
            for probe in filter(None, (worked, failed)):
                assert tried[probe["value"]] == probe["outcome"]
                assert case_named(probe["case"]).id == probe["case_id"]
            if worked:
                assert OUTCOMES[Outcome(worked["outcome"])].support != "no"
            assert all(OUTCOMES[Outcome(word)].is_evidence for word in tried.values())
            assert "timed_out" not in tried.values()  # the machine's haste is no limit


@pytest.mark.parametrize("name", ["limit/Conv/kernel/x", "limit/Conv/no/3", "node/test_relu", ""])
def test_a_name_that_is_none_is_not_known(name):
    with pytest.raises(LookupError):
        case_named(name)


@pytest.mark.django_db
def test_all_that_ships_loads_once(capsys):
    load_operators()
    load_devices()
    call_command("load_limits")
    said = capsys.readouterr().out
    assert said.count("limits of") == len(SHIPPED)
    assert "unknown here" not in said
    assert Limit.objects.count() == sum(len(each["operators"]) for each in shipped().values())
    call_command("load_limits")
    assert capsys.readouterr().out == ""
