"""What is known of one target, as plain values: verdicts by how near they are to a node."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from probes.judge.support import judge
from probes.judge.verdict import Claim, Evidence, Ref, Verdict


class Keys(NamedTuple):
    """The digests of one signature, nearest first."""

    exact: str
    same_class: str
    same_version: str
    same_dtype: str


class Refusal(NamedTuple):
    """A probe that the target refused for nothing but its version stamp."""

    kind: str
    message: str
    ref: Ref = None


@dataclass(frozen=True)
class TargetKnowledge:
    """The maps are keyed by `Keys` and by (domain, operator); a missing key is not tried."""

    target: str
    exact: Mapping[str, Verdict] = field(default_factory=dict)
    same_class: Mapping[str, Verdict] = field(default_factory=dict)
    same_version: Mapping[str, Verdict] = field(default_factory=dict)
    same_dtype: Mapping[str, Verdict] = field(default_factory=dict)
    claims: Mapping[tuple[str, str], Claim] = field(default_factory=dict)  # where nothing was run
    cells: Mapping[tuple[str, str], Verdict] = field(default_factory=dict)
    max_opset: int | None = None
    max_ir: int | None = None
    stamps_from: str = "stamp_declared"  # the reason code that says who names these limits
    opset_refusal: Refusal | None = None
    ir_refusal: Refusal | None = None


def node_verdict(evidence: Sequence[Evidence]) -> Verdict:
    """The verdict of one signature key, from the probes whose presented model has that key.

    Every case counts, and the form does not: inputs made constant are another signature, and a
    version stamp is no property of a node.
    """
    return judge([row._replace(core=True, form="as_is") for row in evidence], [])


def signature_keys(facts: Mapping[str, Any]) -> list[Keys]:
    """The keys of every signature of a facts document, in its order; once for all targets."""
    from probes.model.signature import class_key, dtype_key, signature_key

    return [
        Keys(
            signature_key(each),
            class_key(each),
            version_key(dtype_key(each), each["since"]),
            dtype_key(each),
        )
        for each in facts["signatures"]
    ]


def version_key(dtype_key: str, since: int) -> str:
    """The key of an operator's version in given data types."""
    return f"{dtype_key}/{since}"
