"""Real models into cases: each read in a child with limits, nodes counted by their signature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probes.cases.case import Case
from probes.cases.cuts import MOST_BYTES, SIZE
from probes.cases.harvest import case_of, harvest_name
from probes.model.refusals import ModelFileError
from probes.run.limited import LimitedError, MemoryLimit, TimeLimit, call_limited
from probes.run.oracles import with_expected

SECONDS = 120.0
MEMORY_BYTES = 2_000_000_000


@dataclass
class Harvest:
    """What was cut: documents by key, how often each stands in which model, what was left out."""

    cuts: dict[str, dict[str, Any]] = field(default_factory=dict)
    counts: dict[str, Counter[str]] = field(default_factory=dict)  # key -> model -> nodes
    left: dict[str, Counter[str]] = field(default_factory=dict)  # model -> why -> nodes
    refused: dict[str, str] = field(default_factory=dict)  # model -> why it was not read
    without_answer: dict[str, str] = field(default_factory=dict)  # case name -> why

    def add(self, model: str, found: Mapping[str, Any], *, counted: bool = True) -> None:
        """One model's answer; the first cut of a signature stands."""
        for cut in found["cuts"]:
            key = cut["key"]
            self.cuts.setdefault(key, cut)
            self.counts.setdefault(key, Counter())
            if counted:
                self.counts[key][model] += cut["count"]
        self.left[model] = Counter(found["left"])

    def cases(self, limit: int | None = None) -> Iterator[Case]:
        """With expected outputs; the most frequent first, at most `limit` of the counted ones."""
        keys = sorted(self.cuts, key=lambda key: (-self.counts[key].total(), key))
        counted = [key for key in keys if self.counts[key]]
        others = [key for key in keys if not self.counts[key]]
        chosen = [self.cuts[key] for key in (*counted[:limit], *others)]
        yield from with_expected(map(case_of, chosen), self.without_answer)

    def occurrences(self, names: Iterable[str]) -> Iterator[tuple[str, str, int]]:
        """(case name, model, nodes) of the cases of these names, sorted."""
        wanted = set(names)
        for key, models in self.counts.items():
            name = harvest_name(self.cuts[key]["signature"]["op"], key)
            if name in wanted:
                yield from ((name, model, count) for model, count in models.items())


def harvest(
    paths: Mapping[str, Path],
    *,
    also: Mapping[str, Path] | None = None,
    size: int = SIZE,
    most_bytes: int = MOST_BYTES,
) -> Harvest:
    """Cuts the models at these paths (by the name that is told of each).

    Those of `also` are cut and not counted: they say nothing of how often a node occurs.
    """
    found = Harvest()
    for name, path in {**paths, **(also or {})}.items():
        try:
            most = most_bytes if name in paths else MOST_BYTES
            cuts = cuts_in_child(path, size=size, most_bytes=most)
            found.add(name, cuts, counted=name in paths)
        except ModelFileError as error:
            found.refused[name] = error.sentence
    return found


def cuts_in_child(
    path: Path, *, size: int, most_bytes: int, seconds: float = SECONDS
) -> dict[str, Any]:
    """What `probes.cases.cuts` makes of a stranger's model; ModelFileError for all else."""
    payload = {"path": str(path.absolute()), "size": size, "most_bytes": most_bytes}
    try:
        answer = call_limited(
            "probes.cases.cuts:harvest", payload, seconds=seconds, memory_bytes=MEMORY_BYTES
        )
    except TimeLimit:
        raise ModelFileError("took_too_long", seconds=seconds) from None
    except MemoryLimit:
        raise ModelFileError("took_too_much_memory", megabytes=MEMORY_BYTES // 10**6) from None
    except LimitedError as error:
        raise ModelFileError("analysis_crashed", detail=str(error)) from error
    if "refused" in answer:
        raise ModelFileError.from_json(answer["refused"])
    return answer


def total_of(counters: Sequence[Counter[str]]) -> Counter[str]:
    """All of them added up."""
    return sum(counters, Counter())
