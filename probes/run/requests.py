"""What a sandbox is asked, and how a request looks on the wire."""

from __future__ import annotations

from dataclasses import dataclass

from probes.cases.case import Case
from probes.cases.forms import Formed, apply_form
from probes.model import frames
from probes.model.values import pack_values
from probes.run.adapter import Capabilities


@dataclass(frozen=True)
class ProbeRequest:
    """One case, in one of the forms of probes.cases.forms."""

    case: Case
    form: str = "as_is"


def present(request: ProbeRequest, capabilities: Capabilities) -> Formed | None:
    """Model and inputs as the form presents them; None when the form does not apply."""
    if request.form == "as_is":
        return request.case.model, request.case.inputs
    return apply_form(
        request.form,
        request.case.model,
        request.case.inputs,
        max_opset=capabilities.max_opset,
        max_ir=capabilities.max_ir,
    )


def encode_request(serial: int, formed: Formed, *, timed: bool) -> bytes:
    """The frame that the child reads: blob 0 is the model, the inputs' blobs follow."""
    model, inputs = formed
    described, blobs = pack_values(inputs)
    header = {"serial": serial, "inputs": described, "timed": timed}
    return frames.encode(header, [model, *blobs])
