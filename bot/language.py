"""Texts in the reader's language. English stands in the code and is the key; the rest is in `bot/locales/*/vobo.po`.

Whoever renders for one reader (a modal, a private answer, a direct message, the Home tab) does so inside
`speaking(person.locale)`; what many read is rendered inside `speaking(<the workspace's language>)`. The language is
ambient, like the decimal context, because every leaf of a card would have to be handed it otherwise. The law's own
sentences (reasons of rules, previews) are not translated: they are what was sealed, in the words of whoever wrote them.
"""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from babel.core import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

LOCALES = Path(__file__).parent / "locales"
#: The language the code is written in, and of whoever's own is not shipped.
ENGLISH = "en"

_spoken: ContextVar[str] = ContextVar("spoken", default=ENGLISH)


def say(text: str, /, **values: object) -> str:
    """The text in the language being spoken, its `{names}` filled in. `text` must be a literal, so that it is found."""
    said = _translated(text)
    return said.format(**values) if values else said


def say_count(number: int, one: str, many: str, /, **values: object) -> str:
    """`one` or `many` by the number, which fills `{number}` with its thousands grouped."""
    catalogue = _catalogue(_spoken.get())
    entry = catalogue.get(one) if catalogue else None
    if catalogue is not None and entry is not None and isinstance(entry.string, tuple) and all(entry.string):
        said = entry.string[_plural_form(catalogue, number)]
    else:
        said = one if number == 1 else many
    return said.format(number=f"{number:,}", **values)


@contextmanager
def speaking(locale: str) -> Iterator[None]:
    """Everything said inside is in this person's or workspace's language, or in English if that is not shipped.

    Args:
        locale: As Slack names it (`es-ES`) or as a setting does (`es`).
    """
    token = _spoken.set(language_of(locale))
    try:
        yield
    finally:
        _spoken.reset(token)


def language_of(locale: str) -> str:
    """The shipped language for a locale; English for what is unknown or malformed."""
    try:
        language = Locale.parse(locale.replace("-", "_")).language
    except (ValueError, UnknownLocaleError):
        return ENGLISH
    return language if language in shipped() else ENGLISH


@functools.cache
def shipped() -> frozenset[str]:
    """The languages one can be spoken to in."""
    return frozenset({ENGLISH, *(found.parent.name for found in LOCALES.glob("*/vobo.po"))})


def _translated(text: str) -> str:
    catalogue = _catalogue(_spoken.get())
    entry = catalogue.get(text) if catalogue else None
    said = entry.string if entry is not None else ""
    return said if isinstance(said, str) and said else text


@functools.cache
def _catalogue(language: str) -> Catalog | None:
    if language == ENGLISH:
        return None
    with (LOCALES / language / "vobo.po").open("rb") as file:
        return read_po(file, locale=language)


def _plural_form(catalogue: Catalog, number: int) -> int:
    locale = catalogue.locale or Locale(ENGLISH)
    # CLDR's rule gives a name; gettext's Plural-Forms of the languages shipped here are (one, other).
    return 0 if locale.plural_form(number) == "one" else 1
