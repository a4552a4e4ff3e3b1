"""The knowledge base's tables, one noun a file."""

from compat.models.access import Token
from compat.models.catalogue import (
    Case,
    Claim,
    Column,
    Device,
    Loaded,
    Occurrence,
    Operator,
    Source,
    Target,
)
from compat.models.evidence import Cell, Environment, Probe, ProbeLog, Sweep
from compat.models.limit import Limit
from compat.models.report import Report

__all__ = [
    "Case",
    "Cell",
    "Claim",
    "Column",
    "Device",
    "Environment",
    "Limit",
    "Loaded",
    "Occurrence",
    "Operator",
    "Probe",
    "ProbeLog",
    "Report",
    "Source",
    "Sweep",
    "Target",
    "Token",
]
