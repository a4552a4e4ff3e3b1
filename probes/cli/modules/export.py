"""torch.nn modules by both exporters: a case of each graph, or why there is none."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import onnx
import torch

from probes.cases import origins
from probes.cases.case import Case, case_id, operators_of, opset_of
from probes.cases.fills import Array, fill
from probes.cases.graphs import Graph, steps_of
from probes.cli.modules.table import DOMAIN, MODULES, Module
from probes.model.values import from_numpy

ORACLE = f"torch {torch.__version__.partition('+')[0]} float64"
Tensors = tuple[torch.Tensor, ...]
# The first that fits: how a weight, or what is counted of the data, is drawn.
WEIGHTS: tuple[tuple[str, int, str], ...] = (
    ("running_var", 1, "positive"),
    ("weight", 1, "positive"),
    ("", 1, "small"),
    ("", 2, "conv"),
)


class Exporter(NamedTuple):
    """How it is called in names, the opsets that it is asked for, and what calls it."""

    name: str
    opsets: tuple[int, ...]
    export: Callable[[Module, torch.nn.Module, Tensors, int], onnx.ModelProto]


def _torchscript(
    row: Module, module: torch.nn.Module, inputs: Tensors, opset: int
) -> onnx.ModelProto:
    mode = torch.onnx.TrainingMode
    with TemporaryDirectory() as folder:
        torch.onnx.export(
            module,
            inputs,
            written := Path(folder) / "module.onnx",
            dynamo=False,
            opset_version=opset,
            training=mode.TRAINING if row.training else mode.EVAL,
        )
        return onnx.load(written)


def _dynamo(row: Module, module: torch.nn.Module, inputs: Tensors, opset: int) -> onnx.ModelProto:
    program = torch.onnx.export(module, inputs, dynamo=True, opset_version=opset, verbose=False)
    assert program is not None
    return program.model_proto


# The older exporter ends at opset 20, the newer one begins at 18.
EXPORTERS = (
    Exporter("torchscript", (17, 20), _torchscript),
    Exporter("dynamo", (18, 23), _dynamo),
)


class Exported(NamedTuple):
    """What came of a module, by one exporter at one opset."""

    graph: Graph
    case: Case | None


def export_modules(name: str = "") -> Iterator[Exported]:
    """Every module by every exporter; of one name only where it is given."""
    logging.disable(logging.WARNING)
    for row in MODULES:
        if name in ("", row.name):
            yield from _export_row(row)


def _export_row(row: Module) -> Iterator[Exported]:
    arrays = [_contents(row, place) for place in range(len(row.feeds))]
    for exporter in EXPORTERS:
        for opset in exporter.opsets:
            yield _export(row, arrays, exporter, opset)


def _export(row: Module, arrays: list[Array], exporter: Exporter, opset: int) -> Exported:
    name = f"{origins.MODULE}/{row.name}/{exporter.name}-{opset}-v{row.version}"
    asked = (DOMAIN, row.name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            inputs = tuple(map(torch.from_numpy, arrays))
            model = bare(exporter.export(row, _module(row), inputs, opset))
    except Exception as error:  # noqa: BLE001 - whatever an exporter raises is its answer
        return Exported(Graph(*asked, "", exporter.name, opset, (), first_sentence(error)), None)
    case = _case(row, name, model, arrays)
    return Exported(Graph(*asked, name, exporter.name, opset, steps_of(model)), case)


def first_sentence(error: BaseException) -> str:
    """The innermost cause, without what it advises."""
    while error.__cause__ is not None:
        error = error.__cause__
    said = str(error).strip().partition("\n")[0].partition(". ")[0]
    return f"{type(error).__name__}: {said}"


def bare(model: onnx.ModelProto) -> onnx.ModelProto:
    """Without what an exporter tells of itself and of the files it ran from."""
    model.producer_name = model.producer_version = model.doc_string = ""
    for function in model.functions:
        function.doc_string = ""
        del function.metadata_props[:]
    del model.metadata_props[:]
    _strip(model.graph)
    return model


def _strip(graph: onnx.GraphProto) -> None:
    told: list[Any] = [graph, *graph.node, *graph.value_info, *graph.input, *graph.output]
    for each in (*told, *graph.initializer):
        each.doc_string = ""
        del each.metadata_props[:]
    for node in graph.node:
        for attribute in node.attribute:
            attribute.doc_string = ""
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                _strip(inner)


def _case(row: Module, name: str, model: onnx.ModelProto, arrays: list[Array]) -> Case:
    inputs = tuple(map(from_numpy, arrays))
    return Case(
        id=case_id(model, inputs),
        name=name,
        domain=DOMAIN,
        op_type=row.name,
        since_version=1,
        origin=origins.MODULE,
        core=True,
        model=model.SerializeToString(deterministic=True),
        opset=opset_of(model),
        ir_version=model.ir_version,
        inputs=inputs,
        expected=tuple(map(from_numpy, expected_of(row, arrays))),
        oracle=ORACLE,
        oracles_agree="",
        rtol=1e-4,
        atol=0.0,
        compare=row.compare,
        timed=True,
        citation=described(row.make()),
        signature={},
        operators=operators_of(model),
    )


def described(module: torch.nn.Module) -> str:
    """As torch prints it, where that is one line and says something."""
    text = repr(module)
    return "" if "\n" in text or text == "Function()" else text


def _contents(row: Module, place: int) -> Array:
    feed = row.feeds[place]
    if feed.values is not None:
        return np.asarray(feed.values)
    return fill(feed.fill, f"{row.name}/x{place}", feed.shape)


def _module(row: Module) -> torch.nn.Module:
    module = row.make()
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            if tensor.is_floating_point():
                tensor.copy_(torch.from_numpy(_weight(f"{row.name}/{name}", tuple(tensor.shape))))
    return module.train(row.training)


def _weight(name: str, shape: tuple[int, ...]) -> Array:
    axes = min(len(shape), 2)
    how = next(how for end, rank, how in WEIGHTS if name.endswith(end) and rank == axes)
    return fill(how, name, shape)


def expected_of(row: Module, arrays: list[Array]) -> list[Array]:
    """The outputs in float64, narrowed to the types of the graph."""
    module = _module(row).double()
    inputs = [
        torch.from_numpy(array.astype("<f8") if array.dtype.kind == "f" else array)
        for array in arrays
    ]
    with torch.no_grad():
        results = list(_flat(module(*inputs)))
    return [
        result.float().numpy() if result.is_floating_point() else result.numpy()
        for result in results
    ]


def _flat(result: Any) -> Iterator[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        yield result
    else:
        for each in result:
            yield from _flat(each)
