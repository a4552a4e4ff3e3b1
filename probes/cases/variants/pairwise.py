"""Pairwise coverage: few choices in which every two values that can stand together do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

import numpy as np

from probes.cases.fills import Array, words

Values = dict[str, Any]
CANDIDATES = 1200


class Coverage(NamedTuple):
    """Pairs of values that some choice has, and those that a valid one could have."""

    covered: int
    possible: int


def cover(
    dims: Mapping[str, Sequence[Any]],
    allowed: Callable[[Values], bool],
    *,
    budget: int,
    seed: str,
    full: bool = False,
) -> list[Values]:
    """At most `budget` allowed choices, each the one that adds most pairs; equal everywhere. When
    no pair is left, that is all, unless `full` asks for the other combinations too."""
    found, codes = _candidates(dims, allowed, seed)
    if not found:
        return []
    pairs = _pairs(codes, dims)
    open_pairs = np.zeros(int(pairs.max(initial=0)) + 1, np.bool_)
    open_pairs[pairs] = True
    chosen: list[int] = []
    while len(chosen) < min(budget, len(found)):
        gain = open_pairs[pairs].sum(axis=1)
        best = int(gain.argmax()) if chosen else 0
        if chosen and not gain[best]:
            rest = [at for at in range(len(found)) if at not in chosen] if full else []
            chosen += rest[: budget - len(chosen)]
            break
        chosen.append(best)
        open_pairs[pairs[best]] = False
    return [found[at] for at in chosen]


def coverage(
    dims: Mapping[str, Sequence[Any]],
    allowed: Callable[[Values], bool],
    chosen: Sequence[Values],
    seed: str,
) -> Coverage:
    """How many of the possible pairs the chosen ones have."""
    _, codes = _candidates(dims, allowed, seed)
    possible = set(_pairs(codes, dims).ravel().tolist())
    rows = [_row(dims, values) for values in chosen]
    covered = set(_pairs(np.asarray(rows or np.empty((0, len(dims))), np.int64), dims).ravel())
    return Coverage(len(covered & possible), len(possible))


def _candidates(
    dims: Mapping[str, Sequence[Any]], allowed: Callable[[Values], bool], seed: str
) -> tuple[list[Values], Array]:
    """Allowed choices, the first values first: all of them, or a fixed draw of very many."""
    sizes = [len(values) for values in dims.values()]
    total = prod(sizes)
    if not total:
        return [], np.empty((0, len(sizes)), np.int64)
    if total <= CANDIDATES:
        numbers = np.arange(total)
        codes = np.stack(np.unravel_index(numbers, sizes), axis=1) if sizes else numbers[:, None]
    else:
        drawn = words(seed, CANDIDATES * len(sizes)).reshape(CANDIDATES, len(sizes))
        codes = (drawn % np.asarray(sizes, np.uint64)).astype(np.int64)
        codes = np.concatenate([np.zeros((1, len(sizes)), np.int64), codes])
    names = list(dims)
    kept, rows = [], []
    for code in codes:
        values = {name: dims[name][at] for name, at in zip(names, code, strict=False)}
        if allowed(values):
            kept.append(values)
            rows.append(code)
    return kept, np.asarray(rows, np.int64).reshape(len(rows), codes.shape[1])


def _row(dims: Mapping[str, Sequence[Any]], values: Values) -> list[int]:
    return [list(options).index(values[name]) for name, options in dims.items()]


def _pairs(codes: Array, dims: Mapping[str, Sequence[Any]]) -> Array:
    """(choices, pairs of dimensions) numbers, one for each pair of values; a lone dimension's
    values where there is no second."""
    sizes = [len(values) for values in dims.values()]
    if len(sizes) < 2:
        return codes
    columns, start = [], 0
    for first, second in combinations(range(len(sizes)), 2):
        columns.append(start + codes[:, first] * sizes[second] + codes[:, second])
        start += sizes[first] * sizes[second]
    return np.stack(columns, axis=1)
