"""Inside: call one named function with one document. No numpy: the start must stay cheap.

`python -m probes.run.limited_child PARENT REQUESTS REPLIES PAGE MODULE:FUNCTION`
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from probes.model import frames
from probes.run.guard import guard
from probes.run.progress import ProgressPage


def main(arguments: Sequence[str]) -> None:
    """Read the payload, answer, end."""
    parent, requests, replies, page = map(int, arguments[:4])
    guard(parent, (requests, replies, page))
    progress = ProgressPage(page)
    module, _, name = arguments[4].partition(":")
    with os.fdopen(requests, "rb") as stream, os.fdopen(replies, "wb") as sink:
        frame = frames.read(stream)
        if frame is not None:
            function = getattr(importlib.import_module(module), name)
            progress.begin(time.monotonic(), 1)
            header, document = _call(function, json.loads(bytes(frame[1][0])))
            sink.write(frames.encode(header, [document]))


def _call(function: Any, payload: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    try:
        return {}, json.dumps(function(payload)).encode()
    except Exception as error:  # noqa: BLE001 - the caller, in the other process, raises it
        arguments = json.loads(json.dumps(list(error.args), default=str))
        failure = {
            "kind": type(error).__name__,
            "message": str(error)[:2000],
            "arguments": arguments,
        }
        return {"failed": True}, json.dumps(failure).encode()


if __name__ == "__main__":
    main(sys.argv[1:])
