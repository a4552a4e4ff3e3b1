"""Rows of the knowledge base for tests: each function makes one and fills in the rest."""

from itertools import count

import numpy as np
from onnx import TensorProto, helper

from compat.casebook import load_cases
from compat.fleet import register_local_targets, version_key
from compat.models import (
    Case,
    Cell,
    Claim,
    Column,
    Device,
    Environment,
    Operator,
    Probe,
    ProbeLog,
    Source,
    Sweep,
    Target,
)
from probes.cases.case import Case as EngineCase
from probes.cases.case import case_id
from probes.model.values import from_numpy
from probes.run.outcome import Outcome, Placement, ProbeResult

_numbers = count(1)


def make_operator(name="Relu", domain="ai.onnx", **fields):
    fields.setdefault("since_versions", [1])
    found, _ = Operator.objects.get_or_create(domain=domain, name=name, defaults=fields)
    return found


def make_device(slug="test-cpu", device_class="x86_cpu", **fields):
    fields.setdefault("title", slug.replace("-", " ").title())
    found, _ = Device.objects.get_or_create(
        slug=slug, defaults={"device_class": device_class, **fields}
    )
    return found


def make_column(runtime="onnxruntime-cpu", device=None, config_name="default", **fields):
    device = device or make_device()
    slug = f"{device.slug}.{runtime}.{config_name}"
    found, _ = Column.objects.get_or_create(
        slug=slug,
        defaults={"device": device, "runtime": runtime, "config_name": config_name, **fields},
    )
    return found


def make_target(version="1.32.0", column=None, **fields):
    column = column or make_column()
    found, _ = Target.objects.get_or_create(
        slug=f"{column.slug}@{version}",
        defaults={
            "column": column,
            "runtime_version": version,
            "version_key": version_key(version),
            **fields,
            **fields,
        },
    )
    return found


def make_case(operator=None, name=None, core=True, **fields):
    operator = operator or make_operator()
    number = next(_numbers)
    fields.setdefault("since_version", 1)
    fields.setdefault("origin", "mainstream" if core else "node")
    fields.setdefault("opset", 18)
    fields.setdefault("ir_version", 9)
    fields.setdefault("ir_version", 9)
    fields.setdefault("oracle", "float64 numpy")
    fields.setdefault("dtypes", ["float"])
    fields.setdefault("id", f"{number:032x}")
    return Case.objects.create(
        name=name or f"test/{operator.name}/{number}", operator=operator, core=core, **fields
    )


def make_environment(digest="e" * 16, **facts):
    found, _ = Environment.objects.get_or_create(
        digest=digest, defaults={"facts": facts or {"cpu_model": "Test CPU", "threads": 1}}
    )
    return found


def make_sweep(target=None, **fields):
    return Sweep.objects.create(target=target or make_target(), **fields)


def make_probe(case=None, target=None, outcome="passed", log=None, **fields):
    """A finished probe, the newest of its kind; `log` are the fields of its ProbeLog."""
    case = case or make_case()
    target = target or make_target()
    fields.setdefault("sweep", Sweep.objects.filter(target=target).first() or make_sweep(target))
    fields.setdefault("form", "as_is")
    fields.setdefault("kind", "measured")
    fields.setdefault("placement", "accelerator")
    fields.setdefault("environment", make_environment())
    probe = Probe.objects.create(
        case=case,
        operator=case.operator,
        target=target,
        state=fields.pop("state", "done"),
        latest=fields.pop("latest", True),
        outcome=outcome,
        **fields,
    )
    if log is not None:
        ProbeLog.objects.create(probe=probe, **log)
    return probe


def make_cell(operator=None, column=None, level="green", kind="measured", **fields):
    fields.setdefault("reason_code", "core_pass")
    fields.setdefault("reason_params", {"passed": 1, "total": 1})
    return Cell.objects.create(
        operator=operator or make_operator(),
        column=column or make_column(),
        level=level,
        kind=kind,
        **fields,
    )


def make_source(slug="test-list", **fields):
    fields.setdefault("title", "Operators of a test compiler")
    for name in ("version", "date", "place"):
        fields.setdefault(name, f"{name} of {slug}")
    found, _ = Source.objects.get_or_create(slug=slug, defaults=fields)
    return found


def make_claim(operator=None, runtime="rknn", level="full", **fields):
    fields.setdefault("source", make_source())
    fields.setdefault("runtime_version", "2.3.2")
    return Claim.objects.create(
        operator=operator or make_operator(), runtime=runtime, level=level, **fields
    )


UNARY = {"Abs": np.abs, "Exp": np.exp, "Neg": np.negative, "Relu": lambda x: np.maximum(x, 0)}


def make_runnable_case(op_type="Relu", number=0, says="", **fields):
    """A case that really runs, in the catalogue and in the case folder; see `engine_case`."""
    make_operator(op_type)
    case = engine_case(op_type, number, says, **fields)
    load_cases([case])
    return Case.objects.get(pk=case.id)


def engine_case(op_type="Relu", number=0, says="", **fields):
    """An engine case of one node that really runs; no database.

    `number` makes cases of one operator different; `says` is a command to the fake runtime.
    """
    value = np.arange(-3, 3, dtype=np.float32).reshape(2, 3) + number
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy"]
    graph = helper.make_graph([helper.make_node(op_type, ["x"], ["y"])], "g", info[:1], info[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    if says:
        model.doc_string = f"fake:{says}"
    inputs = (from_numpy(value),)
    core = fields.pop("core", True)
    described = {
        "name": f"test/{op_type}/{number}",
        "domain": "ai.onnx",
        "op_type": op_type,
        "since_version": 1,
        "origin": "mainstream" if core else "node",
        "core": core,
        "opset": 13,
        "ir_version": 8,
        "oracle": "numpy",
        "oracles_agree": "both",
        "rtol": 1e-5,
        "atol": 1e-6,
        "compare": "values",
        "timed": False,
        "citation": "",
        "signature": {},
        "operators": (("ai.onnx", op_type),),
    }
    return EngineCase(
        id=case_id(model, inputs),
        model=model.SerializeToString(),
        inputs=inputs,
        expected=(from_numpy(UNARY[op_type](value)),),
        **described | fields,
    )


def make_fake_target(**config):
    """A target of the fake runtime on this machine, as a worker would register it."""
    (target,) = register_local_targets(["fake"])
    if config:
        column = Column.objects.get(pk=target.column_id)
        column.config = column.config | config
        column.save()
    return Target.objects.select_related("column__device").get(pk=target.pk)


def make_result(case, target, outcome="passed", at=1_800_000_000.0, **fields):
    """A probe's result as a sandbox gives it."""
    return ProbeResult(
        case_id=case.pk,
        form=fields.pop("form", "as_is"),
        target=target.slug,
        outcome=Outcome(outcome),
        placement=Placement.ACCELERATOR,
        seconds=fields.pop("seconds", 0.5),
        started_at=at,
        **fields,
    )


def make_model(*ops, name="", opset=18, ir_version=9):
    """A chain of unary operators on float32[2,3] as bytes."""
    nodes = [
        helper.make_node(op, [f"t{at}"], [f"t{at + 1}"], name=name or f"n{at}")
        for at, op in enumerate(ops)
    ]
    ends = [
        helper.make_tensor_value_info(f"t{at}", TensorProto.FLOAT, [2, 3]) for at in (0, len(ops))
    ]
    model = helper.make_model(
        helper.make_graph(nodes, "g", ends[:1], ends[1:]),
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=ir_version,
    )
    return model.SerializeToString()
