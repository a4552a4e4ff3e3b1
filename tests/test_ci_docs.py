"""docs/ci.md is run as it is written: the package alone, in an environment of its own."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from probes.cli.check import make_parser
from tests.live import serve_site
from tests.make import make_cell, make_model, make_operator

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
SECONDS = 300


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def run(command, folder, **environment):
    ours = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPATLAS_")}
    return subprocess.run(
        command,
        cwd=folder,
        env=kept | ours | environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture
def source(tmp_path):
    """What pip builds from: it leaves files there, so not in the checkout."""
    folder = tmp_path / "source"
    shutil.copytree(ROOT / "probes", folder / "probes")
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.mark.django_db
def test_the_shell_of_the_page_installs_the_package_alone_and_checks(tmp_path, source, settings):
    make_cell(make_operator("Relu"))
    make_cell(make_operator("Tan"), level="red", reason_code="run_error",
              reason_params={"message": "no kernel"})  # fmt: skip
    (script,) = blocks("sh")
    (tmp_path / "good.onnx").write_bytes(make_model("Relu"))
    (tmp_path / "bad.onnx").write_bytes(make_model("Relu", "Tan", name="my_tan"))
    with serve_site() as site:
        told = {"OPATLAS_SERVER": site, "OPATLAS_SOURCE": str(source), "MODEL": "good.onnx"}
        good = run(["sh", "-c", script], tmp_path, **told)
        assert good.returncode == 0, good.stdout + good.stderr
        assert "good.onnx: nothing red." in good.stdout
        check = ["check", "bad.onnx", "--server", site, "--target", "onnxruntime-cpu"]
        for command in ([".opatlas/bin/opatlas"], [".opatlas/bin/python", "-m", "probes"]):
            bad = run([*command, *check], tmp_path)
            assert bad.returncode == 1, bad.stdout + bad.stderr
            assert "no kernel" in bad.stdout
            assert "my_tan" in bad.stdout
    away = run([".opatlas/bin/opatlas", *check, "--timeout", "1"], tmp_path)
    assert (away.returncode, "--timeout" in away.stderr) == (2, True)
    program = "import importlib.util as u; print(*map(u.find_spec, ('django', 'rest_framework')))"
    found = run([".opatlas/bin/python", "-c", program], tmp_path)
    assert found.stdout.split() == ["None", "None"]


def test_every_call_on_the_page_has_options_that_exist():
    calls = re.findall(r"opatlas check (model\.onnx|\"\$MODEL\")((?:.*\\\n)*[^|>\n]*)", PAGE)
    assert len(calls) == 3
    for model, options in calls:
        words = shlex.split(model + options.replace("\\\n", " "))
        assert make_parser().parse_args(words).target


def test_every_option_of_the_command_is_on_the_page():
    for action in make_parser()._actions:
        for option in action.option_strings:
            assert option in {"-h", "--help"} or option in PAGE


def test_the_yaml_of_the_page_is_yaml():
    actions, gitlab = map(yaml.safe_load, blocks("yaml"))
    assert actions["jobs"]["check"]["steps"]
    assert gitlab["operators"]["script"]
