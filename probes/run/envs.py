"""Environments of runtimes whose pins clash with ours: one virtual environment each, kept by pins.

They lie in OPATLAS_ENV_DIR, or else in the user's cache. A finished one holds a stamp; what has
none was interrupted and is made anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from probes.run.registry import RUNTIMES, Runtime, installed_version

STAMP = "opatlas-environment.json"
ASKING = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
ASKING_S = 20
WORST_LINES = 12
Say = Callable[[str], object]


class EnvError(Exception):
    """An environment that cannot be made; the message says what to do."""


@dataclass(frozen=True)
class Built:
    """A finished environment: what `env list` tells of it. disk_bytes: what its files take."""

    runtime: str
    version: str
    python: str
    packages: tuple[str, ...]
    disk_bytes: int
    path: str


def interpreter(slug: str) -> str:
    """The Python that can ask a runtime: this one, or that of its environment; "" for neither."""
    row = RUNTIMES[slug]
    if not row.own_env or installed_version(slug):
        return sys.executable
    return _python_of(env_path(row)) if find_built(slug) else ""


def how_to_build(slug: str) -> str:
    """What to do about a runtime that has no interpreter here."""
    row = RUNTIMES[slug]
    if not row.requirements and not row.no_deps:
        return (
            f"{row.title} is not installed here: it comes with the device, from no package index."
        )
    command = f"python -m probes env build {slug}"
    return f"{row.title} is not installed here. Build its environment: {command}"


def env_path(row: Runtime) -> Path:
    """Where the environment of these very pins lies."""
    pins = json.dumps([row.requirements, row.no_deps, row.pythons])
    return _root() / f"{row.slug}-{hashlib.sha256(pins.encode()).hexdigest()[:10]}"


def find_built(slug: str) -> Built | None:
    """The environment of a runtime, if it is finished and its interpreter is still there."""
    path = env_path(RUNTIMES[slug])
    try:
        told = json.loads((path / STAMP).read_text())
        built = Built(**{**told, "packages": tuple(told["packages"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return built if Path(_python_of(path)).exists() else None


def build(slug: str, check: Callable[[str], str], *, python: str = "", say: Say = print) -> Built:
    """Make the environment of a runtime, or find it made; raises EnvError.

    `check` asks the runtime through the interpreter that it is given and returns its version; an
    environment that does not pass is no environment.
    """
    row = RUNTIMES[slug]
    if not row.own_env or not (row.requirements or row.no_deps):
        raise EnvError(_nothing_to_build(row))
    try:
        with _alone(row, say) as lock:
            return find_built(slug) or _build(row, check, python, say, lock)
    except OSError as error:  # no room, no right to write there
        raise EnvError(f"The environment cannot be kept in {_root()}: {error}") from error


def remove(slug: str) -> bool:
    """Delete every environment of a runtime, of older pins too; whether there was one.

    Raises EnvError for one that cannot be deleted.
    """
    own = re.compile(re.escape(slug) + "-[0-9a-f]{10}")  # tensorrt is not tensorrt-rtx
    found = [path for path in _root().glob(f"{slug}-*") if own.fullmatch(path.name)]
    try:
        for path in found:
            shutil.rmtree(path)
    except OSError as error:
        raise EnvError(f"The environment cannot be deleted: {error}") from error
    return bool(found)


def find_python(wanted: Sequence[str], given: str = "") -> tuple[str, str]:
    """An interpreter of one of the versions that runs and can make environments, and its version.

    A name on the PATH proves nothing: a shim may be there and fail. Raises EnvError.
    """
    names = [given] if given else [sys.executable, *(f"python{version}" for version in wanted)]
    for name in names:
        version = _ask_version(name)
        if version and (not wanted or version in wanted):
            return name, version
    tried = ", ".join(dict.fromkeys(names))
    raise EnvError(
        f"No Python {' or '.join(wanted) or '3'} with venv runs here (tried {tried}). "
        "Install one, or name it with --python."
    )


def disk_bytes(path: Path) -> int:
    """What the files below a folder take on the disk."""
    files = (file for file in path.rglob("*") if not file.is_symlink())
    return sum(file.lstat().st_blocks * 512 for file in files)


def _root() -> Path:
    given = os.environ.get("OPATLAS_ENV_DIR")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    # whole, because children run in folders of their own
    return (Path(given) if given else Path(cache) / "opatlas" / "envs").absolute()


def _python_of(path: Path) -> str:
    return str(path / "bin" / "python")


def _nothing_to_build(row: Runtime) -> str:
    if row.own_env:
        return how_to_build(row.slug)
    return f"{row.title} needs no environment of its own: it runs in the one that asks."


def _ask_version(name: str) -> str:
    try:
        done = subprocess.run(
            [name, "-c", ASKING], capture_output=True, text=True, timeout=ASKING_S, check=False
        )
    except (OSError, UnicodeDecodeError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _build(row: Runtime, check: Callable[[str], str], python: str, say: Say, lock: int) -> Built:
    path = env_path(row)
    base, version = find_python(row.pythons, python)
    shutil.rmtree(path, ignore_errors=True)
    try:
        _install(row, path, base, say, lock)
        say("Asking the runtime for its version.")
        found = check(_python_of(path))
        built = Built(row.slug, found, version, _packages(path), disk_bytes(path), str(path))
        (path / STAMP).write_text(json.dumps(asdict(built), indent=1))
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return built


def _install(row: Runtime, path: Path, base: str, say: Say, lock: int) -> None:
    say(f"Making an environment for {row.title}.")
    _call([base, "-m", "venv", str(path)], lock)
    pip = [_python_of(path), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if row.requirements:
        say(f"Installing {', '.join(row.requirements)}.")
        _call([*pip, *row.requirements], lock)
    if row.no_deps:
        say(f"Installing {', '.join(row.no_deps)}, without what they ask for beside.")
        _call([*pip, "--no-deps", *row.no_deps], lock)


def _call(command: Sequence[str], lock: int) -> None:
    """The command holds the lock too: where its builder is killed, it goes on for a while."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, capture_output=True, text=True, env=own, check=False, pass_fds=(lock,)
    )
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()[-WORST_LINES:]
        raise EnvError("\n".join([f"{' '.join(command)} failed:", *lines]))


def _packages(path: Path) -> tuple[str, ...]:
    command = [_python_of(path), "-m", "pip", "list", "--format=freeze"]
    command.append("--disable-pip-version-check")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return tuple(done.stdout.split())


@contextmanager
def _alone(row: Runtime, say: Say) -> Iterator[int]:
    """One builder of a runtime at a time; the next finds what the first made. Yields the
    descriptor of the lock."""
    _root().mkdir(parents=True, exist_ok=True)
    with (_root() / f"{row.slug}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Another process builds the environment of {row.title}: waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()
