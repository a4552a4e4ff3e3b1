"""The model of a probe in the form in which it was probed, alone or with its inputs."""

import io
import json
import re
import zipfile
from dataclasses import dataclass

import onnx
from django.conf import settings

from compat.history.parts import NotKnown
from compat.models import Probe
from probes.cases.case import Case, CaseError
from probes.cases.forms import apply_form
from probes.cases.pack import CaseStore
from probes.model.values import Value, to_proto
from probes.run.adapter import Capabilities

ZIP_DATE = (1980, 1, 1, 0, 0, 0)  # the same probe gives the same bytes
README = """The model of OpAtlas probe {probe}: case {case}, form "{form}",
on {target}. It ended as "{outcome}".

model.onnx     the model exactly as it was given to the runtime
input_N.pb     its inputs by position, as ONNX TensorProto (SequenceProto, OptionalProto)
output_N.pb    the expected outputs (oracle: {oracle})
case.json      names, tolerances and the citation of the case
"""


@dataclass(frozen=True)
class Reproducer:
    """`model` is the serialized ModelProto; `file_name` is safe in a header and on a disk."""

    file_name: str
    model: bytes
    inputs: tuple[Value, ...]
    expected: tuple[Value, ...]
    readme: str
    case: Case


def load_reproducer(probe_id: int) -> Reproducer:
    """One query; raises NotKnown when the probe, its case file or its form is not here."""
    probe = Probe.objects.filter(pk=probe_id).select_related("target", "case").first()
    if probe is None:
        raise NotKnown("There is no probe of this number.")
    try:
        case = CaseStore(settings.CASE_DIR).get(probe.case_id)
    except (KeyError, CaseError) as error:
        raise NotKnown("The case of this probe is not stored here.") from error
    model, inputs = _formed(case, probe)
    return Reproducer(
        file_name=f"{_plain(probe.case.name)}-{_plain(probe.form)}-{probe.pk}.onnx",
        model=model,
        inputs=inputs,
        expected=case.expected,
        readme=_readme(probe, case),
        case=case,
    )


def reproducer_zip(reproducer: Reproducer) -> bytes:
    """A .zip of the model, inputs and expected outputs as .pb files, and a README."""
    files = {"README.txt": reproducer.readme.encode(), "model.onnx": reproducer.model}
    for stem, values in (("input", reproducer.inputs), ("output", reproducer.expected)):
        for index, value in enumerate(values):
            files[f"{stem}_{index}.pb"] = _proto_bytes(value, f"{stem}_{index}")
    files["case.json"] = _case_document(reproducer.case)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, ZIP_DATE), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _formed(case: Case, probe: Probe) -> tuple[bytes, tuple[Value, ...]]:
    # What the runtime said it reads when it was probed.
    takes = Capabilities.from_dict({"dtypes": (), **probe.target.capabilities})
    try:
        formed = apply_form(probe.form, case.model, case.inputs, takes)
    except KeyError:
        formed = None
    if formed is None:
        raise NotKnown(f'The form "{probe.form}" of this probe cannot be made again here.')
    return formed


def _proto_bytes(value: Value, name: str) -> bytes:
    proto = onnx.OptionalProto(name=name) if value is None else to_proto(value, name)
    return bytes(proto.SerializeToString())


def _readme(probe: Probe, case: Case) -> str:
    return README.format(
        probe=probe.pk,
        case=case.name,
        form=probe.form,
        target=probe.target.slug,
        outcome=probe.outcome or probe.state,
        oracle=case.oracle,
    )


def _case_document(case: Case) -> bytes:
    fields = ("id", "name", "domain", "op_type", "since_version", "rtol", "atol", "compare")
    document = {name: getattr(case, name) for name in (*fields, "oracle", "citation")}
    return json.dumps(document, indent=1).encode()


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.")[:100] or "probe"
