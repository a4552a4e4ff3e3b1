"""Environments of runtimes: made once, checked by asking, found again, never half made."""

import errno
import json
import subprocess
import sys
import time

import pytest

from probes.cli import env as command
from probes.run import envs
from probes.run.outcome import Outcome
from probes.run.registry import RUNTIMES, Runtime
from probes.run.sandbox import ProbeRequest, Sandbox
from tests.probes.cases.make import make_case

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The fake runtime as one with an environment of its own."""
    row = Runtime(
        "fake", "Fake", "probes.run.adapters.fake", distribution="absent-package",
        requirements=(f"{tmp_path}/package",), config={"threads": 1}, own_env=True,
        pythons=(HERE,),
    )  # fmt: skip
    package = tmp_path / "package"
    (package / "made_here").mkdir(parents=True)
    (package / "made_here" / "__init__.py").write_text("")
    (package / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    (package / "backend.py").write_text(WHEEL)
    monkeypatch.setitem(RUNTIMES, "fake", row)
    monkeypatch.setenv("OPATLAS_ENV_DIR", str(tmp_path / "envs"))
    return row


# A build backend that needs nothing: a wheel is a zip with three small files.
WHEEL = """
import zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "made_here-1.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as file:
        file.writestr("made_here/__init__.py", "")
        info = "made_here-1.0.dist-info"
        about = "Metadata-Version: 2.1\\nName: made-here\\nVersion: 1.0\\n"
        file.writestr(f"{info}/METADATA", about)
        tags = "Wheel-Version: 1.0\\nTag: py3-none-any\\nRoot-Is-Purelib: true\\n"
        file.writestr(f"{info}/WHEEL", tags)
        file.writestr(f"{info}/RECORD", "")
    return name
"""


def imports(python):
    """What the check of a real runtime does: use what was installed."""
    subprocess.run([python, "-c", "import made_here"], check=True)
    return "1.0"


def test_built_once_and_found_again(own):
    assert envs.interpreter("fake") == ""
    built = envs.build("fake", imports, say=lambda _: None)
    assert (built.version, built.python) == ("1.0", HERE)
    assert "made-here==1.0" in [name.replace("_", "-") for name in built.packages]
    assert built.disk_bytes > 1e6
    assert envs.interpreter("fake").startswith(built.path)
    assert envs.build("fake", lambda _: pytest.fail("asked again"), say=lambda _: None) == built
    assert envs.remove("fake")
    assert envs.interpreter("fake") == ""


def test_an_environment_that_fails_its_check_is_none(own):
    def fails(python):
        raise envs.EnvError("it does not answer")

    with pytest.raises(envs.EnvError, match="does not answer"):
        envs.build("fake", fails, say=lambda _: None)
    assert envs.find_built("fake") is None
    assert not envs.env_path(own).exists()


def test_what_was_interrupted_is_made_anew(own):
    envs.env_path(own).mkdir(parents=True)
    (envs.env_path(own) / "left").write_text("")
    envs.build("fake", imports, say=lambda _: None)
    assert not (envs.env_path(own) / "left").exists()


def test_other_pins_are_another_environment(own, monkeypatch):
    envs.build("fake", imports, say=lambda _: None)
    monkeypatch.setitem(RUNTIMES, "fake", RUNTIMES["reference"])
    changed = Runtime(**{**vars(own), "requirements": ("made-here==2.0",)})
    monkeypatch.setitem(RUNTIMES, "fake", changed)
    assert envs.find_built("fake") is None


def test_a_name_that_begins_another_removes_only_its_own(own, tmp_path):
    """As tensorrt and tensorrt-rtx: the one must not take the other with it."""
    envs.env_path(own).mkdir(parents=True)
    other = envs.env_path(own).with_name("fake-rtx-0123456789")
    other.mkdir()
    assert envs.remove("fake")
    assert other.is_dir()
    assert not envs.remove("fake")


def test_a_folder_that_takes_nothing_is_a_sentence(own, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "OWN", ("fake",))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OPATLAS_ENV_DIR", str(tmp_path / "file"))
    assert command.main(["build", "fake"]) == 1
    assert "cannot be kept in" in capsys.readouterr().err


def test_ctrl_c_leaves_nothing_half_made(own, monkeypatch, capsys):
    def stopped(row, path, *_):
        path.mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "OWN", ("fake",))
    monkeypatch.setattr(envs, "_install", stopped)
    assert command.main(["build", "fake"]) == 130
    assert "half made" in capsys.readouterr().err
    assert not envs.env_path(own).exists()


def test_a_disk_that_is_full_at_the_end_leaves_nothing(own, monkeypatch):
    def full(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    def install(row, path, *_):
        path.mkdir()

    monkeypatch.setattr(envs, "_install", install)
    monkeypatch.setattr(envs, "_packages", full)
    with pytest.raises(envs.EnvError, match="No space left"):
        envs.build("fake", lambda _: "1.0", say=lambda _: None)
    assert not envs.env_path(own).exists()


def test_a_folder_named_from_here_is_found_from_elsewhere(own, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPATLAS_ENV_DIR", "near")
    assert envs.env_path(own).parent == tmp_path / "near"


def test_what_a_killed_builder_started_is_waited_for(own, tmp_path):
    """Its pip goes on: a second one beside it would leave half of each."""
    script = (
        "from probes.run import envs; from probes.run.registry import RUNTIMES\n"
        "with envs._alone(RUNTIMES['fake'], print) as lock:\n"
        "    print('ready', flush=True); envs._call(['sleep', '2'], lock)"
    )
    killed = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert killed.stdout.readline() == b"ready\n"
    time.sleep(0.5)  # until sleep runs
    killed.kill()
    killed.wait()
    said = []
    started = time.monotonic()
    with envs._alone(own, said.append):
        assert time.monotonic() - started > 0.5
    assert "waiting" in said[0]


def test_a_shim_that_fails_is_passed_over(tmp_path, monkeypatch):
    shim = tmp_path / "python3.99"
    shim.write_text("#!/bin/sh\necho 'not installed' >&2\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert envs.find_python((HERE,))[1] == HERE
    with pytest.raises(envs.EnvError, match=r"No Python 3\.99"):
        envs.find_python(("3.99",))


def test_without_its_environment_a_runtime_is_unavailable(own):
    with Sandbox("fake") as sandbox:
        result = sandbox.run(ProbeRequest(make_case()))
    assert result.outcome is Outcome.UNAVAILABLE
    assert "python -m probes env build fake" in result.message


def test_a_child_of_another_interpreter_finds_the_engine_and_nothing_else_of_ours(own):
    """Beside an installed engine lie packages that the other environment must not see."""
    envs.build("fake", imports, say=lambda _: None)
    with Sandbox("fake") as sandbox, pytest.raises(Exception, match="No module"):
        sandbox.describe()


def test_the_command_lists_what_is_built_and_how_to_build_the_rest(own, monkeypatch, capsys):
    monkeypatch.setattr(command, "OWN", ("fake", "rknn"))
    envs.build("fake", imports, say=lambda _: None)
    assert command.main(["list"]) == 0
    told = capsys.readouterr().out
    assert f"1.0, Python {HERE}" in told
    assert "python -m probes env build rknn" in told
    assert command.main(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rknn"] is None
