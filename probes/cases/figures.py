"""What the cases of an operator cover, and what they leave out; values in, values out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import onnx

from probes.cases import origins
from probes.cases.case import Case
from probes.cases.variants.pairwise import Coverage

# Attributes that no case can vary: bodies, and what older versions only declared.
NOT_VARIED = frozenset(("consumed_inputs", "body", "then_branch", "else_branch"))
SHOWN = 12
NOTHING = Coverage(0, 0)


class Line(NamedTuple):
    """One case as the figures see it; a signature is {} where it is not known."""

    name: str
    domain: str
    op: str
    since: int
    origin: str
    word: str
    signature: Mapping[str, Any]


class Figures(NamedTuple):
    """Of one operator. `attributes`: the values that some case has, as JSON; `pairs`: of the
    variants' tables; `left_out`: sentences."""

    domain: str
    op: str
    origins: Mapping[str, int]
    since: Sequence[int]
    dtypes: Sequence[str]
    ranks: Sequence[int]
    attributes: Mapping[str, Sequence[str]]
    constant_inputs: bool
    dynamic: bool
    oracles: Mapping[str, int]
    pairs: Coverage
    left_out: Sequence[str]


def line_of(case: Case) -> Line:
    """Of a whole case."""
    return Line(
        case.name, case.domain, case.op_type, case.since_version, case.origin,
        case.oracles_agree, case.signature,
    )  # fmt: skip


def figures_of(lines: Sequence[Line], pairs: Coverage = NOTHING) -> Figures:
    """The figures of one operator's cases; bodies and other ways speak of other operators."""
    own = [line for line in lines if line.origin not in origins.OF_OTHERS]
    first = lines[0]
    signatures = [line.signature for line in own if line.signature]
    inputs = [each for signature in signatures for each in signature["inputs"]]
    tensors = [each for each in inputs if each["dtype"] != "absent"]
    shapes = [each["shape"] for each in tensors if each["shape"] is not None]
    found = Figures(
        domain=first.domain,
        op=first.op,
        origins=dict(sorted(Counter(line.origin for line in lines).items())),
        since=sorted({line.since for line in own if line.since}),
        dtypes=sorted({each["dtype"] for each in tensors}),
        ranks=sorted({len(shape) for shape in shapes}),
        attributes=_attributes(signatures),
        constant_inputs=any(each.get("const") for each in tensors),
        dynamic=any(not isinstance(dim, int) for shape in shapes for dim in shape),
        oracles=dict(sorted(Counter(line.word for line in own if line.word).items())),
        pairs=pairs,
        left_out=(),
    )
    return found._replace(left_out=left_out(found))


def left_out(figures: Figures) -> tuple[str, ...]:
    """Versions, types and attributes of the schemas that no case has."""
    schemas = _schemas(figures.domain, figures.op)
    if not schemas:
        return ()
    newest = schemas[-1]
    types = {
        kind.removeprefix("tensor(").removesuffix(")")
        for formal in newest.inputs
        for kind in formal.types
        if kind.startswith("tensor(")
    }
    missing = {
        "versions": [s.since_version for s in schemas if s.since_version not in figures.since],
        "types": sorted(types - set(figures.dtypes)),
        "attributes never set": sorted(
            set(newest.attributes) - set(figures.attributes) - NOT_VARIED
        ),
    }
    sentences = [f"{what}: {_joined(values)}" for what, values in missing.items() if values]
    if figures.pairs.covered < figures.pairs.possible:
        apart = figures.pairs.possible - figures.pairs.covered
        sentences.append(f"pairs of values never together: {apart}")
    return tuple(sentences)


def _schemas(domain: str, op: str) -> list[Any]:
    """Every version that is not deprecated, oldest first."""
    wanted = "" if domain == "ai.onnx" else domain
    found = [s for s in _every_schema() if (s.domain, s.name) == (wanted, op)]
    return sorted((s for s in found if not s.deprecated), key=lambda s: s.since_version)


def _every_schema() -> Iterable[Any]:
    return onnx.defs.get_all_schemas_with_history()


def _attributes(signatures: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    values: dict[str, set[str]] = {}
    for signature in signatures:
        for name, value in signature["attrs"].items():
            values.setdefault(name, set()).add(json.dumps(value, sort_keys=True))
    return {name: sorted(found) for name, found in sorted(values.items())}


def _joined(values: Sequence[Any]) -> str:
    more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    return ", ".join(str(value) for value in values[:SHOWN]) + more


def text_of(figures: Figures) -> str:
    """The figures of one operator as lines of text."""
    counts = ", ".join(f"{count} {origin}" for origin, count in figures.origins.items())
    words = ", ".join(f"{word} {count}" for word, count in figures.oracles.items())
    covered, possible = figures.pairs
    rows = [
        f"{figures.domain}.{figures.op}: {sum(figures.origins.values())} cases ({counts})",
        f"  versions {_joined(figures.since)}; types {_joined(figures.dtypes)}; "
        f"ranks {_joined(figures.ranks)}",
    ]
    rows += [f"  {name}: {_joined(values)}" for name, values in figures.attributes.items()]
    if possible:
        rows.append(f"  pairs of the variants' values: {covered} of {possible}")
    rows.append(f"  oracles that agree: {words or 'not asked'}")
    rows += [f"  left out: {sentence}" for sentence in figures.left_out]
    return "\n".join(rows)
