"""Reports: an uploaded model's facts judged for chosen targets, each question answered once."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from django.db import IntegrityError, transaction
from django.utils import timezone

from compat.facts_check import FactsError, check_facts
from compat.knowledge import knowledge_for
from compat.models import Column, Report, Target
from compat.operators import OperatorName
from compat.runtimes import runtime_title
from compat.targets import default_columns, resolve
from compat.uploads import NoRoomError, StoredUpload, kept_path, stored_upload, sweep_parts
from probes.judge.finding import findings_to_json
from probes.judge.knowledge import Keys, TargetKnowledge, signature_keys
from probes.judge.risk import assess, summary
from probes.model.plain import plain_document, plain_file_name
from probes.model.refusals import ModelFileError

SCHEMA = 1
KEEP = timedelta(days=30)

Facts = dict[str, Any]
Result = dict[str, Any]


class ReportError(ValueError):
    """A file that cannot be judged: `code` and `params` for programs, the message for people."""

    def __init__(self, code: str, sentence: str, params: Mapping[str, Any] | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.params = dict(params or {})


class Upload(Protocol):
    """A Django UploadedFile, or anything that gives its bytes in chunks."""

    def chunks(self) -> Iterable[bytes]: ...


class Answer(NamedTuple):
    """The report of a question, and whether nobody had asked it before."""

    report: Report
    is_new: bool


def submit_model(
    *, file: Upload, file_name: str, target_names: Sequence[str], keep: bool = False
) -> Report:
    """As `answer_model`, for who only wants the report."""
    answer = answer_model(file=file, file_name=file_name, target_names=target_names, keep=keep)
    return answer.report


def answer_model(
    *, file: Upload, file_name: str, target_names: Sequence[str], keep: bool = False
) -> Answer:
    """Answer which operators of the model are risky on the targets; all shown columns if none.

    The same model, targets and knowledge give the same report again. Raises ReportError for a
    file that is no model or too large, TargetError for a name that is no target.
    """
    asked = choose_targets(target_names)
    forget_expired()
    try:
        with stored_upload(file.chunks()) as upload:
            facts = read_facts(upload.path, sha256=upload.sha256)
            answer = _answer(upload.sha256, upload.size, file_name, asked, facts)
            if keep:
                _keep(answer.report, upload)
    except NoRoomError as error:
        raise ReportError("no_room", str(error)) from error
    except ModelFileError as error:
        raise ReportError(error.code, error.sentence, error.params) from error
    return answer


def answer_facts(*, facts: Any, file_name: str, target_names: Sequence[str]) -> Answer:
    """The same from a facts document that was made elsewhere, which is checked first.

    What stands in it is its sender's word, so it shares a report with equal facts only, never
    with the file that it says it is of. Raises ReportError, TargetError.
    """
    try:
        check_facts(facts)
    except FactsError as error:
        raise ReportError(error.code, str(error)) from error
    asked = choose_targets(target_names)
    plain: Facts = plain_document(facts)
    text = json.dumps(plain, sort_keys=True)
    identity = f"facts {hashlib.sha256(text.encode()).hexdigest()}"
    return _answer(identity, plain["model"]["bytes"], file_name, asked, plain)


def choose_targets(names: Sequence[str]) -> list[Column | Target]:
    """The named targets, or every shown column; raises TargetError."""
    named = [plain_document(name) for name in names if name.strip()]
    return resolve(named) if named else list(default_columns())


def read_facts(path: Path, *, sha256: str = "") -> Facts:
    """The facts of a stranger's file, made in a limited child; raises ModelFileError."""
    from probes.run.analyse import facts_of

    return facts_of(path, sha256=sha256)


def judge_facts(facts: Facts, asked: Sequence[Column | Target]) -> list[Result]:
    """One document for each target: id, level, totals by node, findings, worst first."""
    keys = signature_keys(facts)
    known = knowledge_for(asked, facts, keys)
    return [_result(facts, entry, each, keys) for entry, each in zip(asked, known, strict=True)]


def load_report(token: str) -> Report | None:
    """The report behind an unguessable link."""
    if not token.isprintable():  # PostgreSQL takes no NUL, not even in a question
        return None
    return Report.objects.filter(token=token[:32]).first()


def delete_report(token: str) -> bool:
    """Delete a report with its facts, and its file where it is kept; False if there is none.

    The file is named by the report that was found, never by what an address says.
    """
    report = load_report(token)
    if report is None:
        return False
    kept_path(report.token).unlink(missing_ok=True)
    report.delete()
    return True


def operators_of(report: Report) -> tuple[OperatorName, ...]:
    """The operators of the report's model, for the matrix filter "operators of this report"."""
    nodes = (report.facts or {}).get("nodes", ())
    return tuple(sorted({(node["domain"] or "ai.onnx", node["op"]) for node in nodes}))


def forget_expired() -> None:
    """Delete kept uploads whose time is over, and parts that nobody writes any more."""
    sweep_parts()
    expired = Report.objects.filter(kept_until__lt=timezone.now())
    for report in expired.only("token"):
        kept_path(report.token).unlink(missing_ok=True)
    expired.update(kept_until=None)


def _result(
    facts: Facts, entry: Column | Target, known: TargetKnowledge, keys: list[Keys]
) -> Result:
    findings = assess(facts, known, keys)
    totals = summary(findings, facts)._asdict()
    column = entry.column if isinstance(entry, Target) else entry
    return {
        "schema": SCHEMA,
        "id": entry.slug,
        "column": column.slug,
        "runtime": runtime_title(column.runtime),
        "level": totals.pop("worst"),
        "totals": totals,
        "findings": findings_to_json(findings)["findings"],
    }


def _answer(
    identity: str, size: int, file_name: str, asked: Sequence[Column | Target], facts: Facts
) -> Answer:
    """The report of this question; an equal one that exists is the answer."""
    results = judge_facts(facts, asked)
    question = _question(identity, results)
    known = Report.objects.filter(question=question).first()
    if known is not None:
        return Answer(known, False)
    try:
        with transaction.atomic():
            report = Report.objects.create(
                question=question,
                file_name=plain_file_name(file_name),
                model_sha256=facts["model"]["sha256"],
                model_bytes=size,
                targets=[entry.slug for entry in asked],
                state=Report.State.READY,
                facts=facts,
                results=results,
            )
    except IntegrityError:  # asked twice at the same moment
        return Answer(Report.objects.get(question=question), False)
    return Answer(report, True)


def _question(identity: str, results: Sequence[Result]) -> str:
    """What is found is all that depends on the knowledge, so it stands for its revision."""
    ordered = sorted(results, key=lambda result: str(result["id"]))
    text = json.dumps([SCHEMA, identity, ordered], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _keep(report: Report, upload: StoredUpload) -> None:
    upload.keep(report.token)
    Report.objects.filter(pk=report.pk).update(kept_until=timezone.now() + KEEP)
    report.refresh_from_db(fields=["kept_until"])
