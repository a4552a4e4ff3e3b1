"""The facts of a model: the document every judgement is made from, with no weights in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from onnx import ValueInfoProto

from probes.model.attributes import domain_name, opset_imports
from probes.model.inference import infer_types
from probes.model.modelfile import ModelStructure, load_structure
from probes.model.plain import plain_document
from probes.model.refusals import (
    LIMITS,
    Limits,
    ModelFileError,
    Problem,
    gettext_noop,
    invalid_model,
)
from probes.model.scopes import Scope, Visit, open_scope, walk_nodes
from probes.model.signature import describe_type, make_signature
from probes.model.typecheck import find_type_problems
from probes.model.types import NOTHING, UNKNOWN, TensorInfo

SCHEMA = 1
Facts = dict[str, Any]
STOPPING = frozenset({"bad_equation"})  # not given to shape inference
LEFT_OUT = -1  # id of an optional input or output that is not given


def make_facts(path: str | Path, *, sha256: str = "", limits: Limits = LIMITS) -> Facts:
    """The facts document of the model at `path`, its names made plain text.

    Raises ModelFileError when it cannot be assessed.

    Shape inference is C++ that strangers' files can crash or stall: call this in a child
    (`probes.run.analyse.facts_of`) for any file that is not your own.
    """
    structure = load_structure(path, sha256=sha256, limits=limits)
    if any(code in STOPPING for code, _ in structure.problems):
        raise invalid_model(structure.problems)
    found = infer_types(structure.model)
    opsets = opset_imports(found.model)
    root = open_scope(found.model.graph)
    visits = list(walk_nodes(root))
    problems = structure.problems or found.problems
    problems = problems + list(find_type_problems(visits, opsets))
    if problems:
        raise invalid_model(problems)
    document = Document(opsets, limits)
    for visit in visits:
        document.add(visit)
    facts = document.facts(structure, root)
    facts["model"] = describe_model(structure, opsets, found.inferred)
    facts["warnings"] = [
        {"code": code, "params": params}
        for code, params in structure.warnings + found.warnings + document.oddities()
    ]
    plain: Facts = plain_document(facts)
    return plain


def infer(payload: dict[str, Any]) -> dict[str, Any]:
    """What a limited child runs: {"path", "sha256"} to {"facts"} or {"refused"}."""
    try:
        return {"facts": make_facts(payload["path"], sha256=payload.get("sha256", ""))}
    except ModelFileError as error:
        return {"refused": error.to_json()}


def without_names(facts: Facts) -> Facts:
    """The same facts with the names that its author gave left out."""
    bare: Facts = json.loads(json.dumps(facts))
    bare["tensors"].pop("names", None)
    for node in bare["nodes"]:
        node["name"] = ""
        node["path"] = ""
    for side in ("inputs", "outputs"):
        for value in bare[side]:
            value["name"] = ""
    bare["warnings"] = [one for one in bare["warnings"] if "tensor" not in one["params"]]
    return bare


def describe_model(
    structure: ModelStructure, opsets: dict[str, int], inferred: bool
) -> dict[str, Any]:
    model = structure.model
    return {
        "sha256": structure.sha256,
        "bytes": structure.bytes,
        "ir_version": model.ir_version,
        "opsets": opsets,
        "producer": " ".join(filter(None, (model.producer_name, model.producer_version))),
        "functions": structure.functions,
        "inferred": inferred,
    }


def check_variety(signatures: int, operators: int, limits: Limits = LIMITS) -> None:
    """Each different one is judged for each target and told apart: refuses more than are read."""
    if signatures > limits.signatures:
        what = gettext_noop("different uses of operators")
        raise ModelFileError("too_many", limit=limits.signatures, what=what)
    if operators > limits.operators:
        raise ModelFileError(
            "too_many", limit=limits.operators, what=gettext_noop("different operators")
        )


class Document:
    """The facts as they grow: every signature once, every tensor a number."""

    def __init__(self, opsets: dict[str, int], limits: Limits) -> None:
        self.opsets = opsets
        self.limits = limits
        self.operators: set[tuple[str, str]] = set()
        self.nodes: list[dict[str, Any]] = []
        self.signatures: list[dict[str, Any]] = []
        self.places: dict[str, int] = {}
        self.tensors: list[tuple[str, TensorInfo]] = []

    def add(self, visit: Visit) -> None:
        node = visit.node
        path = "/".join(filter(None, (visit.scope.path, node.doc_string)))
        self.nodes.append(
            {
                "id": len(self.nodes),
                "name": node.name,
                "op": node.op_type,
                "domain": domain_name(node.domain),
                "sig": None if node.op_type == "Constant" else self.place_signature(visit),
                "inputs": [self.place_tensor(visit.scope, name) for name in node.input],
                "outputs": [self.place_tensor(visit.scope, name) for name in node.output],
                "path": path,
                "folds": visit.folds,
            }
        )

    def place_signature(self, visit: Visit) -> int:
        signature = make_signature(visit, self.opsets)
        text = json.dumps(signature, sort_keys=True)
        if text not in self.places:
            self.places[text] = len(self.signatures)
            self.signatures.append(signature)
            self.operators.add((signature["domain"], signature["op"]))
            check_variety(len(self.signatures), len(self.operators), self.limits)
        return self.places[text]

    def place_tensor(self, scope: Scope, name: str) -> int:
        """Number of the tensor that `name` means in this scope."""
        if not name:
            return LEFT_OUT
        owner = scope.owner(name) or scope
        if name not in owner.ids:
            owner.ids[name] = len(self.tensors)
            self.tensors.append((name, owner.tensors.get(name, NOTHING)))
        return owner.ids[name]

    def facts(self, structure: ModelStructure, root: Scope) -> Facts:
        graph = root.graph
        given = {one.name for one in graph.initializer}
        inputs = [self.place_value(root, one) for one in graph.input if one.name not in given]
        outputs = [self.place_value(root, one) for one in graph.output]
        return {
            "schema": SCHEMA,
            "model": {},
            "signatures": self.signatures,
            "nodes": self.nodes,
            "tensors": {
                "names": [name for name, _ in self.tensors],
                "dtypes": [info.dtype for _, info in self.tensors],
                "shapes": [describe_type(info)["shape"] for _, info in self.tensors],
                "constant": [at for at, (_, info) in enumerate(self.tensors) if info.const],
            },
            "inputs": inputs,
            "outputs": outputs,
            "initializers": {
                "count": structure.initializers,
                "bytes": structure.initializer_bytes,
                "weight_bytes": structure.weight_bytes,
            },
            "warnings": [],
        }

    def place_value(self, root: Scope, value: ValueInfoProto) -> dict[str, Any]:
        number = self.place_tensor(root, value.name)
        info = self.tensors[number][1]
        return {"name": value.name, **describe_type(info), "tensor": number}

    def oddities(self) -> list[Problem]:
        """What the finished document shows to be odd about the model."""
        unknown = sum(1 for _, info in self.tensors if info.dtype == UNKNOWN)
        return [("unknown_types", {"count": unknown})] if unknown else []
