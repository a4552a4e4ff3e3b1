"""In the limited child: which files and programs reading a model asks Python for."""

import sys
from typing import Any

from probes.model.facts import infer

CODE = (".py", ".pyc", ".so")
PROGRAMS = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn")


def infer_watched(payload: dict[str, Any]) -> dict[str, Any]:
    """{"paths"} to {"opened": names that are not the path asked for, "events": programs, sockets}.

    Modules are imported before, so that only what the models cause is seen.
    """
    seen: dict[str, list[str]] = {"opened": [], "events": []}
    asked = set(payload["paths"])

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str):
            if arguments[0] not in asked and not arguments[0].endswith(CODE):
                seen["opened"].append(arguments[0])
        elif event in PROGRAMS or event.startswith("socket."):
            seen["events"].append(event)

    sys.addaudithook(hook)
    for path in payload["paths"]:
        infer({"path": path})
    return {name: list(found) for name, found in seen.items()}
