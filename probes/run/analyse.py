"""The facts of a stranger's model, made in a child with limits: every ending is an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from probes.model.refusals import ModelFileError
from probes.run.limited import LimitedError, MemoryLimit, TimeLimit, call_limited

Facts = dict[str, Any]
SECONDS = 8.0  # the answer, start and judgement included, comes within ten
MEMORY_BYTES = 500_000_000


def facts_of(
    path: str | Path,
    *,
    sha256: str = "",
    seconds: float = SECONDS,
    memory_bytes: int = MEMORY_BYTES,
) -> Facts:
    """The facts document of the model at `path`; ModelFileError for whatever else happens.

    `sha256` (64 hex digits) spares hashing a file whose hash is known.
    """
    payload = {"path": str(Path(path).absolute()), "sha256": sha256}
    try:
        answer = call_limited(
            "probes.model.facts:infer", payload, seconds=seconds, memory_bytes=memory_bytes
        )
    except TimeLimit:
        raise ModelFileError("took_too_long", seconds=seconds) from None
    except MemoryLimit:
        megabytes = memory_bytes // 10**6
        raise ModelFileError("took_too_much_memory", megabytes=megabytes) from None
    except LimitedError as error:
        raise ModelFileError("analysis_crashed", detail=str(error)) from error
    if "refused" in answer:
        raise ModelFileError.from_json(answer["refused"])
    facts: Facts = answer["facts"]
    return facts
