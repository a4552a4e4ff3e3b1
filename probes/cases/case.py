"""One runnable probe model with fixed inputs and expected outputs, and its file format."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import onnx

from probes.cases.canonical import canonical_bytes, domain_name, value_bytes
from probes.model import frames
from probes.model.values import Value, pack_values, unpack_values

SCHEMA = 1
KIND = "opatlas-case"
ID_LENGTH = 32
_PLAIN = (
    "id",
    "name",
    "domain",
    "op_type",
    "since_version",
    "origin",
    "core",
    "opset",
    "ir_version",
    "oracle",
    "oracles_agree",
    "rtol",
    "atol",
    "compare",
    "timed",
    "citation",
    "signature",
)


class CaseError(ValueError):
    """A case document that cannot be read: wrong schema, missing field, broken value."""


@dataclass(frozen=True)
class Case:
    """A probe model, what goes in, what must come out, and the operator row that it proves.

    `id` depends on the canonical graph and the input bytes only; the rest is described beside it.
    `rtol` is relative to each element for node tests and to the largest expected value of the
    output for mainstream cases (see `probes.run.compare`).
    """

    id: str
    name: str
    domain: str
    op_type: str
    since_version: int
    origin: str
    core: bool
    model: bytes
    opset: int
    ir_version: int
    inputs: tuple[Value, ...]
    expected: tuple[Value, ...]
    oracle: str
    oracles_agree: str
    rtol: float
    atol: float
    compare: str
    timed: bool
    citation: str
    signature: dict[str, Any] = field(hash=False)
    operators: tuple[tuple[str, str], ...]

    @property
    def traits(self) -> dict[str, Any]:
        """What decides which forms apply (probes.cases.forms.find_traits); reads the model."""
        from probes.cases.forms import find_traits

        return find_traits(onnx.load_from_string(self.model), self.inputs)


def case_id(model: onnx.ModelProto | bytes, inputs: Sequence[Value]) -> str:
    """32 hex characters of sha256 over the canonical graph and the input bytes."""
    proto = onnx.load_from_string(model) if isinstance(model, bytes) else model
    digest = hashlib.sha256(b"opatlas-case-1\0")
    digest.update(canonical_bytes(proto))
    digest.update(b"\0inputs\0" + value_bytes(inputs))
    return digest.hexdigest()[:ID_LENGTH]


def operators_of(model: onnx.ModelProto) -> tuple[tuple[str, str], ...]:
    """Every (domain, op_type) of a model, with those of subgraphs and function bodies, sorted."""
    bodies = [model.graph.node, *(function.node for function in model.functions)]
    found = {pair for nodes in bodies for pair in _operators(nodes)}
    return tuple(sorted(found))


def opset_of(model: onnx.ModelProto, domain: str = "ai.onnx") -> int:
    """The version under which the model imports a domain; 0 when it does not."""
    return max(
        (i.version for i in model.opset_import if domain_name(i.domain) == domain), default=0
    )


def encode_case(case: Case) -> bytes:
    """A case as one frame: a JSON header and the bytes of the model and of every tensor."""
    values, blobs = pack_values([*case.inputs, *case.expected])
    header: dict[str, Any] = {"schema": SCHEMA, "kind": KIND}
    header.update({name: getattr(case, name) for name in _PLAIN})
    header["operators"] = case.operators
    header["inputs"] = values[: len(case.inputs)]
    header["expected"] = values[len(case.inputs) :]
    return frames.encode(header, [case.model, *blobs])


def decode_case(data: bytes | memoryview) -> Case:
    """The inverse of `encode_case`; raises CaseError when the bytes are no case of this schema."""
    try:
        return case_of_frame(*frames.decode(data))
    except frames.FrameError as error:
        raise CaseError(str(error)) from error


def case_of_frame(header: Mapping[str, Any], blobs: Sequence[bytes | memoryview]) -> Case:
    """The case of a decoded frame; raises CaseError when it holds something else."""
    if header.get("kind") != KIND or header.get("schema") != SCHEMA:
        raise CaseError(f"not a case document of schema {SCHEMA}")
    try:
        return Case(
            **{name: header[name] for name in _PLAIN},
            model=bytes(blobs[0]),
            operators=tuple((domain, op) for domain, op in header["operators"]),
            inputs=tuple(unpack_values(header["inputs"], blobs, 1)),
            expected=tuple(unpack_values(header["expected"], blobs, 1)),
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise CaseError(f"broken case document: {type(error).__name__}: {error}") from error


def _operators(nodes: Sequence[onnx.NodeProto]) -> Iterator[tuple[str, str]]:
    for node in walk_nodes(nodes):
        yield domain_name(node.domain), node.op_type


def walk_nodes(nodes: Sequence[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Every node, then those of its subgraphs, in order."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from walk_nodes(graph.node)
