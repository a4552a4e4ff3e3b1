"""What a sandbox is asked, and how a request looks on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from probes.cases.case import Case
from probes.cases.casting import fits, narrowed
from probes.cases.forms import Formed, apply_form
from probes.model import frames
from probes.model.values import Value, pack_values
from probes.run.adapter import Capabilities


@dataclass(frozen=True)
class ProbeRequest:
    """One case, in one of the forms of probes.cases.forms."""

    case: Case
    form: str = "as_is"


def present(request: ProbeRequest, capabilities: Capabilities) -> Formed | None:
    """Model and inputs as the form presents them; None when the form does not apply."""
    case = request.case
    if is_wrapped(request.form) and not fits(case.expected, capabilities.dtypes):
        return None
    return apply_form(request.form, case.model, case.inputs, capabilities)


def as_expected(request: ProbeRequest, outputs: Sequence[Value]) -> list[Value]:
    """The outputs in the types that the case expects, where the form changed them."""
    expected = request.case.expected
    if not is_wrapped(request.form) or len(outputs) != len(expected):
        return list(outputs)
    return [narrowed(value, wanted) for value, wanted in zip(outputs, expected, strict=True)]


def is_wrapped(form: str) -> bool:
    """Whether the graph's inputs and outputs have other types than the case's."""
    return "cast" in form.split("+")


def encode_request(serial: int, formed: Formed, *, timed: bool) -> bytes:
    """The frame that the child reads: blob 0 is the model, the inputs' blobs follow."""
    model, inputs = formed
    described, blobs = pack_values(inputs)
    header = {"serial": serial, "inputs": described, "timed": timed}
    return frames.encode(header, [model, *blobs])
