"""`make messages`: finds the texts people read in `bot/` and brings every catalogue up to date; translations stay.

A new text comes in untranslated, a text that is gone goes, and nothing depends on the machine or the day, so that
running it twice changes nothing. `tests/unit/test_language.py` fails until every text of every catalogue is translated.
"""

import ast
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[1]
BOT = ROOT / "bot"
LOCALES = BOT / "locales"
#: Function -> which of its arguments are texts, as `babel.messages.extract` writes it.
KEYWORDS = {"say": (1,), "say_count": (2, 3)}
_HEADER = """\
# What vobo says in Slack. The English is the key; `make messages` adds what is new and takes away what is gone.
msgid ""
msgstr ""
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plural_forms}\\n"

"""


def spoken_files() -> list[Path]:
    """The files with texts that people read: the bot without its stand-in for Slack."""
    return sorted(path for path in BOT.rglob("*.py") if "sandbox" not in path.relative_to(BOT).parts)


def calls_of(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    """Every call of one of these functions, however deep: in an argument, in an f-string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node


def by_syntax(  # as Babel calls a method of extraction
    file: BinaryIO,
    keywords: Any,
    _tags: Any,
    options: Any,
) -> Iterator[tuple[int, str, Any, list[str]]]:
    """An extraction method for Babel whose own reads no f-strings and no deeply nested calls."""
    for call in calls_of(ast.parse(file.read()), *keywords):
        literals = [each.value if isinstance(each, ast.Constant) else None for each in call.args]
        assert isinstance(call.func, ast.Name)
        yield call.lineno, call.func.id, tuple(literals), []


def found_texts() -> Catalog:
    """Every text of the bot, untranslated."""
    found = Catalog()
    for path in spoken_files():
        with path.open("rb") as file:
            for _, text, _, _ in extract(by_syntax, file, keywords=KEYWORDS):
                found.add(text)
    return found


def brought_up_to_date(old: bytes, language: str, found: Catalog) -> bytes:
    """A catalogue with exactly the texts that were found, in the order of the alphabet."""
    catalogue = read_po(BytesIO(old), locale=language) if old else Catalog(locale=language)
    catalogue.update(found, no_fuzzy_matching=True)
    body = BytesIO()
    write_po(body, catalogue, width=118, no_location=True, omit_header=True, sort_output=True, ignore_obsolete=True)
    header = _HEADER.format(language=language, plural_forms=catalogue.plural_forms)
    return header.encode() + body.getvalue().strip() + b"\n"


def main() -> None:
    found = found_texts()
    for path in sorted(LOCALES.glob("*/vobo.po")):
        old = path.read_bytes()
        new = brought_up_to_date(old, path.parent.name, found)
        path.write_bytes(new)
        texts = [one.string for one in read_po(BytesIO(new), locale=path.parent.name) if one.id]
        missing = sum(not all(one if isinstance(one, tuple) else (one,)) for one in texts)
        print(f"{path.relative_to(ROOT)}: {len(texts)} texts, {missing} to translate")  # noqa: T201 - a command


if __name__ == "__main__":
    sys.exit(main())
