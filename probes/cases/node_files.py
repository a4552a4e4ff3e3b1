"""The node tests of an older onnx, read from the files of its wheel, beside those of this onnx."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

import onnx
from onnx.backend.test.case.test_case import TestCase

from probes.cases.case import Case
from probes.cases.node_tests import cases_of, node_name
from probes.model.values import NUMBER_OF

Proto = onnx.TensorProto | onnx.SequenceProto | onnx.OptionalProto
PROTOS: dict[str, type[Proto]] = {
    "tensor_type": onnx.TensorProto,
    "sequence_type": onnx.SequenceProto,
    "optional_type": onnx.OptionalProto,
}
# What `load_model_tests` gives to every test that it finds as files.
RTOL, ATOL = 1e-3, 1e-7
BFLOAT16 = NUMBER_OF["bfloat16"]


def older_name(test: str, release: str) -> str:
    """The name of a test of an older onnx ("1.15.0"): node/test_relu@onnx-1.15."""
    return node_name(test, f"@onnx-{release.removesuffix('.0')}")


def plain_name(name: str) -> str:
    """The test's name as its onnx has it, of the name of a case: test_relu."""
    return name.removeprefix(node_name("")).partition("@")[0]


def names_beside(pack: Path) -> Path:
    """The CSV beside a pack: every test of an older release, or what each graph consists of."""
    return pack.with_name(pack.name.replace(".pack.xz", ".csv"))


def older_cases(folder: Path, release: str) -> Iterator[Case]:
    """Every test in the folder `onnx/backend/test/data/node` of an onnx release, by name."""
    tests = [_test(path) for path in sorted(folder.iterdir()) if path.is_dir()]
    return cases_of(tests, release=release, name=lambda test: older_name(test, release))


def new_among(cases: Iterable[Case], known: dict[str, str]) -> Iterator[Case]:
    """The cases whose content has no name yet; `known` (id -> name) learns their names."""
    for case in cases:
        if case.id not in known:
            known[case.id] = case.name
            yield case


def _test(folder: Path) -> TestCase:
    model = onnx.load(folder / "model.onnx")
    (data,) = folder.glob("test_data_set_*")
    values = (
        _values(data, "input", model.graph.input),
        _values(data, "output", model.graph.output),
    )
    return TestCase(
        name=folder.name,
        model_name=folder.name,
        url=None,
        model_dir=None,
        model=model,
        data_sets=[values],
        kind="node",
        rtol=RTOL,
        atol=ATOL,
    )


def _values(data: Path, stem: str, declared: Iterable[onnx.ValueInfoProto]) -> list[Proto]:
    return [
        _read(data / f"{stem}_{number}.pb", info.type)
        for number, info in zip(count(), declared, strict=False)
    ]


def _read(path: Path, declared: onnx.TypeProto) -> Proto:
    proto = PROTOS[str(declared.WhichOneof("value"))]()
    proto.ParseFromString(path.read_bytes())
    # numpy has no bfloat16: the files hold its bits as uint16.
    if isinstance(proto, onnx.TensorProto) and declared.tensor_type.elem_type == BFLOAT16:
        proto.data_type = BFLOAT16
    return proto
