"""A named function in a limited child: its result, or a typed error that says what happened."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from probes.run.limited import (
    ChildCrash,
    FunctionFailed,
    MemoryLimit,
    TimeLimit,
    call_limited,
)

HERE = "tests.probes.run.test_limited"
GENEROUS = {"seconds": 30.0, "memory_bytes": 2**30}


def double(payload):
    return {"twice": payload["number"] * 2}


def fail(payload):
    raise LookupError(payload["code"], "no such thing")


def run_out(payload):
    raise MemoryError


def hang(payload):
    time.sleep(600)


def eat(payload):
    kept = []
    while True:
        kept.append(bytearray(b"x") * 2**24)


def crash(payload):
    import ctypes

    print("last words", flush=True)
    ctypes.string_at(0)


def leave(payload):
    import os

    os._exit(3)


def test_the_result_comes_back():
    assert call_limited(f"{HERE}:double", {"number": 21}, **GENEROUS) == {"twice": 42}


def test_a_large_payload_and_a_large_result_pass():
    result = call_limited("copy:copy", {"text": "é" * 3_000_000}, **GENEROUS)
    assert result == {"text": "é" * 3_000_000}


def test_an_exception_keeps_its_kind_and_arguments():
    with pytest.raises(FunctionFailed) as caught:
        call_limited(f"{HERE}:fail", {"code": "absent"}, **GENEROUS)
    assert caught.value.kind == "LookupError"
    assert caught.value.arguments == ["absent", "no such thing"]


@pytest.mark.parametrize(
    ("function", "limits", "error"),
    [
        ("hang", {"seconds": 0.5, "memory_bytes": 2**30}, TimeLimit),
        ("eat", {"seconds": 60.0, "memory_bytes": 2**28}, MemoryLimit),
        ("run_out", GENEROUS, MemoryLimit),
        ("crash", GENEROUS, ChildCrash),
        ("leave", GENEROUS, ChildCrash),
        ("no_such_function", GENEROUS, ChildCrash),
    ],
)
def test_the_error_says_what_happened(function, limits, error):
    with pytest.raises(error):
        call_limited(f"{HERE}:{function}", {}, **limits)


def test_what_a_crashed_child_printed_is_kept():
    with pytest.raises(ChildCrash, match="SIGSEGV") as caught:
        call_limited(f"{HERE}:crash", {}, **GENEROUS)
    assert "last words" in caught.value.log


def test_a_child_starts_without_numpy():
    root = Path(__file__).resolve().parents[3]
    code = "import sys, probes.run.limited_child; print('numpy' in sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "False"
