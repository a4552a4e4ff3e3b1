"""The contract of a runtime: load a model, feed it, run it, hand the outputs back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from probes.model.values import Value
from probes.run.outcome import Placement, Stage

Enter = Callable[[Stage], None]


class Refused(Exception):
    """The runtime (not the harness) says no, at this stage, in its own words."""

    def __init__(self, stage: Stage, message: str) -> None:
        super().__init__(message)
        self.stage = stage
        self.message = message


class HarnessError(Exception):
    """We could not ask the question: an input we cannot make, an output we cannot read."""


@dataclass(frozen=True)
class Capabilities:
    """What a runtime takes and what its answers mean. max_opset, max_ir: None = not known."""

    max_opset: int | None = None
    max_ir: int | None = None
    dtypes: tuple[str, ...] = ()
    intended_unit: str = "cpu"
    placement_known: bool = True
    numbers_meaningful: bool = True
    latency_meaningful: bool = True
    evidence: str = "measured"  # or "simulated"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "dtypes": list(self.dtypes)}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Capabilities:
        """The reverse of to_dict."""
        return cls(**{**document, "dtypes": tuple(document["dtypes"])})


class Session(ABC):
    """One model, loaded. feed once, run as often as latency wants, read one run's outputs."""

    placement: Placement = Placement.UNKNOWN
    placement_detail: str = ""

    @abstractmethod
    def feed(self, inputs: Sequence[Value]) -> None:
        """Take the inputs by position. Any exception here is the harness's (HARNESS_ERROR),
        except Refused."""

    @abstractmethod
    def run(self) -> Any:
        """One inference, nothing else: this is what is timed. Exceptions are RUN_ERROR,
        except HarnessError."""

    @abstractmethod
    def outputs(self, raw: Any) -> list[Value]:
        """What `run` returned, as values in the order of the graph's outputs."""

    def close(self) -> None:
        """Give the model's memory back."""
        return None


class Adapter(ABC):
    """One runtime in one configuration, made inside the child. Import the runtime in __init__.

    `threads` is always in the configuration.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = dict(config)

    @property
    @abstractmethod
    def version(self) -> str:
        """The runtime's own version."""

    @abstractmethod
    def capabilities(self) -> Capabilities:
        """Asked once, when the child starts."""

    @abstractmethod
    def load(self, model: bytes, enter: Enter) -> Session:
        """Convert, compile and load; calls enter(stage) before each. Raises Refused when the
        runtime says no; any other exception is the harness's."""

    def facts(self) -> dict[str, Any]:
        """What else belongs to the environment of a result (back-end versions, precision)."""
        return {}
