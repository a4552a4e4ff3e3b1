"""The doors and the measures of the house, held by tests."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from probes.run.registry import RUNTIMES

ROOT = Path(__file__).resolve().parent.parent
CODE = ("probes", "compat", "webui", "tests")
TOP_LEVEL = {
    *("compat", "probes", "webui", "fixtures", "tests", "docker", "docs", ".ci", ".github"),
    *("manage.py", "requirements.txt", "requirements-test.txt", "Makefile", "pyproject.toml"),
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", ".gitignore", ".dockerignore"),
}
LONGEST_FILE = 400  # lines; the case tables are data
INSIDE = ("probes/run/child.py", "probes/run/outcome.py", "probes/run/adapter.py")
# Names that Python 3.10 (JetPack 6, RKNN) does not have.
NEWER_THAN_3_10 = {
    *("tomllib", "StrEnum", "ReprEnum", "Self", "Never", "LiteralString", "assert_never"),
    *("assert_type", "override", "UTC", "TaskGroup", "ExceptionGroup", "batched", "chdir"),
}


def tracked() -> list[str]:
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [name for name in done.stdout.splitlines() if (ROOT / name).exists()]


def python_files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 10))


def imported(nodes) -> set[str]:
    """Dotted modules named by the import statements among `nodes`."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def reached(paths: list[Path]) -> set[Path]:
    """The engine's files that importing `paths` imports, themselves included."""
    found, waiting = set(), list(paths)
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        stems = (ROOT / name.replace(".", "/") for name in imported(parse(path).body))
        candidates = (
            file for stem in stems for file in (stem.with_suffix(".py"), stem / "__init__.py")
        )
        waiting += [file for file in candidates if file.is_relative_to(ROOT) and file.exists()]
    return found


def test_the_doors_are_kept():
    linter = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout


def test_no_file_is_too_long():
    lines = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files(*CODE)
        if not {"migrations", "tables"} & set(path.parts)
    }
    assert {name: count for name, count in lines.items() if count > LONGEST_FILE} == {}


def test_what_runs_beside_a_vendor_runtime_reads_on_python_3_10():
    files = [ROOT / name for name in INSIDE] + python_files("probes/run/adapters")
    newer = {}
    for path in reached([path for path in files if path.exists()]):
        tree = parse(path)  # a SyntaxError here is newer grammar
        names = {name.rpartition(".")[2] for name in imported(ast.walk(tree))}
        newer[path.name] = sorted(names & NEWER_THAN_3_10)
    assert {name: found for name, found in newer.items() if found} == {}


def test_only_a_child_loads_a_runtime():
    """Adapters import theirs at the top, and only `make_adapter`, in the child, imports them."""
    modules = "probes.run.sandbox, probes.run.child, compat.work, compat.tasks, compat.urls"
    program = f"import django; django.setup(); import sys, {modules}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "compat.settings"},
        capture_output=True,
        text=True,
        check=True,
    )
    runtimes = {"onnxruntime", "openvino", "torch"}
    here = {row.distribution for row in RUNTIMES.values() if not row.own_env}
    assert here - {"", "onnx"} <= runtimes
    assert {name.partition(".")[0] for name in done.stdout.split()} & runtimes == set()


def test_every_setting_is_documented():
    code = "".join(path.read_text(encoding="utf-8") for path in python_files("compat", "webui"))
    read = set(re.findall(r"""["'](OPATLAS_[A-Z_]+|DATABASE_URL|REDIS_URL)["']""", code))
    pages = [ROOT / "README.md", ROOT / "docs" / "deploy.md"]
    text = "".join(page.read_text(encoding="utf-8") for page in pages if page.exists())
    assert sorted(name for name in read if f"`{name}`" not in text) == []


def test_the_top_level_is_the_customers():
    assert {name.partition("/")[0] for name in tracked()} <= TOP_LEVEL


def test_every_fixture_is_described():
    readme = (ROOT / "fixtures" / "README.md").read_text(encoding="utf-8")
    data = (name for name in tracked() if name.startswith("fixtures/"))
    files = [Path(name) for name in data if name != "fixtures/README.md"]
    unnamed = [
        str(path)
        for path in files
        if path.name not in readme and f"{path.parent.relative_to('fixtures')}/" not in readme
    ]
    assert unnamed == []


def test_the_compose_file_builds_what_the_repository_has():
    compose = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8"))
    builds = [service["build"] for service in compose["services"].values() if "build" in service]
    assert builds
    for build in builds:
        assert (ROOT / "docker" / build["context"] / build["dockerfile"]).exists()
        assert build.get("args", {}).get("RUNTIME", "onnxruntime-cpu") in RUNTIMES


def test_no_module_is_a_drawer():
    drawers = {"utils", "util", "helpers", "services", "manager", "managers", "common", "misc"}
    names = {path.stem for path in python_files(*CODE)}
    assert names & drawers == set()
