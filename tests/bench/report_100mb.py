"""A report of a 100 MB model of 300 nodes, against loading it and inferring its shapes."""

import statistics
import tempfile
from pathlib import Path

import onnx

from compat.catalogue import load_catalogue
from probes.model.modelfile import hash_file
from tests.bench.big_models import convolution_stack
from tests.bench.conditions import machine
from tests.bench.figure import Figure
from tests.bench.rounds import measure_apart

ROUNDS = 5
TIME, MEMORY = 0.5, 1 / 3


def measure() -> Figure:
    load_catalogue()
    with tempfile.TemporaryDirectory() as folder:
        warming, model = Path(folder, "warming.onnx"), Path(folder, "model.onnx")
        convolution_stack(warming, nodes=4, megabytes=1)
        size = convolution_stack(model, nodes=300, megabytes=100)
        sha256 = hash_file(model)
        ours = measure_apart("report", model, warming=warming, rounds=ROUNDS, sha256=sha256)
        other = measure_apart("load_and_infer", model, warming=warming, rounds=ROUNDS)
    time = statistics.median(ours.seconds) / statistics.median(other.seconds)
    memory = statistics.median(ours.peaks) / statistics.median(other.peaks)
    return Figure(
        "report_100mb",
        round(time, 3),
        "x of the time of onnx.load + infer_shapes",
        f"<= {TIME} of the time, <= {MEMORY:.2f} of the peak memory",
        time <= TIME and memory <= MEMORY,
        {
            **machine(),
            "onnx": onnx.__version__,
            "memory_ratio": round(memory, 3),
            "file_bytes": size,
            **ours.said,
            "report_s": [round(value, 3) for value in ours.seconds],
            "load_and_infer_s": [round(value, 3) for value in other.seconds],
            "report_peak_mb": round(statistics.median(ours.peaks) / 1e6),
            "load_and_infer_peak_mb": round(statistics.median(other.peaks) / 1e6),
            "protocol": (
                f"medians of {ROUNDS} rounds in warm processes, the file in the page cache and "
                "hashed when it was stored; report = file to findings on every shown column, "
                "PostgreSQL; peaks are whole resident sizes"
            ),
        },
    )
