"""The sample report: a real model that ships inside the onnx package, judged for what is shown."""

from pathlib import Path

import onnx
from django.core.files.uploadedfile import SimpleUploadedFile

from compat.models import Report
from compat.reports import submit_model

MODEL = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / "light_squeezenet.onnx"


def report_of_sample() -> Report:
    """SqueezeNet 1.0 as published, weights folded to constants; the same report every time."""
    file = SimpleUploadedFile("squeezenet.onnx", MODEL.read_bytes())
    return submit_model(file=file, file_name="squeezenet.onnx", target_names=[])
