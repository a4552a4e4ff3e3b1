"""A file, its facts, the command here and the command there: one answer for every real model."""

import json
from itertools import chain

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from compat.casebook import PACK, load_cases
from compat.catalogue import load_operators
from compat.exchange import load_evidence
from probes.cases.build import build_case
from probes.cases.pack import read_pack
from probes.cases.tables import all_rows
from probes.cli.main import main
from probes.model.facts import make_facts
from tests.compat.test_real_models import DATA, EVIDENCE, LIGHT, REAL
from tests.live import serve_site

pytestmark = pytest.mark.django_db

MODELS = (
    *sorted(REAL.glob("*.onnx")),
    *sorted(DATA.joinpath("models").glob("*.onnx")),
    *(LIGHT / f"light_{name}.onnx" for name in ("squeezenet", "shufflenet", "densenet121")),
)
RUNTIMES = ("onnxruntime-cpu", "openvino-cpu")
TARGETS = [f"--target={runtime}" for runtime in RUNTIMES]


@pytest.fixture
def evidence(tmp_path, settings):
    """What ships of the operators of these models."""
    settings.CASE_DIR = tmp_path / "cases"
    settings.UPLOAD_DIR = tmp_path / "uploads"
    nodes = chain.from_iterable(make_facts(path)["nodes"] for path in MODELS)
    used = {(node["domain"], node["op"]) for node in nodes}
    load_operators()
    node_tests = (case for case in read_pack(PACK) if (case.domain, case.op_type) in used)
    mainstream = (build_case(row) for row in all_rows() if (row.domain, row.op) in used)
    load_cases(chain(node_tests, mainstream))
    for path in EVIDENCE.glob("*.jsonl.xz"):
        load_evidence(path)


def by_file(path, **tools):
    model = SimpleUploadedFile(path.name, path.read_bytes())
    asked = {"model": model, "target": RUNTIMES}
    return tools["client"].post("/api/v1/reports/", asked).json()["targets"]


def by_facts(path, **tools):
    asked = {"facts": make_facts(path), "targets": RUNTIMES}
    body = json.dumps(asked)
    answer = tools["client"].post("/api/v1/reports/", body, content_type="application/json")
    return answer.json()["targets"]


def by_check_model(path, **tools):
    with pytest.raises(SystemExit):
        call_command("check_model", str(path), *TARGETS, format="json")
    return json.loads(tools["capsys"].readouterr().out)["targets"]


def by_check(path, **tools):
    main(["check", str(path), f"--server={tools['site']}", *TARGETS, "--format=json"])
    return json.loads(tools["capsys"].readouterr().out)["targets"]


def by_check_without_names(path, **tools):
    server = f"--server={tools['site']}"
    main(["check", str(path), server, *TARGETS, "--format=json", "--hash-names"])
    return json.loads(tools["capsys"].readouterr().out)["targets"]


WAYS = (by_file, by_facts, by_check_model, by_check, by_check_without_names)


def test_all_ways_give_the_same_findings(evidence, client, capsys, subtests):
    with serve_site() as site:
        for path in MODELS:
            first, *others = (way(path, client=client, capsys=capsys, site=site) for way in WAYS)
            for way, other in zip(WAYS[1:], others, strict=True):
                with subtests.test(model=path.name, way=way.__name__):
                    assert other == first
            with subtests.test(model=path.name, way="is about something"):
                assert [target["totals"]["nodes"] > 0 for target in first] == [True, True]
                assert any(target["findings"] for target in first)
