"""Uploads: strangers' files get a sentence, and nothing of them stays unless it is kept."""

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from compat import reports
from compat.models import Report
from compat.reports import ReportError, submit_model
from compat.uploads import NoRoomError, kept_path, stored_upload
from tests.make import make_cell, make_model, make_operator

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

HOSTILE = Path(__file__).parent.parent / "data" / "hostile"


@pytest.fixture(autouse=True)
def uploads(tmp_path, settings):
    settings.UPLOAD_DIR = tmp_path / "uploads"
    return settings.UPLOAD_DIR


def submit(data, *targets, file_name="model.onnx", keep=False):
    file = SimpleUploadedFile("ignored", data)
    return submit_model(file=file, file_name=file_name, target_names=targets, keep=keep)


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("H01_truncated", "truncated"),
        ("H03_empty_file", "empty"),
        ("H04_external_data_traversal", "external_data"),
        ("H07_duplicate_names", "invalid"),
        ("H24_function_expansion_bomb", "function_bomb"),
        ("H25_einsum_shape_inference_crash", "invalid"),
        ("H26_dangling_and_type_mismatch", "invalid"),
        ("H27_initializer_size_mismatch_negative_dim", "invalid"),
        ("H29_wire_nesting_bomb", "too_deep"),
    ],
)
def test_a_file_that_cannot_be_judged_gets_a_sentence_and_leaves_nothing(file, code, uploads):
    make_cell()
    with pytest.raises(ReportError) as error:
        submit((HOSTILE / f"{file}.onnx").read_bytes())
    assert error.value.code == code
    assert error.value.sentence.endswith(".")
    assert len(error.value.sentence) < 1000
    assert list(uploads.iterdir()) == []
    assert not Report.objects.exists()


@pytest.mark.parametrize(
    "file",
    ["H10_deep_nested_if", "H13_zero_nodes", "H15_model_local_functions", "H17_ir_version_future"],
)
def test_an_odd_but_readable_file_is_judged(file):
    make_cell()
    report = submit((HOSTILE / f"{file}.onnx").read_bytes())
    assert report.state == "ready"
    assert len(report.results) == 1


@pytest.mark.parametrize("data", [b"MZ\x90\x00" * 100, b"PK\x03\x04" + b"\0" * 60, b"<html>" * 9])
def test_other_files_are_no_models(data):
    make_cell()
    with pytest.raises(ReportError, match=r"not an ONNX model|cannot be parsed"):
        submit(data)


def test_a_file_above_the_limit_stops_being_written(uploads, settings):
    settings.UPLOAD_LIMIT_BYTES = 50
    make_cell()
    with pytest.raises(ReportError, match="more than the 50") as error:
        submit(b"x" * 51)
    assert error.value.code == "too_large"
    assert list(uploads.iterdir()) == []


def test_a_full_folder_says_so(uploads, settings):
    uploads.mkdir()
    (uploads / "other.onnx").write_bytes(b"x" * 90)
    settings.UPLOAD_QUOTA_BYTES = 100
    with pytest.raises(ReportError, match="no room") as error:
        submit(make_model("Relu"))
    assert error.value.code == "no_room"
    assert [path.name for path in uploads.iterdir()] == ["other.onnx"]


def test_uploads_at_the_same_moment_stay_within_the_quota_together(uploads, settings):
    settings.UPLOAD_QUOTA_BYTES = 250
    together = Barrier(8)

    def keep(number):
        def chunks():
            yield b"x" * 50
            together.wait(30)  # all have begun
            yield b"x" * 50

        try:
            with stored_upload(chunks()) as upload:
                together.wait(30)
                upload.keep(f"kept{number}")
        except NoRoomError:
            together.wait(30)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(keep, range(8)))
    assert sum(path.stat().st_size for path in uploads.iterdir()) <= 250


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\models\\net.onnx", "net.onnx"),
        ("evil\x00\n\u202egnp.onnx", "evilgnp.onnx"),
        ("<script>.onnx", "<script>.onnx"),
        ("n" * 900, "n" * 200),
        ("/", ""),
        ("模型.onnx", "模型.onnx"),
    ],
)
def test_a_file_name_is_text_and_never_a_path(given, shown, uploads):
    make_cell(make_operator("Relu"))
    report = submit(make_model("Relu"), file_name=given)
    assert report.file_name == shown
    assert list(uploads.iterdir()) == []


def test_a_kept_upload_lies_under_the_reports_token_until_its_time_is_over():
    make_cell(make_operator("Relu"))
    model = make_model("Relu")
    report = submit(model, keep=True)
    assert kept_path(report.token).read_bytes() == model
    assert report.kept_until > timezone.now() + timedelta(days=29)
    Report.objects.update(kept_until=timezone.now() - timedelta(seconds=1))
    reports.forget_expired()
    report.refresh_from_db()
    assert report.kept_until is None
    assert not kept_path(report.token).exists()


def test_what_a_dead_process_left_is_cleared_and_what_another_writes_is_not(uploads):
    uploads.mkdir()
    for name, age in (("old.part", 7200), ("new.part", 10)):
        (uploads / name).write_bytes(b"x")
        stamp = timezone.now().timestamp() - age
        os.utime(uploads / name, (stamp, stamp))
    reports.forget_expired()
    assert [path.name for path in uploads.iterdir()] == ["new.part"]
