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


class NotApplicable(Exception):
    """The question makes no sense in this configuration, as int8 for a graph of integers: the
    probe ends as UNAVAILABLE, which is no evidence."""


@dataclass(frozen=True)
class Capabilities:
    """What a runtime takes and what its answers mean; the forms of a probe follow from it.

    min_opset, max_opset, max_ir: None = not known. dtypes: what it takes at a graph's inputs and
    outputs, by ONNX's names; empty: not known. arithmetic: "" for the model's own types, "float16"
    or "int8" where it computes in less (probes.run.tolerances). evidence: "measured" or
    "simulated".
    """

    max_opset: int | None = None
    max_ir: int | None = None
    min_opset: int | None = None
    dtypes: tuple[str, ...] = ()
    static_shapes: bool = False  # no dynamic dimension
    constant_inputs: bool = False  # weights, axes and sizes as constants
    explicit_attributes: bool = False  # trips over an attribute that is left to its default
    arithmetic: str = ""
    intended_unit: str = "cpu"
    placement_known: bool = True
    numbers_meaningful: bool = True
    latency_meaningful: bool = True
    evidence: str = "measured"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "dtypes": list(self.dtypes)}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Capabilities:
        """The reverse of to_dict."""
        return cls(**{**document, "dtypes": tuple(document["dtypes"])})


class Session(ABC):
    """One model, loaded. feed once, run as often as latency wants, read one run's outputs.

    A quantized session may say what the outputs are to be held against instead of the case's:
    `reference`, with the size of one quantization step of each output in `steps`.
    """

    placement: Placement = Placement.UNKNOWN
    placement_detail: str = ""
    memory_bytes: int | None = None  # what the device itself says that this model takes
    reference: Sequence[Value] | None = None
    steps: Sequence[float] = ()

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

    def conditions(self) -> dict[str, Any]:
        """What else the latency was taken under; asked when it has been."""
        return {}

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
    def load(self, model: bytes, inputs: Sequence[Value], enter: Enter) -> Session:
        """Convert, compile and load; calls enter(stage) before each. `inputs` are what it will be
        fed: shapes for a profile, data to calibrate with. Raises Refused when the runtime says
        no; any other exception is the harness's."""

    def facts(self) -> dict[str, Any]:
        """What else belongs to the environment of a result (back-end versions, precision)."""
        return {}
