"""Addresses and links that may imitate others: written with letters that look like Latin ones and are not."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_EDGE = r"\s<>()\[\]{}\"'“”«»,;|⏎"
_TOKEN = re.compile(rf"[^{_EDGE}]+")
#: No name in the domain name system has a longer part.
_LONGEST_LABEL = 63
_PREFIX = "xn--"
#: Letters of other scripts that most fonts draw as the Latin letter beside them.
_TWINS = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u04cf\u043a\u043c\u0442\u043d\u0432\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405\u0423\u03bf\u03b1\u03bd\u03b9\u03ba\u03c1\u03c4\u03c5\u03c7\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u0251\u0261\u0131\u217c\uff4f",
    "aeopcyxijshdqwlkmthbABEKMHOPCTXIJSYoavikptuxABEZHIKMNOPTYXagilo",
)


class Lookalike(NamedTuple):
    """An address or a link that is not what it may seem.

    `host` is its domain as machines write it (`xn--...`); empty when only the part before the @ is odd. `seems` is
    what a reader may take `written` for; empty when it resembles nothing in particular. `scripts` names the alphabets.
    """

    written: str
    host: str
    seems: str
    scripts: tuple[str, ...]


def lookalikes(texts: Iterable[str]) -> tuple[Lookalike, ...]:
    """All of them in these texts, each once, in the order of reading."""
    found = {one.written: one for text in texts if _worth_a_look(text) for one in _in(text)}
    return tuple(found.values())


def _worth_a_look(text: str) -> bool:
    return not text.isascii() or _PREFIX in text.lower()


def _in(text: str) -> Iterator[Lookalike]:
    """Everything in this text that is named like a place: mail addresses, links, names with dots in them."""
    for written in dict.fromkeys(token.strip(".!?:…") for token in _TOKEN.findall(text)):
        if not _worth_a_look(written):
            continue
        local, host = _parts(written)
        linked = bool(local) or "://" in written
        if not linked and "." not in host:
            continue  # most of a text in another alphabet: what follows costs too much to be asked of every word
        machine = _machine(host)
        odd = machine != host or _PREFIX in host.lower()
        if linked and not (odd or not local.isascii()):
            continue  # a path or a query may be in any alphabet; only the name of the place is looked at
        if not linked and not any(map(_mixed, host.split("."))) and _PREFIX not in host.lower():
            continue  # a word of another alphabet is no address yet
        drawn = f"{local}@{_people(host)}" if local else _people(host)
        yield Lookalike(written, machine if odd else "", _seems(drawn), _scripts(drawn))


def _seems(drawn: str) -> str:
    """What it resembles in plain Latin letters; empty when it does not."""
    letters = unicodedata.normalize("NFKD", drawn.translate(_TWINS))
    plain = "".join(char for char in letters if not unicodedata.combining(char))
    return plain if plain.isascii() and plain != drawn else ""


def _parts(written: str) -> tuple[str, str]:
    """What stands before the @, and the domain without port, path and query."""
    if "://" in written:
        place = re.split(r"[/?#]", written.split("://", 1)[1], maxsplit=1)[0]
        return "", place.rpartition("@")[2].partition(":")[0]
    local, _, host = written.rpartition("@")
    return local, host


def _machine(host: str) -> str:
    if any(len(label) > _LONGEST_LABEL for label in host.split(".")):
        return ""  # no place has such a name
    return ".".join(_label(unicodedata.normalize("NFKC", label)) for label in host.split("."))


def _label(label: str) -> str:
    return label if label.isascii() else f"{_PREFIX}{label.lower().encode('punycode', 'backslashreplace').decode()}"


def _people(host: str) -> str:
    """The domain as a browser may draw it."""
    return ".".join(_drawn(label) for label in host.split("."))


def _drawn(label: str) -> str:
    if not label.lower().startswith(_PREFIX) or not label.isascii():
        return label
    try:
        return label[len(_PREFIX) :].encode().decode("punycode")
    except UnicodeError:
        return label


def _mixed(label: str) -> bool:
    return len(_scripts(label)) > 1


def _scripts(text: str) -> tuple[str, ...]:
    """The alphabets of its letters, by Unicode's names: `CYRILLIC`, `LATIN`."""
    names = {unicodedata.name(char, "UNKNOWN").partition(" ")[0] for char in text if char.isalpha()}
    return tuple(sorted(names))
