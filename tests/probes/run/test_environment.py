"""The facts of a machine: what names the processor, and nothing that names the host."""

import platform

import pytest

from probes.run.environment import cpu_model, machine_facts, runtime_facts


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "processor\t: 0\nmodel name\t: AMD EPYC\nprocessor\t: 1\nmodel name\t: Other\n",
            "AMD EPYC",
        ),
        ("processor\t: 0\nBogoMIPS\t: 48\n\nHardware\t: RK3588\nModel\t: Rock 5B\n", "Rock 5B"),
        ("", ""),
    ],
)
def test_processor_name(text, name):
    assert cpu_model(text) == name


def test_facts_are_complete_and_name_no_host():
    facts = runtime_facts("fake", "1.0", {"threads": 3}, {"precision": "f32"})
    assert facts["cpu_model"]
    assert facts["cores"] >= 1
    assert facts["numpy"]
    assert facts["onnx"]
    assert (facts["threads"], facts["precision"]) == (3, "f32")
    assert platform.node() not in map(str, machine_facts().values())
