"""Reductions of one attribute or value to what decides support; `classes` maps them."""

from __future__ import annotations

from typing import Any

from probes.model.types import ABSENT

Signature = dict[str, Any]


def rank_of(entry: dict[str, Any]) -> int | None:
    return None if entry["shape"] is None else len(entry["shape"])


def input_rank(signature: Signature) -> int | None:
    known = [rank for one in signature["inputs"] if (rank := rank_of(one)) is not None]
    return known[0] if known else None


def literal(value: Any, signature: Signature) -> Any:
    return value


def ignored(value: Any, signature: Signature) -> Any:
    return None


def by_type(value: Any, signature: Signature) -> Any:
    """Integers and strings decide, floats by their special values, lists by length."""
    if isinstance(value, float):
        return value if value in (0.0, 1.0, -1.0) else "other"
    if isinstance(value, list):
        return value if value and isinstance(value[0], str) else len(value)
    if isinstance(value, dict):
        return value.get("dtype", "long")
    return value


def axis_place(value: Any, signature: Signature) -> str:
    """Where an axis lies in the first input: first, channel, middle or last."""
    rank = input_rank(signature)
    axis = value[0] if isinstance(value, list) and value else value
    if not isinstance(axis, int):
        return "other"
    if rank is None:
        return "last" if axis == -1 else f"axis {axis}"
    axis += rank if axis < 0 else 0
    if axis == rank - 1:
        return "last"
    return {0: "first", 1: "channel"}.get(axis, "middle")


def axes_place(value: Any, signature: Signature) -> str:
    """Where a set of axes lies: all, spatial, trailing, leading, or scattered."""
    rank = input_rank(signature)
    if not isinstance(value, list) or rank is None:
        return "unknown"
    axes = sorted({axis + rank if axis < 0 else axis for axis in value})
    if not axes:
        return "none"
    if axes == list(range(rank)):
        return "all"
    if len(axes) == 1:
        return axis_place(axes[0], signature)
    if axes == list(range(2, rank)):
        return "spatial"
    if axes == list(range(axes[0], axes[0] + len(axes))):
        return "trailing" if axes[-1] == rank - 1 else "leading" if axes[0] == 0 else "inner"
    return "scattered"


def group_kind(value: Any, signature: Signature) -> str:
    if value == 1:
        return "dense"
    shape = signature["inputs"][0]["shape"] if signature["inputs"] else None
    channels = shape[1] if shape and len(shape) > 1 else None
    return "depthwise" if channels == value else "grouped"


def kernel_size(value: Any, signature: Signature) -> Any:
    """The largest side by steps that hardware limits follow, and whether all sides agree."""
    if not isinstance(value, list) or not value:
        return "unknown"
    steps = ((1, "point"), (3, "small"), (7, "medium"), (15, "large"), (31, "larger"))
    size = next((name for limit, name in steps if max(value) <= limit), "huge")
    return [size, len(set(value)) == 1]


def step_size(value: Any, signature: Signature) -> str:
    if not isinstance(value, list):
        return "unknown"
    if len(set(value)) > 1:
        return "uneven"
    return {1: "one", 2: "two"}.get(value[0] if value else 1, "more")


def pad_kind(value: Any, signature: Signature) -> str:
    if not isinstance(value, list):
        return "unknown"
    if not any(value):
        return "none"
    if min(value) < 0:
        return "negative"
    half = len(value) // 2
    place = "" if pads_only_spatial(value, signature) else " outside the spatial axes"
    return ("symmetric" if value[:half] == value[half:] else "asymmetric") + place


def pads_only_spatial(value: list[int], signature: Signature) -> bool:
    """A Pad node lists every axis (Conv and pools only the spatial ones)."""
    half = len(value) // 2
    if signature["op"] != "Pad" or half < 3:
        return True
    return not any(value[:2]) and not any(value[half : half + 2])


def permutation(value: Any, signature: Signature) -> Any:
    """Up to rank 4 each order is its own case; above, whether the batch stays and how many move."""
    if not isinstance(value, list) or len(value) <= 4:
        return value
    moved = sum(1 for at, axis in enumerate(value) if at != axis)
    return ["keeps batch" if value[0] == 0 else "moves batch", moved]


