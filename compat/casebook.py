"""Case rows and the case folder, filled from the node packs and the tables of the engine."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import onnx
from django.conf import settings
from django.db import transaction

import probes.cases
import probes.model
from compat.models import Case, Operator
from probes.cases import case as engine
from probes.cases import origins
from probes.cases.catalogue import CaseStore, alternative_cases, mainstream_cases, read_pack
from probes.cases.node_files import names_beside, older_name
from probes.model.signature import Signature, class_key, dtype_key, main_signature, signature_key

CASES = settings.FIXTURES_DIR / "cases"
MAINSTREAM = CASES / "mainstream.csv"
# The installed onnx, then older ones: some toolchains stop there, and models in the field are such.
RELEASES = (onnx.__version__, "1.15.0")
PACKS = {release: CASES / f"node-onnx-{release}.pack.xz" for release in RELEASES}
PACK = PACKS[onnx.__version__]
# Built once at release, from tables of the engine because another numpy or torch builds others,
# and from real models.
BUILT = tuple(CASES / f"{kind}.pack.xz" for kind in ("variants", "patterns", "modules", "harvest"))
# Their graphs are several nodes; none of them is what the case proves.
NO_NODE = frozenset((origins.ALTERNATIVE, origins.PATTERN, origins.MODULE))
BATCH = 500


class CaseMismatch(Exception):
    """A case that was built here differs from the one that the release names."""


def files() -> list[Path]:
    """What the cases are made from: packs, lists of names, the code that builds and names."""
    rooms = (probes.cases, probes.model)
    code = (path for room in rooms for path in Path(room.__path__[0]).rglob("*.py"))
    packs = (path for pack in PACKS.values() for path in (pack, names_beside(pack)))
    return [path for path in (*packs, *BUILT, MAINSTREAM, *sorted(code)) if path.exists()]


def all_cases() -> Iterator[engine.Case]:
    """The shipped node tests, then what the tables give as built here and checked by id.

    A case comes once more under each name that older releases have for its content.
    """
    named, older = _named_ids(), _older_names()
    packs = map(read_pack, [*PACKS.values(), *(path for path in BUILT if path.exists())])
    for case in chain(*packs, mainstream_cases(), alternative_cases()):
        expected = named.get(case.name, case.id)
        if case.id != expected:
            raise CaseMismatch(
                f"{case.name} was built as {case.id}, but {MAINSTREAM.name} names {expected}"
            )
        yield case
        for name in older.pop(case.id, ()):
            if name != case.name:
                yield replace(case, name=name)
    if older:
        raise CaseMismatch(f"no pack has the cases {', '.join(sorted(older))}")


def load_cases(cases: Iterable[engine.Case] | None = None) -> int:
    """Store each case by its id and describe it in a row; returns how many there are.

    Cases of the same content are one row: the first name stands, the others are its aliases.
    """
    store = case_store()
    operators = {(each.domain, each.name): each for each in Operator.objects.all()}
    rows: dict[str, Case] = {}
    for case in all_cases() if cases is None else cases:
        if case.id in rows:
            rows[case.id].aliases.append(case.name)
            continue
        store.put(case)  # also over a file of this id: another release may expect other outputs
        rows[case.id] = _row(case, operators[case.domain, case.op_type])
    described = [field.name for field in Case._meta.fields if not field.primary_key]
    with transaction.atomic():
        _retire(rows, everything=cases is None)
        Case.objects.bulk_create(
            rows.values(),
            batch_size=BATCH,
            update_conflicts=True,
            unique_fields=["id"],
            update_fields=described,
        )
    return len(rows)


def _retire(rows: dict[str, Case], *, everything: bool) -> None:
    """Take the names of those whose place is taken; of `everything`, all that is not in it.

    Their probes stay as history, but they are probed no more and decide no cell.
    """
    names = {case.name for case in rows.values()}
    for old in Case.objects.filter(retired=False).exclude(pk__in=rows).only("id", "name", "origin"):
        ours = old.origin != origins.HARVEST  # another was cut from the models of this installation
        if (everything and ours) or old.name in names:
            Case.objects.filter(pk=old.pk).update(retired=True, name=f"{old.name}#{old.pk[:8]}")


def case_store() -> CaseStore:
    """The folder of this installation; it holds only what was verified when it was stored."""
    settings.CASE_DIR.mkdir(parents=True, exist_ok=True)
    return CaseStore(settings.CASE_DIR)


def read_case(case_id: str) -> engine.Case:
    """A case of the local folder, not verified again; raises KeyError when it is absent."""
    try:
        return engine.decode_case(case_store().path(case_id).read_bytes())
    except FileNotFoundError:
        raise KeyError(case_id) from None


def is_complete() -> bool:
    """Whether every case that has a row lies in the case folder."""
    stored = {path.stem for path in settings.CASE_DIR.glob("??/*.case")}
    return stored.issuperset(Case.objects.filter(retired=False).values_list("id", flat=True))


def _named_ids() -> dict[str, str]:
    if not MAINSTREAM.exists():
        return {}
    with MAINSTREAM.open(encoding="utf-8", newline="") as file:
        return {row["name"]: row["id"] for row in csv.DictReader(file)}


def _older_names() -> dict[str, list[str]]:
    """Case id -> its names in older releases, of the lists beside their packs."""
    found: dict[str, list[str]] = {}
    for release, pack in PACKS.items():
        if names_beside(pack).exists():
            with names_beside(pack).open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    found.setdefault(row["id"], []).append(older_name(row["test"], release))
    return found


def _row(case: engine.Case, operator: Operator) -> Case:
    signature, traits = case.signature or _signature(case), case.traits
    keys = (
        {
            "signature_key": signature_key(signature),
            "class_key": class_key(signature),
            "dtype_key": dtype_key(signature),
        }
        if signature
        else {}
    )
    return Case(
        id=case.id,
        name=case.name,
        operator=operator,
        since_version=case.since_version,
        core=case.core,
        origin=case.origin,
        timed=case.timed,
        opset=case.opset,
        ir_version=case.ir_version,
        oracle=case.oracle,
        oracles_agree=case.oracles_agree,
        citation=case.citation,
        dtypes=_dtypes(signature),
        traits=traits,
        folds=traits["folds"],
        signature=signature,
        **keys,
    )


def _signature(case: engine.Case) -> Signature:
    """Of the node that the case proves; empty where the graph spells it out in other operators."""
    if case.origin in NO_NODE:
        return {}
    try:
        model = onnx.load_from_string(case.model)
        return main_signature(model, case.op_type, case.domain)
    except (LookupError, onnx.shape_inference.InferenceError):
        return {}


def _dtypes(signature: Signature) -> list[str]:
    """The types of a node's inputs, or of its outputs where it has none."""
    values = signature.get("inputs") or signature.get("outputs") or []
    return sorted({value["dtype"] for value in values} - {"absent"})
