"""Builds the variants' pack: what the two oracles and our references answer, put to the vote."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import onnx
from onnx import helper

from probes.cases import origins
from probes.cases.case import Case, case_id, operators_of, opset_of
from probes.cases.variants.generate import Variant
from probes.cases.variants.ours import answer
from probes.cases.variants.unsound import why_not
from probes.cases.variants.vote import EVALUATOR, OURS, RUNTIME, Agree, Answers, Decision, decide
from probes.model.signature import main_signature
from probes.model.values import DTYPES, Tensor, Value
from probes.run.answers import ask
from probes.run.compare import compare
from probes.run.outcome import Outcome

ORACLES = {EVALUATOR: "reference", RUNTIME: "onnxruntime-cpu"}
SAID = {EVALUATOR: "onnx.reference", RUNTIME: "ONNX Runtime"}
CITATION = "probes/cases/variants/tables: chosen pairwise from the operator's schema"
AGREEING = (Outcome.PASSED, Outcome.CLOSE)
COLUMNS = ("name", "id", "oracles_agree", "oracle")
# Relative to the largest expected value of an output.
RTOL = {"float16": 4e-3, "bfloat16": 3e-2, "double": 1e-5}
PLAIN_RTOL = 1e-4


def built_variants(variants: Iterable[Variant]) -> Iterator[Case]:
    """A case of every variant that an oracle answers."""
    waiting = {variant.name: variant for variant in variants}
    asked = {name: _bare(variant) for name, variant in waiting.items()}
    versions, told = {}, {}
    for oracle, runtime in ORACLES.items():
        versions[oracle], told[oracle] = ask(runtime, asked.values())
    seen: set[str] = set()
    for name, variant in waiting.items():
        bare = asked[name]
        answered = [oracle for oracle in ORACLES if bare.id in told[oracle]]
        answers = [_sound(variant, oracle, told[oracle].get(bare.id)) for oracle in ORACLES]
        alike = next((each for each in answers if each is not None), None)
        ours = answer(variant, alike) if alike is not None else None
        found = decide(Answers(answers[0], answers[1], ours), _agreeing(bare))
        case = _case(variant, bare, found, versions, answered) if found else None
        if case is not None and case.id not in seen:
            seen.add(case.id)
            yield case


def _sound(variant: Variant, oracle: str, values: Sequence[Value] | None) -> Sequence[Value] | None:
    """The answer, unless it is known to be another or is not of the graph's types and shapes."""
    if values is None or (oracle == EVALUATOR and why_not(variant.choice)):
        return None
    for info, value in zip(_outputs(variant), values, strict=True):
        if isinstance(value, Tensor) and not _fits(info.type.tensor_type, value):
            return None
    return values


def _outputs(variant: Variant) -> Sequence[onnx.ValueInfoProto]:
    """The outputs as onnx infers them where every dimension of the inputs is known."""
    model = onnx.ModelProto()
    model.CopyFrom(variant.model)
    for info, value in zip(model.graph.input, variant.inputs, strict=True):
        if isinstance(value, Tensor):
            info.type.CopyFrom(helper.make_tensor_type_proto(value.dtype, value.dims))
    bare = [onnx.ValueInfoProto(name=info.name) for info in model.graph.output]
    del model.graph.output[:]
    model.graph.output.extend(bare)
    return list(onnx.shape_inference.infer_shapes(model, data_prop=True).graph.output)


def _fits(declared: onnx.TypeProto.Tensor, value: Tensor) -> bool:
    """Whether a value is of the type and the dimensions that onnx infers, where it infers them."""
    if declared.elem_type not in (0, value.dtype):
        return False
    if not declared.HasField("shape"):
        return True
    known = [dim.dim_value if dim.HasField("dim_value") else None for dim in declared.shape.dim]
    return len(known) == len(value.dims) and all(
        want in (None, got) for want, got in zip(known, value.dims, strict=True)
    )


def write_names(path: Path, cases: Iterable[Case]) -> int:
    """The CSV beside the pack: name, id and who answered."""
    rows = [(case.name, case.id, case.oracles_agree, case.oracle) for case in cases]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    return len(rows)


def _bare(variant: Variant) -> Case:
    """Without expected outputs."""
    choice, model = variant.choice, variant.model
    return Case(
        id=variant.id,
        name=variant.name,
        domain=variant.spec.domain,
        op_type=choice.op,
        since_version=choice.since,
        origin=origins.VARIANT,
        core=False,
        model=model.SerializeToString(deterministic=True),
        opset=opset_of(model),
        ir_version=model.ir_version,
        inputs=variant.inputs,
        expected=(),
        oracle="",
        oracles_agree="",
        rtol=variant.spec.rtol or _rtol(model, variant.inputs),
        atol=0.0,
        compare=variant.spec.compare,
        timed=False,
        citation=CITATION,
        signature={},
        operators=operators_of(model),
    )


def _rtol(model: onnx.ModelProto, inputs: Sequence[Value]) -> float:
    """Of the coarsest type that goes in or comes out."""
    numbers = {value.dtype for value in inputs if isinstance(value, Tensor)}
    numbers |= {info.type.tensor_type.elem_type for info in model.graph.output}
    numbers |= {tensor.data_type for tensor in model.graph.initializer}
    names = {DTYPES[number].name for number in numbers if number in DTYPES}
    known = [RTOL[name] for name in names if name in RTOL]
    return max([*known, *([PLAIN_RTOL] if "float" in names else [])], default=PLAIN_RTOL)


def _agreeing(case: Case) -> Agree:
    return lambda first, second: compare(first, second, case).outcome in AGREEING


def _case(
    variant: Variant, bare: Case, found: Decision, versions: dict[str, str], answered: Sequence[str]
) -> Case | None:
    """The case; None where its graph does not pass onnx's own full check."""
    model = _finished(variant, found.expected)
    try:
        onnx.checker.check_model(model, full_check=True)
        signature = main_signature(model, variant.choice.op, variant.spec.domain)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, LookupError):
        return None
    return replace(
        bare,
        id=case_id(model, variant.inputs),
        model=model.SerializeToString(deterministic=True),
        expected=tuple(found.expected),
        oracle=", ".join(_said(name, versions) for name in found.told_by)
        + "".join(f" ({SAID[name]} differs)" for name in answered if name not in found.told_by),
        citation=_citation(variant),
        oracles_agree=found.word,
        signature=signature,
    )


def _said(name: str, versions: dict[str, str]) -> str:
    return "float64 numpy" if name == OURS else f"{SAID[name]} {versions[name]}"


def _citation(variant: Variant) -> str:
    """The tables; and why the evaluator is not believed, where it is not."""
    why = why_not(variant.choice)
    return f"{CITATION}; {SAID[EVALUATOR]} {why}" if why else CITATION


def _finished(variant: Variant, expected: Sequence[Value]) -> onnx.ModelProto:
    """The model with every output typed: as onnx infers it, else as it was answered."""
    model = onnx.ModelProto()
    model.CopyFrom(variant.model)
    dynamic = variant.choice.values.get("sizes") == "dynamic"
    for info, value in zip(model.graph.output, expected, strict=True):
        if isinstance(value, Tensor) and not info.type.tensor_type.HasField("shape"):
            dims = [f"{info.name}_{at}" if dynamic else dim for at, dim in enumerate(value.dims)]
            info.type.CopyFrom(helper.make_tensor_type_proto(value.dtype, dims))
    return model
