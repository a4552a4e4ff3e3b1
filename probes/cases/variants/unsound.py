"""Where an oracle is known not to follow the operator's text: its answer is said, and not asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from probes.cases.variants.vocabulary import Choice


class Unsound(NamedTuple):
    """The evaluator's answer to these operators, before this version, where the choice has these
    values, is another one than ONNX's text; `why` ends a sentence that begins with its name."""

    ops: str
    why: str
    before: int = 10**6
    having: Mapping[str, Sequence[Any]] = {}


EVALUATOR = (
    Unsound("RNN GRU LSTM", "ignores sequence lengths", having={"lengths": (1,)}),
    Unsound("RNN GRU LSTM", "ignores clip", having={"clip": (0.5,)}),
    Unsound("GRU LSTM", "ignores activations", having={"activations": ("other",)}),
    Unsound("LSTM", "ignores input_forget", having={"input_forget": (1,)}),
    Unsound("MaxPool", "counts indices within a plane", having={"indices": (1,)}),
    Unsound("MaxPool AveragePool LpPool", "pads by less than nothing with auto_pad",
            having={"auto_pad": ("SAME_UPPER", "SAME_LOWER")}),
    Unsound("LpPool", "counts what lies outside with ceil_mode", having={"ceil_mode": (1,)}),
    Unsound("LRN", "sums over other channels"),
    Unsound("Unique", "orders what is not sorted otherwise", having={"sorted": (0,)}),
    Unsound("RoiAlign", "takes the half pixel of version 16", before=16),
    Unsound("Softmax LogSoftmax Hardmax", "computes along one axis, as from opset 13", before=13),
    Unsound("Optional", "wraps the value in a list"),
)  # fmt: skip


def why_not(choice: Choice) -> str:
    """Why the evaluator is no oracle for this choice; "" where it is."""
    for row in EVALUATOR:
        matches = all(choice.values.get(n) in options for n, options in row.having.items())
        if choice.op in row.ops.split() and choice.since < row.before and matches:
            return row.why
    return ""
