"""System checks: what is wrong, and what to do."""

import pytest

from compat import casebook, checks
from tests.make import make_runnable_case


def ids(messages):
    return [message.id for message in messages]


def test_a_sound_installation_has_nothing_to_say():
    assert checks.check_data_folder() == []
    assert checks.check_case_pack() == []


def test_a_data_folder_that_takes_no_files(settings, monkeypatch, tmp_path):
    settings.DATA_DIR = tmp_path / "missing" / "var"
    monkeypatch.setattr(checks.os, "access", lambda path, mode: False)
    (message,) = checks.check_data_folder()
    assert str(settings.DATA_DIR) in message.msg
    assert "OPATLAS_DATA_DIR" in message.hint


def test_another_onnx_than_the_releases(monkeypatch, tmp_path):
    monkeypatch.setattr(casebook, "PACK", tmp_path / "node-onnx-9.pack.xz")
    assert ids(checks.check_case_pack()) == ["compat.E002"]


@pytest.mark.parametrize(
    ("engine", "redis", "expected"),
    [
        ("django.db.backends.sqlite3", "", ["compat.W001"]),
        ("django.db.backends.postgresql", "", []),
        ("django.db.backends.postgresql", "redis://cache:6379/0", []),
        ("django.db.backends.postgresql", "cache:6379", ["compat.W002"]),
    ],
)
def test_production_wants_postgresql_and_a_redis_address(
    engine, redis, expected, settings, monkeypatch
):
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", engine)
    settings.REDIS_URL = redis
    assert ids(checks.check_production_servers()) == expected


@pytest.mark.django_db
def test_missing_cases_are_told_when_the_database_is_checked():
    case = make_runnable_case("Relu")
    assert checks.check_cases(databases=["default"]) == []
    casebook.case_store().path(case.pk).unlink()
    assert checks.check_cases(databases=None) == []
    (message,) = checks.check_cases(databases=["default"])
    assert message.hint == "manage.py load_catalogue puts them back."