def half_precision(value: Any, signature: Signature) -> str:
    """Whether an epsilon survives in half precision."""
    if not isinstance(value, float):
        return "other"
    return "vanishes" if value < 2.98e-8 else "denormal" if value < 6.1e-5 else "normal"


def zero_or_not(value: Any, signature: Signature) -> str:
    items = value if isinstance(value, list) else [value]
    return "zero" if not any(items) else "set"


def equation(value: Any, signature: Signature) -> str:
    """An Einsum equation with its letters renamed in order of appearance."""
    names: dict[str, str] = {}
    text = str(value).replace(" ", "")
    return "".join(
        names.setdefault(one, chr(ord("a") + len(names))) if one.isalpha() else one for one in text
    )


def sections(value: Any, signature: Signature) -> str:
    if not isinstance(value, list):
        return "unknown"
    return "even" if len(set(value)) <= 1 else "uneven"


def magnitude(value: Any, signature: Signature) -> str:
    """A count by the steps at which runtimes stop (TopK's k: 3840 is TensorRT's limit)."""
    number = value[0] if isinstance(value, list) and value else value
    if not isinstance(number, int):
        return "unknown"
    steps = ((0, "none"), (1, "one"), (64, "small"), (1024, "medium"), (3840, "large"))
    return next((name for limit, name in steps if number <= limit), "huge")


def target_shape(value: Any, signature: Signature) -> list[bool]:
    return [0 in value, -1 in value]


def directions(value: Any, signature: Signature) -> str:
    if all(step == 1 for step in value):
        return "dense"
    return "backward" if min(value) < 0 else "strided"


def exponent(value: Any, signature: Signature) -> Any:
    return value[0] if value and value[0] in (0.5, 1.0, 2.0, 3.0, -1.0, -0.5) else "other"


def scaling(value: Any, signature: Signature) -> Any:
    """Resize scales: each of batch and channel kept or not, then by what the rest is scaled."""
    if not value or any(not isinstance(one, float) for one in value):
        return "none"
    outer = "plane" if all(one == 1.0 for one in value[:2]) else "with batch or channel"
    spatial = value[2:] or value
    if all(one >= 1.0 and one.is_integer() for one in spatial):
        size = "up whole"
    else:
        size = "up" if min(spatial) >= 1.0 else "down" if max(spatial) <= 1.0 else "mixed"
    return [outer, size, len(set(spatial)) == 1]


def list_length(value: Any, signature: Signature) -> int:
    return len(value)


def repeats(value: Any, signature: Signature) -> int:
    return sum(1 for one in value if one != 1)


def broadcasting(signature: Signature) -> str:
    """How the inputs of an element-wise node meet: same, scalar, channel, row or general."""
    shapes = [one["shape"] for one in signature["inputs"] if one["dtype"] != ABSENT]
    if any(shape is None for shape in shapes):
        return "unknown"
    if all(shape == shapes[0] for shape in shapes):
        return "same"
    widest = max(shapes, key=len)
    kinds = {meeting(shape, widest) for shape in shapes if shape != widest}
    return kinds.pop() if len(kinds) == 1 else "general"


def meeting(shape: list[int | None], widest: list[int | None]) -> str:
    if all(dim == 1 for dim in shape):
        return "scalar"
    padded = [1] * (len(widest) - len(shape)) + shape
    kept = [at for at, dim in enumerate(padded) if dim != 1]
    if kept == [1]:
        return "channel"
    return "row" if kept == [len(widest) - 1] else "general"


def batched(signature: Signature) -> str:
    """Whether the operands of a MatMul share their batch dimensions."""
    shapes = [one["shape"] for one in signature["inputs"][:2]]
    if any(shape is None for shape in shapes) or len(shapes) < 2:
        return "unknown"
    if not shapes[0][:-2] and not shapes[1][:-2]:
        return "plain"
    if not shapes[1][:-2]:
        return "shared right"
    return "same batch" if shapes[0][:-2] == shapes[1][:-2] else "broadcast batch"
