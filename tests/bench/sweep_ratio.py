"""The node tests on ONNX Runtime through everything, against a bare loop over the same probes."""

import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime

from compat import casebook, catalogue
from compat.fleet import register_local_targets
from compat.models import Cell, Probe, Target
from compat.sweeps import start_sweep
from compat.work import run_claimed
from probes.cases.case import Case
from probes.cases.catalogue import read_pack
from probes.cases.forms import forms_for
from probes.model.values import Tensor, Value, to_numpy
from probes.run.requests import ProbeRequest, present
from probes.run.sandbox import Sandbox
from tests.bench.conditions import machine
from tests.bench.figure import Figure

RUNTIME = "onnxruntime-cpu"
GOAL = 2.0
PAIRS = 3
Ready = tuple[bytes, list[Any]]


def array_of(value: Value) -> Any:
    if isinstance(value, Tensor):
        return to_numpy(value)
    return None if value is None else [array_of(each) for each in value]


def prepare(cases: Sequence[Case], sandbox: Sandbox) -> list[Ready]:
    """Model bytes and numpy inputs of every probe that the sweep will present."""
    capabilities = sandbox.capabilities()
    requests = (
        ProbeRequest(case, form) for case in cases for form in forms_for(case, capabilities)
    )
    presented = (present(request, capabilities) for request in requests)
    return [
        (model, [array_of(each) for each in inputs]) for model, inputs in filter(None, presented)
    ]


def bare_options() -> onnxruntime.SessionOptions:
    """One thread, full optimization, as the adapter's default configuration."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return options


def bare_loop(ready: Sequence[Ready], options: onnxruntime.SessionOptions) -> tuple[float, int]:
    """Seconds to load and run each, nothing compared or stored; and how many ran."""
    ran = 0
    started = time.perf_counter()
    for model, inputs in ready:
        try:
            session = onnxruntime.InferenceSession(
                model, options, providers=["CPUExecutionProvider"]
            )
            names = [each.name for each in session.get_inputs()]
            session.run(None, dict(zip(names, inputs, strict=False)))
            ran += 1
        except Exception:  # noqa: BLE001 - refusals are part of both sides
            continue
    return time.perf_counter() - started, ran


def full_path(target: Target, sandbox: Sandbox) -> float:
    """Seconds from the request for a sweep to judged cells."""
    started = time.perf_counter()
    sweep = start_sweep(target=target)
    run_claimed(target, sandbox=sandbox)
    seconds = time.perf_counter() - started
    done = Probe.objects.filter(sweep=sweep, state=Probe.State.DONE).count()
    if done != sweep.total:
        raise SystemExit(f"{done} of {sweep.total} probes were done")
    return seconds


def measure() -> Figure:
    catalogue.load_operators()
    cases = list(read_pack(casebook.PACK))
    casebook.load_cases(cases)
    cases = list({case.id: case for case in cases}.values())
    target, options = register_local_targets([RUNTIME])[0], bare_options()
    with Sandbox(RUNTIME, target.column.config, target=target.slug) as sandbox:
        ready = prepare(cases, sandbox)
        bare_loop(ready, options)
        full_path(target, sandbox)
        pairs = [(full_path(target, sandbox), bare_loop(ready, options)) for _ in range(PAIRS)]
    ratios = [seconds / bare for seconds, (bare, _) in pairs]
    value = statistics.median(ratios)
    outcomes = Probe.objects.filter(latest=True).values_list("outcome", flat=True)
    return Figure(
        "sweep_ratio",
        round(value, 2),
        "x",
        f"<= {GOAL}",
        value <= GOAL,
        {
            **machine(),
            "onnxruntime": onnxruntime.__version__,
            "numpy": np.__version__,
            "cases": len(cases),
            "probes": len(outcomes),
            "probes_passed": list(outcomes).count("passed"),
            "bare_ran": pairs[-1][1][1],
            "cells": Cell.objects.count(),
            "sweep_s": [round(seconds, 2) for seconds, _ in pairs],
            "bare_s": [round(bare, 2) for _, (bare, _) in pairs],
            "bare_tests_per_s": round(len(ready) / statistics.median(b for _, (b, _) in pairs)),
            "protocol": (
                f"median of {PAIRS} alternating pairs after one unmeasured; bare = load and run in "
                "one process, what numpy cannot feed only loaded; sweep = rows, one sandboxed "
                "child, compare, PostgreSQL, cells"
            ),
        },
    )
