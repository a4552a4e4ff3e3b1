"""Plain evidence, claims and facts for the tests of the judge."""

from probes.judge.support import Claim, Evidence


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
        level, version, **({"source_id": "vendor-list", "ref": f"{level}{version}"} | changes)
    )
