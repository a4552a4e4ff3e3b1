"""One measured figure and the goal that it is held against."""

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """`goal` reads "<= 2.0"; conditions say what the value was measured on and with."""

    name: str
    value: float
    unit: str
    goal: str
    holds: bool
    conditions: dict[str, Any] = field(default_factory=dict)

    def to_line(self) -> str:
        return json.dumps(self.__dict__, ensure_ascii=False)
