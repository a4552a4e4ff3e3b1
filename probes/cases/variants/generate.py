"""From the rows of the tables to models with inputs; what must come out is asked of the oracles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import onnx
from onnx import helper

from probes.cases.case import case_id
from probes.cases.variants.graph import Refusal, make_graph
from probes.cases.variants.labels import label_of
from probes.cases.variants.pairwise import Coverage, Values, cover, coverage
from probes.cases.variants.tables import all_specs
from probes.cases.variants.vocabulary import ONNX_DOMAIN, Choice, From, Spec
from probes.model.values import Value

# Opset 17 is what exporters wrote most; older than 7 no runtime of today promises anything.
COMMON_OPSET, OLDEST_OPSET = 17, 7
# Of ai.onnx.ml and the preview domains, imported beside this ai.onnx.
BESIDE = 17
# The stamp that every runtime reads, unless the data types want a newer one.
IR = 8


@dataclass(frozen=True)
class Variant:
    """A case without expected outputs."""

    name: str
    choice: Choice
    spec: Spec
    model: onnx.ModelProto
    inputs: tuple[Value, ...]

    @property
    def id(self) -> str:
        return case_id(self.model, self.inputs)


@dataclass(frozen=True)
class Plan:
    """One version of an operator: the dimensions it varies in, and what was chosen."""

    op: str
    since: int
    spec: Spec
    dims: Mapping[str, Sequence[Any]]
    chosen: Sequence[Values]

    def coverage(self, kept: Sequence[Values] | None = None) -> Coverage:
        """Of the chosen ones, or of those that became cases."""
        rows = self.chosen if kept is None else kept
        return coverage(self.dims, self.allowed, rows, self.seed)

    @property
    def seed(self) -> str:
        return f"variant/{self.op}-{self.since}"

    def allowed(self, values: Values) -> bool:
        """Whether a choice means something in this version."""
        return make_variant(self, values) is not None


def all_variants(operator: str = "") -> Iterator[Variant]:
    """Every variant in table order, or those of one operator."""
    seen: set[str] = set()
    for plan in all_plans(operator):
        for values in plan.chosen:
            variant = make_variant(plan, values, labelled=True)
            if variant is not None and variant.name not in seen:
                seen.add(variant.name)
                yield variant


def all_plans(operator: str = "") -> Iterator[Plan]:
    """Every version of every operator of the tables, with its choices."""
    for spec in all_specs():
        for op in spec.ops.split():
            if operator in ("", op):
                for since, opset in versions(op, spec.domain):
                    if since >= spec.since:
                        yield _plan(spec, op, since, opset)


@cache
def versions(op: str, domain: str) -> tuple[tuple[int, int], ...]:
    """(since-version, opset to stamp) of every version that is still met; deprecated ones not."""
    schemas = sorted(_history(op, domain), key=lambda schema: schema.since_version)
    found = []
    for schema, following in zip(schemas, [*schemas[1:], None], strict=True):
        last = following.since_version - 1 if following else 10**6
        oldest, common = (OLDEST_OPSET, COMMON_OPSET) if domain == ONNX_DOMAIN else (1, 1)
        if not schema.deprecated and last >= oldest:
            found.append((schema.since_version, max(schema.since_version, min(last, common))))
    return tuple(found)


@cache
def _by_name() -> dict[tuple[str, str], list[onnx.defs.OpSchema]]:
    found: dict[tuple[str, str], list[onnx.defs.OpSchema]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        found.setdefault((schema.domain or ONNX_DOMAIN, schema.name), []).append(schema)
    return found


def _history(op: str, domain: str) -> list[onnx.defs.OpSchema]:
    return _by_name()[domain, op]


def _plan(spec: Spec, op: str, since: int, opset: int) -> Plan:
    dims = _dims(spec, op, since)
    bare = Plan(op, since, spec, dims, ())
    budget = spec.budget if opset == _main_opset(op, spec.domain) else spec.older
    chosen = cover(dims, bare.allowed, budget=budget, seed=bare.seed, full=spec.full)
    return Plan(op, since, spec, dims, chosen)


def _main_opset(op: str, domain: str) -> int:
    """The stamp of the version that exporters write most: at opset 17, or the first after it."""
    stamps = [opset for _, opset in versions(op, domain)]
    within = [opset for opset in stamps if opset <= COMMON_OPSET]
    return within[-1] if within else stamps[0]


def _dims(spec: Spec, op: str, since: int) -> dict[str, Sequence[Any]]:
    schema = _schema(op, since, spec.domain)
    dims: dict[str, Sequence[Any]] = {"dtype": _dtypes(spec, schema)}
    for name, options in spec.dims.items():
        dims[name] = tuple(_of_version(options, since))
    if spec.second and schema.max_input > 1:
        dims["inputs"] = ("variable", "constant")
    dims["sizes"] = spec.sizes
    return dims


def _of_version(options: Sequence[Any], since: int) -> Iterator[Any]:
    for option in options:
        if not isinstance(option, From):
            yield option
        elif option.since <= since < option.before:
            yield option.value


def _dtypes(spec: Spec, schema: onnx.defs.OpSchema) -> tuple[str, ...]:
    if not schema.inputs:
        return tuple(spec.dtypes[:1])
    formal = schema.inputs[min(spec.typed, len(schema.inputs) - 1)]
    plain = {each.removeprefix("tensor(").removesuffix(")") for each in formal.types}
    return tuple(dtype for dtype in spec.dtypes if dtype in plain) or tuple(spec.dtypes[:1])


def _schema(op: str, since: int, domain: str) -> onnx.defs.OpSchema:
    return onnx.defs.get_schema(op, since, "" if domain == ONNX_DOMAIN else domain)


def make_variant(plan: Plan, values: Values, *, labelled: bool = False) -> Variant | None:
    """The model of a choice; None where it means nothing in this version. Only a `labelled` one
    has its contents drawn and its outputs typed."""
    spec = plan.spec
    if any(_matches(values, barred) for barred in spec.without):
        return None
    choice = Choice(plan.op, plan.since, _schema(plan.op, plan.since, spec.domain), values)
    draft = spec.make(choice)
    if draft is None:
        return None
    name = f"{plan.seed}/{label_of(plan.dims, values)}-{spec.version}"
    try:
        graph, inputs, ir = make_graph(draft, choice, name, spec.domain, dry=not labelled)
    except Refusal:
        return None
    if not labelled:
        return Variant(name, choice, spec, onnx.ModelProto(), ())
    model = helper.make_model(
        graph, ir_version=max(IR, ir), opset_imports=_imports(plan), producer_name=""
    )
    return Variant(name, choice, spec, _typed(model), inputs)


def _matches(values: Values, barred: Mapping[str, Sequence[Any]]) -> bool:
    return all(name in values and values[name] in options for name, options in barred.items())


def _imports(plan: Plan) -> list[onnx.OperatorSetIdProto]:
    opset = dict(versions(plan.op, plan.spec.domain))[plan.since]
    if plan.spec.domain == ONNX_DOMAIN:
        return [helper.make_opsetid("", opset)]
    return [helper.make_opsetid("", BESIDE), helper.make_opsetid(plan.spec.domain, opset)]


def _typed(model: onnx.ModelProto) -> onnx.ModelProto:
    """With the types and shapes of its outputs as onnx infers them."""
    typed = onnx.shape_inference.infer_shapes(model, data_prop=True)
    del typed.graph.value_info[:]  # the outputs once more
    return typed
