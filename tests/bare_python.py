"""A Python environment as a board has it: this probes/ and what that needs, but no Django."""

import re
import shutil
import subprocess
import venv
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = re.compile(r"[A-Za-z0-9._-]+")
FORBIDDEN = ("django", "rest_framework", "psycopg", "compat", "webui")


def make_bare_python(folder, packages):
    """The interpreter of an environment with `packages` and all that they require, linked."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    python = Path(folder) / "bin" / "python"
    (site,) = Path(folder).glob("lib/python*/site-packages")
    for name in required(packages):
        for path in top_level(name):
            if not (site / path.name).exists():
                (site / path.name).symlink_to(path)
    shutil.copytree(ROOT / "probes", site / "probes", ignore=shutil.ignore_patterns("__pycache__"))
    for name in FORBIDDEN:
        done = subprocess.run([python, "-c", f"import {name}"], cwd=folder, capture_output=True)
        assert b"ModuleNotFoundError" in done.stderr, f"{name} can be imported there"
    return python


def required(packages):
    """Names of installed distributions: these and what they require, without extras."""
    found, waiting = {}, list(packages)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # for another platform or Python
        lines = found[name].requires or ()
        waiting += [NAME.match(line)[0] for line in lines if "extra ==" not in line]
    return found


def top_level(name):
    """What a distribution put into site-packages."""
    installed = distribution(name)
    parts = {Path(file).parts[0] for file in installed.files or ()}
    return [Path(installed.locate_file(part)) for part in parts - {"..", "__pycache__"}]
