"""Pages full of data: one operator, two columns, evidence, claims, a sweep and a report."""

from compat.models import Report
from tests.make import (
    make_case,
    make_cell,
    make_claim,
    make_column,
    make_device,
    make_operator,
    make_probe,
    make_target,
)

HOSTILE = "<script>alert('x')</script>\"'&"


def make_site(name="Conv", title="Test CPU", message="refused", **fields):
    """A measured column and a claimed one; returns the probe that decides the measured cell."""
    operator = make_operator(name)
    device = make_device(title=title, facts={"memory_gb": 8, "notes": message})
    column = make_column(device=device)
    target = make_target(column=column)
    case = make_case(operator, citation=message, signature={"inputs": [], "attrs": {"axis": 1}})
    probe = make_probe(
        case, target, "rejected", stage="load", message=message,
        log={"text": message, "latency": {"samples_ms": [0.5, 0.7], "warmup": 5}}, p50_ms=0.6,
    )  # fmt: skip
    make_cell(
        operator, column, "red", reason_code="refused", target=target, probe=probe,
        reason_params={"stage": "load", "message": message}, contradiction=True,
        p50_ms=0.6, **fields,
    )  # fmt: skip
    npu = make_device("rk3588", "rk3588", title="RK3588")
    claimed = make_column("rknn", npu)
    make_claim(operator, "rknn", "partial", device_class="rk3588", restriction=message)
    make_cell(
        operator, claimed, "yellow", "documented", reason_code="claim_partial_says",
        reason_params={"source": "rknn 2.3.2", "restriction": message},
    )  # fmt: skip
    return probe


def make_finding(level="red", kind="measured", rung="exact", **fields):
    return {
        "level": level,
        "kind": kind,
        "rung": rung,
        "reason": {"code": f"{rung}_{level}", "params": {}},
        "detail": {"code": "refused", "params": {"stage": "load", "message": "no kernel"}},
        "nodes": [0],
        "signature": 0,
        "group": "0" * 16,
        "operator": ["ai.onnx", "Conv"],
        "evidence_ref": None,
        "advice": {"code": "replace_node", "params": {}},
        "contradiction": False,
    } | fields


def make_report(findings=None, name="model.onnx", target="", node="conv1", **fields):
    findings = [make_finding()] if findings is None else findings
    counts = dict.fromkeys(("green", "yellow", "red", "unknown"), 0)
    totals = counts | {"red": 1, "free": 0, "nodes": 1}
    facts = {
        "model": {"opsets": {"ai.onnx": 17}, "producer": "pytorch"},
        "nodes": [{"id": 0, "name": node, "op": "Conv", "path": "then_branch"}],
        "signatures": [
            {
                "domain": "ai.onnx",
                "op": "Conv",
                "inputs": [{"dtype": "float", "shape": [1, None, 8, 8], "const": False}],
            }
        ],
    }
    result = {"id": target or make_target().slug, "level": "red", "totals": totals}
    return Report.objects.create(
        question=f"{Report.objects.count():064x}",
        file_name=name,
        model_sha256="a" * 64,
        model_bytes=1000,
        state=fields.pop("state", "ready"),
        facts=facts,
        results=[result | {"findings": findings}],
        **fields,
    )
