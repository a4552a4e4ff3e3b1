"""Results documents that are damaged or foreign: a sentence, and nothing is broken by them."""

import json
import lzma

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from compat.exchange import ExchangeError, export_evidence, is_loaded, load_evidence
from compat.models import Device
from tests.compat import test_exchange

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
probed, cells_of = test_exchange.probed, test_exchange.cells_of


def _header_with(**target):
    return lambda header, result: (header | {"target": header["target"] | target}, result)


def _without(name):
    return lambda header, result: ({k: v for k, v in header.items() if k != name}, result)


def _header_is(**fields):
    return lambda header, result: (header | fields, result)


def _result_is(**fields):
    return lambda header, result: (header, result | fields)


DEEP = '{"a":' * 100_000
LATENCY = {"samples_ms": [1.0], "warmup": 1, "p50_ms": 1, "p95_ms": 1, "min_ms": 1, "count": 1}
DAMAGED_FIELDS = {
    "no target": _without("target"),
    "no environment": _without("environment"),
    "no date": _without("date"),
    "date of a wrong type": _header_is(date=[7]),
    "a date before all dates": _header_is(date="0001-01-01T00:00:00+23:00"),
    "schema true": _header_is(schema=True),
    "target a list": _header_is(target=[]),
    "environment a text": _header_is(environment="x"),
    "environment with NUL": _header_is(environment={"cpu_model": "a\0b"}),
    "environment with half a character": _header_is(environment={"a": ["\ud800"]}),
    "environment with infinity": _header_is(environment={"a": float("inf")}),
    "environment nested": _header_is(
        environment={"a": [[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]}
    ),
    "long device": _header_with(device="d" * 75),
    "device with a slash": _header_with(device="a/b"),
    "no device title": _header_with(device_title=None),
    "long device title": _header_with(device_title="t" * 121),
    "device class": _header_with(device_class="c" * 41),
    "device facts": _header_with(device_facts=[1]),
    "runtime with a slash": _header_with(runtime="a/b"),
    "long runtime": _header_with(runtime="r" * 41),
    "version with a slash": _header_with(runtime_version="1/2"),
    "long version": _header_with(runtime_version="1" * 81),
    "version a number": _header_with(runtime_version=1.5),
    "configuration name": _header_with(config_name="a b"),
    "configuration": _header_with(config=[]),
    "capabilities": _header_with(capabilities=[1]),
    "evidence of its own": _header_with(capabilities={"evidence": "guessed at length"}),
    "opset a text": _header_with(capabilities={"max_opset": "18"}),
    "form unknown": _result_is(form="upside_down"),
    "long form": _result_is(form="+".join(["as_is"] * 9)),
    "form a list": _result_is(form=["as_is"]),
    "case a number": _result_is(case_id=7),
    "no time": _result_is(started_at=None),
    "time beyond all dates": _result_is(started_at=1e300),
    "huge number": _result_is(max_abs=10**400),
    "memory in parts": _result_is(peak_memory_bytes=1.5),
    "memory": _result_is(peak_memory_bytes=2**70),
    "confirmed a number": _result_is(confirmed=1),
    "long signal": _result_is(signal="S" * 17),
    "latency a text": _result_is(latency=LATENCY | {"p50_ms": "1"}),
    "latency samples": _result_is(latency=LATENCY | {"samples_ms": 5}),
    "latency conditions": _result_is(latency=LATENCY | {"conditions": {"governor": "a\0"}}),
    "result of another schema": _result_is(schema=True),
}
DAMAGED_BYTES = {
    "nothing": lambda plain: b"",
    "nothing in xz": lambda plain: lzma.compress(b""),
    "cut": lambda plain: lzma.compress(plain)[:-20],
    "a byte that is not UTF-8": lambda plain: lzma.compress(plain[:-60] + b"\xff" + plain[-59:]),
    "a flipped byte of xz": lambda plain: _flipped(lzma.compress(plain)),
    "a deep line": lambda plain: lzma.compress(plain + DEEP.encode() + b"\n"),
    "a deep head": lambda plain: lzma.compress(DEEP.encode()),
    "a number of many digits": lambda plain: lzma.compress(plain + b'{"a":' + b"9" * 9999 + b"}"),
    "no object": lambda plain: lzma.compress(plain + b"5\n"),
}


def _flipped(packed):
    middle = len(packed) // 2
    return packed[:middle] + bytes([packed[middle] ^ 0xFF]) + packed[middle + 1 :]


def _lines(path):
    return lzma.decompress(path.read_bytes()).splitlines()


def _assert_told(path):
    """Both commands end with a sentence, and the landing page still stands."""
    for command in ("load_evidence", "import_results"):
        with pytest.raises(CommandError) as raised:
            call_command(command, str(path))
        assert 10 < len(str(raised.value)) < 400
    assert not is_loaded(path)
    assert Client().get("/").status_code == 200


@pytest.mark.parametrize("damage", DAMAGED_FIELDS)
def test_a_document_of_damaged_fields_is_told_in_a_sentence(damage, probed, tmp_path):
    path = tmp_path / "foreign.jsonl.xz"
    export_evidence(target=probed, path=path)
    header, result = DAMAGED_FIELDS[damage](*map(json.loads, _lines(path)[:2]))
    path.write_bytes(lzma.compress(f"{json.dumps(header)}\n{json.dumps(result)}\n".encode()))
    _assert_told(path)


@pytest.mark.parametrize("damage", DAMAGED_BYTES)
def test_a_damaged_file_is_told_in_a_sentence(damage, probed, tmp_path):
    path = tmp_path / "foreign.jsonl.xz"
    export_evidence(target=probed, path=path)
    path.write_bytes(DAMAGED_BYTES[damage](lzma.decompress(path.read_bytes())))
    _assert_told(path)


def test_what_was_stored_before_the_damage_is_judged(probed, tmp_path, monkeypatch):
    path = tmp_path / "cpu.jsonl.xz"
    export_evidence(target=probed, path=path)
    path.write_bytes(lzma.compress(b"\n".join([*_lines(path), b"{broken"])))
    monkeypatch.setattr("compat.exchange.BATCH", 3)
    with pytest.raises(ExchangeError, match="is not JSON lines"):
        load_evidence(path)
    column = Device.objects.get(origin="recorded").columns.get()
    assert cells_of(column) == cells_of(probed.column)


def test_a_configuration_that_clashes_is_told(probed, tmp_path):
    path = tmp_path / "cpu.jsonl.xz"
    export_evidence(target=probed, path=path)
    load_evidence(path)
    header, *results = _lines(path)
    other, _ = _header_with(config={"threads": 9})(json.loads(header), None)
    path.write_bytes(lzma.compress(b"\n".join([json.dumps(other).encode(), *results])))
    with pytest.raises(CommandError, match="has the configuration"):
        call_command("load_evidence", str(path))
