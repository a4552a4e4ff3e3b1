"""The largest resident size that one probe reached, asked of the kernel from inside."""

from __future__ import annotations

from pathlib import Path

_CLEAR = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")
RESET_PEAK = "5"


def reset_peak() -> None:
    """Start anew from the present size; does nothing where the kernel forbids it."""
    try:
        _CLEAR.write_text(RESET_PEAK)
    except OSError:
        return


def peak_bytes() -> int | None:
    """Largest resident size since the reset; None where the kernel does not tell."""
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return None
    values = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(values[0]) * 1024 if values else None
