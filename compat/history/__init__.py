"""What lies behind a cell: pages of an operator, a column, a cell and a probe, and its model."""

from compat.history.alternatives import Alternatives, CellName, WayView, load_recommended
from compat.history.cell import CellDetail, load_cell
from compat.history.claims import ClaimView, Restrictions, load_restrictions, unabridged
from compat.history.column import ColumnPage, load_column
from compat.history.harvest import HarvestView
from compat.history.limits import LimitEdge, LimitProbe, LimitView, ParameterLimit
from compat.history.operator import OperatorPage, load_operator
from compat.history.parts import NotKnown, OperatorHead, ProbeRow, Verdict, load_operators
from compat.history.probe import ProbePage, load_probe
from compat.history.reproducer import Reproducer, load_reproducer, reproducer_zip
from compat.history.results import ResultRow, load_results

__all__ = [
    "Alternatives",
    "CellDetail",
    "CellName",
    "ClaimView",
    "ColumnPage",
    "HarvestView",
    "LimitEdge",
    "LimitProbe",
    "LimitView",
    "NotKnown",
    "OperatorHead",
    "OperatorPage",
    "ParameterLimit",
    "ProbePage",
    "ProbeRow",
    "Reproducer",
    "Restrictions",
    "ResultRow",
    "Verdict",
    "WayView",
    "load_cell",
    "load_column",
    "load_operator",
    "load_operators",
    "load_probe",
    "load_recommended",
    "load_reproducer",
    "load_restrictions",
    "load_results",
    "reproducer_zip",
    "unabridged",
]
