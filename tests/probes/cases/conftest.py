"""Every mainstream case built once, without its tensors."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from probes.cases.case import Case
from probes.cases.catalogue import mainstream_cases
from probes.model.values import to_numpy


@dataclass(frozen=True)
class Built:
    case: Case
    finite: bool

    def __getattr__(self, name: str) -> Any:
        return getattr(self.case, name)


@pytest.fixture(scope="session")
def built():
    found = []
    for case in mainstream_cases():
        finite = all(np.isfinite(to_numpy(value)).all() for value in case.expected)
        found.append(Built(replace(case, model=b"", inputs=(), expected=()), finite))
    return found
