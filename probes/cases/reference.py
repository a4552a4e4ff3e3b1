"""The float64 reference of every operator in the mainstream tables."""

from __future__ import annotations

from probes.cases.references.base import Reference
from probes.cases.references.control import CONTROL
from probes.cases.references.layout import LAYOUT
from probes.cases.references.pointwise import POINTWISE
from probes.cases.references.products import PRODUCTS
from probes.cases.references.quantized import QUANTIZED
from probes.cases.references.sampling import SAMPLING
from probes.cases.references.statistics import STATISTICS
from probes.cases.references.windows import WINDOWS

REFERENCES: dict[str, Reference] = {
    **WINDOWS,
    **PRODUCTS,
    **POINTWISE,
    **STATISTICS,
    **LAYOUT,
    **SAMPLING,
    **QUANTIZED,
    **CONTROL,
}
