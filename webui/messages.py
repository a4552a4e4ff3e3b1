"""The message catalogue without GNU gettext: Babel collects, merges and compiles the strings."""

import io
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation.template import templatize

LOCALE = "zh_Hans"
FOLDER = Path(__file__).parent / "locale" / LOCALE / "LC_MESSAGES"
PO, MO = FOLDER / "django.po", FOLDER / "django.mo"
# Pages are translated, and the sentences of the engine that pages show.
PYTHON = ("webui", "probes/judge", "probes/model")
TEMPLATES = ("webui/templates",)
KEYWORDS = {
    **DEFAULT_KEYWORDS,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
}
HEADER = "# Simplified Chinese words of the OpAtlas pages."


def collect() -> Catalog:
    """Every string that the sources ask to have translated."""
    catalog = Catalog(locale=LOCALE)
    for path, line, message, context in _found():
        name = path.relative_to(settings.BASE_DIR).as_posix()
        catalog.add(message, None, [(name, line)], context=context)
    return catalog


def load() -> Catalog:
    """The catalogue as it is on disk."""
    with PO.open("rb") as file:
        return read_po(file, locale=LOCALE)


def merge(catalog: Catalog, template: Catalog) -> Catalog:
    """New strings come in empty, vanished ones go; nothing is guessed."""
    catalog.update(template, no_fuzzy_matching=True, update_creation_date=False)
    catalog.obsolete.clear()
    return catalog


def po_text(catalog: Catalog) -> bytes:
    """Names of files without line numbers: a moved line is no change of a translation."""
    buffer = io.BytesIO()
    catalog.header_comment = HEADER
    catalog.last_translator, catalog.msgid_bugs_address = "OpAtlas", ""
    write_po(buffer, catalog, width=100, sort_output=True, include_lineno=False, omit_header=False)
    return buffer.getvalue()


def mo_bytes(catalog: Catalog) -> bytes:
    buffer = io.BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


def untranslated(catalog: Catalog) -> list[str]:
    """Strings without a translation, fuzzy ones, and those with other parameters."""
    bad = [str(message.id) for message in catalog if message.id and not _is_done(message.string)]
    bad += [str(message.id) for message in catalog if message.id and message.fuzzy]
    return bad + [f"{message.id}: {errors[0]}" for message, errors in catalog.check()]


def _is_done(string: object) -> bool:
    return all(string) if isinstance(string, list | tuple) else bool(string)


def _found() -> Iterator[tuple[Path, int, str | tuple[str, ...], str | None]]:
    for path in _sources(PYTHON, "*.py"):
        yield from _extract(path, path.read_bytes(), "python")
    for path in _sources(TEMPLATES, "*.html"):
        text = templatize(path.read_text(encoding="utf-8"), origin=str(path))
        # The words between tags are X by now: what is left reads like calls, in any language.
        yield from _extract(path, text.encode(), "javascript")


def _sources(folders: tuple[str, ...], pattern: str) -> list[Path]:
    return sorted(path for name in folders for path in (settings.BASE_DIR / name).rglob(pattern))


def _extract(
    path: Path, source: bytes, method: str
) -> Iterator[tuple[Path, int, str | tuple[str, ...], str | None]]:
    for line, message, _, context in extract(method, io.BytesIO(source), KEYWORDS):
        yield path, line, message, context
