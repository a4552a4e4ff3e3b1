"""Reports: an uploaded model's facts judged for chosen targets, each question answered once."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from compat.models import Report


class ReportError(ValueError):
    """A question that cannot be answered: `code` for programs, the message for people."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


class Upload(Protocol):
    """A Django UploadedFile, or anything that gives its bytes in chunks."""

    def chunks(self) -> Iterable[bytes]: ...


def submit_model(
    *, file: Upload, file_name: str, target_names: Sequence[str], keep: bool = False
) -> Report:
    """Answer which operators of the model are risky on the targets; all shown columns if none.

    The same model, targets and knowledge give the same report again. Raises ReportError for a
    file that is no model or too large, TargetError for a name that is no target.
    """
    raise NotImplementedError


def load_report(token: str) -> Report | None:
    """The report behind an unguessable link."""
    return Report.objects.filter(token=token).first()


def operators_of(report: Report) -> tuple[tuple[str, str], ...]:
    """The operators of the report's model, for the matrix filter "operators of this report"."""
    signatures = (report.facts or {}).get("signatures", ())
    return tuple(sorted({(sig["domain"], sig["op"]) for sig in signatures}))
