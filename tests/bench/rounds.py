"""One way of reading a model, measured in a process of its own that is warm by then.

`python -m tests.bench.rounds WAY WARMING MODEL ROUNDS SHA256` prints seconds and peaks as JSON.
"""

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from probes.run.memory import peak_bytes, reset_peak


class Rounds(NamedTuple):
    """Of each round the seconds and the largest resident size in bytes; what the last one said."""

    seconds: list[float]
    peaks: list[int]
    said: dict[str, Any]


def measure_apart(way: str, model: Path, *, warming: Path, rounds: int, sha256: str = "") -> Rounds:
    """Runs in a fresh process, which reads `warming` first and that is not counted."""
    arguments = [way, str(warming), str(model), str(rounds), sha256]
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.rounds", *arguments], stdout=subprocess.PIPE, check=True
    )
    return Rounds(*json.loads(done.stdout.splitlines()[-1]))


def report(path: str, sha256: str) -> dict[str, Any]:
    """From the stored file to findings on every shown column."""
    from compat.columns import load_heads
    from compat.reports import choose_targets, judge_facts
    from probes.model.facts import infer

    facts = infer({"path": path, "sha256": sha256})["facts"]
    results = judge_facts(facts, choose_targets([]))
    assert len(results) == len(load_heads())
    findings = sum(len(each["findings"]) for each in results)
    return {"nodes": len(facts["nodes"]), "columns": len(results), "findings": findings}


def load_and_infer(path: str, sha256: str) -> dict[str, Any]:
    """What anyone else would do: the whole file into memory, and shape inference."""
    import onnx

    inferred = onnx.shape_inference.infer_shapes(onnx.load(path))
    return {"nodes": len(inferred.graph.node)}


WAYS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "report": report,
    "load_and_infer": load_and_infer,
}


def main(way: str, warming: str, model: str, rounds: str, sha256: str) -> None:
    if way == "report":
        import django

        django.setup()
    WAYS[way](warming, "0" * 64)
    seconds, peaks, said = [], [], {}
    for _ in range(int(rounds)):
        gc.collect()
        reset_peak()
        started = time.perf_counter()
        said = WAYS[way](model, sha256)
        seconds.append(time.perf_counter() - started)
        peaks.append(peak_bytes() or 0)
    print(json.dumps([seconds, peaks, said]))


if __name__ == "__main__":
    main(*sys.argv[1:])
