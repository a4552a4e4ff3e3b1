"""Why a file is refused: one row per reason and per limit, each with a sentence and a remedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from probes.model.plain import plain_text

LONGEST_PARAM = 2_000

Problem = tuple[str, dict[str, Any]]


def gettext_noop(text: str) -> str:
    """Marks a sentence for translation; this package has no translations of its own."""
    return text


class ModelFileError(Exception):
    """A file that is not assessed: `code` of REFUSALS, its sentence filled in, the parameters."""

    def __init__(self, code: str, **params: Any) -> None:
        self.code = code
        self.params = {name: printable(value) for name, value in params.items()}
        self.sentence = REFUSALS[code] % self.params
        super().__init__(self.sentence)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> ModelFileError:
        """The error that `to_json` wrote, from another process."""
        return cls(document["code"], **document["params"])

    def to_json(self) -> dict[str, Any]:
        return {"code": self.code, "params": self.params}


def printable(value: Any) -> Any:
    """A text without what could break a line, a terminal or a log; other values as they are."""
    return plain_text(value, LONGEST_PARAM) if isinstance(value, str) else value


@dataclass(frozen=True)
class Limits:
    """The most that is read of one file; nothing above is looked at."""

    file_bytes: int = 2**31 - 1  # no protobuf reader takes more
    nodes: int = 50_000
    signatures: int = 2_000  # different ones: each is judged and told apart
    operators: int = 1_000  # different ones
    subgraphs: int = 2_000
    depth: int = 96  # protobuf's own readers stop at 100 nested messages
    fields: int = 4_000_000
    tensors: int = 200_000
    dims: int = 64
    name_bytes: int = 4_096
    kept_bytes: int = 64 * 1024**2
    functions: int = 2_000
    expanded_nodes: int = 50_000
    calls: int = 64  # functions calling functions


LIMITS = Limits()

REFUSALS: dict[str, str] = {
    "unreadable": gettext_noop("The file cannot be read: %(detail)s."),
    "empty": gettext_noop("The file is empty: upload an ONNX model."),
    "not_onnx": gettext_noop(
        "This is not an ONNX model but %(found)s. Export the network to ONNX and upload that file."
    ),
    "not_a_model": gettext_noop(
        "This is not an ONNX model: it holds no graph. Upload the file that the exporter wrote."
    ),
    "truncated": gettext_noop(
        "The file is truncated: it ends after %(size)d bytes in the middle of %(where)s. "
        "Upload the complete file."
    ),
    "damaged": gettext_noop(
        "The file cannot be parsed as ONNX: %(detail)s at byte %(offset)d. "
        "Download or export it again."
    ),
    "external_data": gettext_noop(
        "Tensor '%(tensor)s' keeps its weights in another file, which is never opened. "
        "Embed the weights (onnx.save with save_as_external_data=False), "
        "or upload facts made where the weights are."
    ),
    "bad_name": gettext_noop(
        "A name in the file is not valid UTF-8 text (byte %(offset)d). Re-export the model."
    ),
    "no_opset": gettext_noop(
        "The model imports no operator set, so its operators have no defined meaning. "
        "Re-export it with an opset_import."
    ),
    "bad_opset": gettext_noop(
        "The model imports %(domain)s in version %(found)d, and no operator set has this version. "
        "Re-export it."
    ),
    "opset_conflict": gettext_noop(
        "The model imports %(domain)s more than once, in the versions %(found)s, so its operators "
        "have no one meaning. Re-export it with one opset_import for each domain."
    ),
    "invalid": gettext_noop("The model is not valid: %(problems)s. Re-export it."),
    "function_recursion": gettext_noop(
        "Function '%(function)s' calls itself, which ONNX does not allow. Re-export the model."
    ),
    "function_twice": gettext_noop(
        "Function '%(function)s' is defined twice, so its calls have no one meaning. "
        "Re-export the model."
    ),
    "function_missing_input": gettext_noop(
        "A call of function '%(function)s' gives %(given)d inputs, it takes %(taken)d. "
        "Re-export the model."
    ),
    "function_bomb": gettext_noop(
        "The model's functions expand to %(found)s nodes, more than the %(limit)d that are "
        "analysed (a function expansion bomb). Re-export the model with its functions inlined."
    ),
    "too_large": gettext_noop(
        "The file has %(found)d bytes, more than the %(limit)d that are read. "
        "Assess the model with the command line tool where it is."
    ),
    "too_many": gettext_noop(
        "The model has more than %(limit)d %(what)s, the most that is analysed. "
        "Split it, or re-export it in a simpler form."
    ),
    "too_deep": gettext_noop(
        "The file nests deeper than %(limit)d messages, the protobuf nesting limit. "
        "Re-export the model with flat sub-graphs."
    ),
    "too_long": gettext_noop(
        "A name in the file has more than %(limit)d bytes. Re-export the model."
    ),
    "took_too_long": gettext_noop(
        "The analysis took too long and was stopped after %(seconds)g seconds. "
        "Simplify the model, or re-export it."
    ),
    "took_too_much_memory": gettext_noop(
        "The analysis took more than %(megabytes)d MB and was stopped. "
        "Simplify the model, or re-export it."
    ),
    "analysis_crashed": gettext_noop(
        "The analysis of this model crashed (%(detail)s). Re-export it; if that does not help, "
        "report the file."
    ),
}

# Sentences for what is wrong inside a model; several are joined into one "invalid" refusal.
PROBLEMS: dict[str, str] = {
    "negative_dim": gettext_noop("tensor '%(tensor)s' declares a negative dimension in %(dims)s"),
    "payload_size": gettext_noop(
        "the payload of tensor '%(tensor)s' differs from its dimensions: %(dims)s of %(dtype)s "
        "need %(expected)d %(unit)s, the file holds %(found)d"
    ),
    "payload_twice": gettext_noop(
        "tensor '%(tensor)s' holds its values twice, in different fields"
    ),
    "untyped_tensor": gettext_noop("tensor '%(tensor)s' declares no element type"),
    "duplicate_output": gettext_noop(
        "output name '%(name)s' is produced twice (single assignment is broken: rename one)"
    ),
    "declared_twice": gettext_noop("%(what)s '%(name)s' is declared twice (rename one)"),
    "attribute_twice": gettext_noop("node '%(node)s' has the attribute '%(name)s' twice"),
    "no_operator": gettext_noop("node '%(node)s' names no operator"),
    "missing_input": gettext_noop(
        "node '%(node)s' reads '%(name)s', a missing input that nothing produces"
    ),
    "missing_output": gettext_noop("graph output '%(name)s' is produced by no node"),
    "cycle": gettext_noop("the nodes form a cycle through '%(name)s'"),
    "unsorted": gettext_noop(
        "node '%(node)s' reads '%(name)s' before it is produced (sort the nodes topologically)"
    ),
    "bad_equation": gettext_noop("node '%(node)s' has the malformed equation '%(equation)s'"),
    "type_mismatch": gettext_noop(
        "type mismatch at node '%(node)s' (%(op)s): %(left)s is %(left_type)s "
        "and %(right)s is %(right_type)s, they must agree"
    ),
    "inference": gettext_noop("shape inference refuses it: %(detail)s"),
}

# What a report says beside its findings; none of them stops it.
WARNINGS: dict[str, str] = {
    "no_nodes": gettext_noop("The graph has no nodes: there is nothing to assess."),
    "ir_version_future": gettext_noop(
        "IR version %(found)d is newer than the newest known one (%(known)d); "
        "runtimes will refuse it. Lower ir_version."
    ),
    "ir_version_missing": gettext_noop("The model declares no IR version."),
    "opset_future": gettext_noop(
        "Operator set %(domain)s %(found)d is newer than the newest known one (%(known)d)."
    ),
    "domain_not_imported": gettext_noop("The model uses %(domain)s without importing it."),
    "value_info_lies": gettext_noop(
        "The declared type of '%(tensor)s' (%(declared)s) contradicts the inferred one "
        "(%(inferred)s); the inferred one is used. Clear the declared shapes (value_info)."
    ),
    "not_inferred": gettext_noop("Types and shapes could not be inferred: %(detail)s."),
    "inference_failed_at": gettext_noop("Shape inference stops at a node: %(detail)s."),
    "unknown_types": gettext_noop("The types of %(count)d tensors are not known."),
    "training_info": gettext_noop("The training part of the model is left out."),
    "functions_inlined": gettext_noop(
        "The model has %(count)d functions of its own; their bodies are assessed as if inlined. "
        "Runtimes that refuse local functions need them inlined."
    ),
    "function_opset_differs": gettext_noop(
        "Function '%(function)s' imports %(domain)s %(found)d, the model imports %(model)d; "
        "its nodes are judged by the model's."
    ),
}


def invalid_model(problems: list[Problem], shown: int = 5) -> ModelFileError:
    """One refusal that lists what is wrong with a model, the first `shown` in full."""
    sentences = [PROBLEMS[code] % params for code, params in problems[:shown]]
    if len(problems) > shown:
        sentences.append(f"and {len(problems) - shown} more")
    return ModelFileError(
        "invalid", problems="; ".join(sentences), codes=sorted({code for code, _ in problems})
    )
