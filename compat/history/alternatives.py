"""Other ways to compute what an operator computes: how each stands on one column."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from compat.history.parts import OperatorHead, ProbeRow, load_rows_of_cells, operator_head
from compat.models import Cell
from probes.cases import origins
from probes.cases.alternatives import known_ways, way_of
from probes.cases.way import Way
from probes.cases.ways import steps_of
from probes.judge.alternatives import (
    Computation,
    Standing,
    Version,
    passing_versions,
    recommend,
    stand,
)
from probes.judge.support import KINDS
from probes.judge.verdict import Evidence, Ref

CellName = tuple[str, str, str]  # domain, operator, column
NEEDED = frozenset({"yellow", "red"})  # cells for which a way around is asked


@dataclass(frozen=True)
class WayView:
    """One way on one target. Without `way` it is the case as it is, or in another `form`.

    `level` is "unknown" where it was not tried. `steps` are the operators of the graph, `codes`
    what is held back of a pass, or how it fails.
    """

    way: str
    form: str
    steps: tuple[str, ...]
    level: str
    codes: tuple[str, ...]
    outcome: str
    probe_id: int | None
    p50_ms: float | None


@dataclass(frozen=True)
class ComputationView:
    """A form that models contain, its ways, best first, and the one that is recommended.

    `status`: found, none_works (nothing tried is better), not_tried, none_known, or as_is.
    """

    replaces: str
    status: str
    own: WayView
    ways: tuple[WayView, ...]
    recommended: WayView | None


@dataclass(frozen=True)
class VersionView:
    """A version of the operator of which every tried case passes."""

    since_version: int
    cases: int
    level: str
    probe_id: int | None


@dataclass(frozen=True)
class Alternatives:
    """`recommended` is the best way of the computation that it `replaces`, where one is better.

    `status` is the most telling of those of the computations.
    """

    status: str
    kind: str  # measured or simulated; "" where nothing was probed
    replaces: str
    recommended: WayView | None
    computations: tuple[ComputationView, ...]
    versions: tuple[VersionView, ...]


def alternatives_of(
    operator: OperatorHead, level: str, rows: Sequence[ProbeRow]
) -> Alternatives | None:
    """From the newest probes of an operator on one target; no query.

    None for an operator without known ways. Versions are named where the cell is in need of one.
    """
    known = known_ways().get((operator.domain, operator.name))
    if known is None:
        return None
    kind = next((kind for kind in KINDS if any(row.kind == kind for row in rows)), "")
    evidence = [_evidence(row) for row in rows]
    times: dict[Ref, float] = {row.id: row.p50_ms for row in rows if row.p50_ms is not None}
    names: dict[str, tuple[str, ...]] = {row.case_name: () for row in rows if row.core}
    names |= {case: tuple(ways) for case, ways in known.items()}
    found = stand(kind, evidence, names, _names(rows), times)
    status, best = recommend(found)
    shown = _View(known, times)
    return Alternatives(
        status=status,
        kind=kind,
        replaces=best.replaces if best else "",
        recommended=shown.way(best.replaces, best.best) if best and best.best else None,
        computations=tuple(map(shown.computation, found)),
        versions=_versions(kind, rows, evidence) if level in NEEDED else (),
    )


def load_recommended(cells: Collection[CellName]) -> dict[CellName, WayView]:
    """Two queries: of these cells those that are yellow or red and for which a way is better."""
    known = known_ways()
    asked = {cell for cell in cells if cell[:2] in known}
    found = [
        cell
        for cell in Cell.objects.filter(
            level__in=NEEDED,
            target__isnull=False,
            column__slug__in={column for _, _, column in asked},
            operator__name__in={name for _, name, _ in asked},
        ).select_related("operator", "column")
        if _cell_name(cell) in asked
    ]
    rows = load_rows_of_cells(found)
    ways = {
        _cell_name(cell): alternatives_of(
            operator_head(cell.operator), "", rows.get((cell.operator_id, cell.target_id), [])
        )
        for cell in found
    }
    return {name: way.recommended for name, way in ways.items() if way and way.recommended}


def _cell_name(cell: Cell) -> CellName:
    return cell.operator.domain, cell.operator.name, cell.column.slug


def _names(rows: Sequence[ProbeRow]) -> dict[str, tuple[str, str]]:
    found = {row.case_name: way_of(row.case_name) for row in rows}
    return {name: way for name, way in found.items() if way is not None}


def _versions(
    kind: str, rows: Sequence[ProbeRow], evidence: Sequence[Evidence]
) -> tuple[VersionView, ...]:
    own = [
        found
        for row, found in zip(rows, evidence, strict=True)
        if row.origin not in origins.OF_OTHERS
    ]
    failing = frozenset(row.since_version for row in rows if row.core and row.support == "no")
    if not failing:
        return ()
    return tuple(map(_version, passing_versions(kind, own, failing)))


def _version(found: Version) -> VersionView:
    return VersionView(found.since, found.cases, found.level, _probe(found.ref))


def _evidence(row: ProbeRow) -> Evidence:
    return Evidence(
        case_name=row.case_name,
        core=row.core,
        kind=row.kind,
        form=row.form,
        outcome=row.outcome,
        stage=row.stage or None,
        placement=row.placement,
        max_abs=row.max_abs,
        oracles_agree=row.oracles_agree,
        dtypes=row.dtypes,
        ref=row.id,
        since_version=row.since_version,
    )


@dataclass(frozen=True)
class _View:
    """What the engine found, as the pages and the API show it."""

    known: Mapping[str, Mapping[str, Way]]
    times: Mapping[Ref, float]

    def computation(self, found: Computation) -> ComputationView:
        return ComputationView(
            replaces=found.replaces,
            status=found.status,
            own=self.way(found.replaces, found.own),
            ways=tuple(self.way(found.replaces, each) for each in found.ways),
            recommended=self.way(found.replaces, found.best) if found.best else None,
        )

    def way(self, replaces: str, found: Standing) -> WayView:
        way = self.known.get(replaces, {}).get(found.way)
        return WayView(
            way=found.way,
            form=found.form,
            steps=steps_of(way) if way else (),
            level=found.level,
            codes=found.codes,
            outcome=found.outcome,
            probe_id=_probe(found.ref),
            p50_ms=self.times.get(found.ref),
        )


def _probe(ref: Ref) -> int | None:
    return ref if isinstance(ref, int) else None
