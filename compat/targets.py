"""Names of targets: "<column>@<version>", a column, or a part of it that only one column has."""

import difflib
from collections.abc import Iterable, Sequence

from django.db.models import Exists, OuterRef

from compat.models import Cell, Column, Target

NEAR_NAMES = 3
SHOWN_NAME_LENGTH = 120
PROBED = ("local", "registered")  # devices that a worker or an agent speaks for


class TargetError(LookupError):
    """A name that is no target, or more than one; the message is a sentence for people."""


def resolve(names: Sequence[str]) -> list[Column | Target]:
    """One entry for each different name, in order; raises TargetError. At most three queries."""
    wanted = list(dict.fromkeys(name.strip() for name in names))
    targets = {target.slug: target for target in _targets(name for name in wanted if "@" in name)}
    columns = _columns_with_evidence() if any("@" not in name for name in wanted) else []
    by_slug = {column.slug: column for column in columns}
    missing = [name for name in wanted if name not in targets and name not in by_slug]
    others = Column.objects.filter(slug__in=missing).select_related("device")
    by_slug |= {column.slug: column for column in others}
    found: list[Column | Target] = []
    for name in wanted:
        entry = targets.get(name) or by_slug.get(name) or _by_part(name, columns)
        if entry not in found:
            found.append(entry)
    return found


def default_columns() -> list[Column]:
    """The columns that are asked when nobody names any: all that the matrix shows."""
    return [column for column in _columns_with_evidence() if column.shown]


def choose_probed(name: str) -> Target:
    """The version to probe, the newest of a column; raises TargetError where nobody probes it."""
    (found,) = resolve([name])
    column = found.column if isinstance(found, Target) else found
    target = found if isinstance(found, Target) else column.targets.order_by("-version_key").first()
    if target is None or column.device.origin not in PROBED:
        raise TargetError(f"{column.slug} is not probed from here: no worker has this device.")
    return target


def _targets(slugs: Iterable[str]) -> Iterable[Target]:
    wanted = list(slugs)
    return Target.objects.filter(slug__in=wanted).select_related("column__device") if wanted else ()


def _columns_with_evidence() -> list[Column]:
    cells = Cell.objects.filter(column=OuterRef("pk"))
    return list(Column.objects.filter(Exists(cells)).select_related("device"))


def _by_part(name: str, columns: Sequence[Column]) -> Column:
    """The only column of a runtime, device or device class; else the only one of this machine."""
    fitting = [column for column in columns if name in _parts(column)]
    local = [column for column in fitting if column.device.origin == "local"]
    for choice in (fitting, local):
        if len(choice) == 1:
            return choice[0]
    if fitting:
        raise TargetError(_several(name, fitting))
    raise TargetError(_nothing(name))


def _parts(column: Column) -> tuple[str, str, str]:
    return column.runtime, column.device.slug, column.device.device_class


def _several(name: str, fitting: Sequence[Column]) -> str:
    slugs = ", ".join(column.slug for column in fitting)
    return f'"{_shown(name)}" fits several targets: name one of {slugs}.'


def _nothing(name: str) -> str:
    known = [
        *Column.objects.values_list("slug", flat=True),
        *Target.objects.values_list("slug", flat=True),
    ]
    runtimes = sorted({slug.split(".")[1] for slug in known if slug.count(".") > 1})
    near = difflib.get_close_matches(name[:260], [*runtimes, *known], n=NEAR_NAMES, cutoff=0.55)
    if near:
        return f'There is no target "{_shown(name)}". Near it: {", ".join(near)}.'
    if known:
        return f'There is no target "{_shown(name)}". "manage.py stats" lists those that exist.'
    return f'There is no target "{_shown(name)}": no target has been probed or loaded yet.'


def _shown(name: str) -> str:
    """The name as it may stand in a sentence: printable and short."""
    text = "".join(character for character in name if character.isprintable())
    return text if len(text) <= SHOWN_NAME_LENGTH else text[:SHOWN_NAME_LENGTH] + "…"
