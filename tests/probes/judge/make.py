"""Plain evidence, claims and facts for the tests of the judge."""

from probes.judge.knowledge import Keys
from probes.judge.reasons import Reason
from probes.judge.support import Claim, Evidence, Verdict


def make_evidence(case_name="mainstream/Conv/a", **changes):
    fields = {
        "core": case_name.startswith("mainstream/"),
        "kind": "measured",
        "form": "as_is",
        "outcome": "passed",
        "stage": "compare",
        "placement": "accelerator",
        "oracles_agree": "both",
        "dtypes": ("float32",),
        "ref": case_name,
        "since_version": 13,
    }
    return Evidence(case_name, **(fields | changes))


def core(name="a", outcome="passed", **changes):
    return make_evidence(f"mainstream/Op/{name}", outcome=outcome, **changes)


def rest(name="a", outcome="passed", **changes):
    return make_evidence(f"node/test_{name}", outcome=outcome, **changes)


def claim(level="full", version="2.3.2", **changes):
    return Claim(
        level, version, **({"source": "vendor-list", "ref": f"{level}{version}"} | changes)
    )


def make_verdict(level="green", code="core_pass", **changes):
    fields = {"kind": "measured", "reason": Reason(code, {}), "evidence_ref": f"{level}-probe"}
    return Verdict(level, **(fields | changes))


def make_facts(*nodes, opset=13, ir_version=8):
    """One node a (op, sig, changes) tuple; signature i is of the operator that first names it."""
    rows, signatures = [], {}
    for at, (op, sig, *changes) in enumerate(nodes):
        row = {"id": at, "name": f"n{at}", "op": op, "domain": "ai.onnx", "sig": sig, "path": ""}
        rows.append(row | (changes[0] if changes else {}))
        if sig is not None:
            signatures.setdefault(sig, {"domain": rows[-1]["domain"], "op": op, "since": 13})
    return {
        "schema": 1,
        "model": {"opsets": {"ai.onnx": opset}, "ir_version": ir_version},
        "nodes": rows,
        "signatures": [signatures[sig] for sig in sorted(signatures)],
    }


def make_keys(facts):
    """Keys that tests can name: "exact0", "class0", "version0", "dtype0" for signature 0."""
    return [
        Keys(f"exact{i}", f"class{i}", f"version{i}", f"dtype{i}")
        for i in range(len(facts["signatures"]))
    ]
