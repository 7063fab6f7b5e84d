"""Text of strangers made inert: nothing in it mentions, links, formats, or hides."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator

from bot.language import say_count
from policies.plain_text import is_hidden

#: Opens a visible escape, so a literal one is escaped too: what is read is unambiguous.
_OPEN = "⟨"
_EMOJI_SELECTOR = "\ufe0f"
#: Look-alikes that Slack does not read as formatting. (Nothing escapes formatting in mrkdwn.)
_FORMATTING = str.maketrans({"*": "\u2217", "~": "\u223c", "`": "\u02cb"})
_EDGE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
#: Blanks that push what follows out of sight: they are counted instead of shown.
_BLANKS = re.compile(r"\n(?:[^\S\n]*\n){7,}|[^\S\n]{16,}")
#: A link, or an escape, that a cut at the end would part.
_UNFINISHED = re.compile(r"<[^>]*\Z|&[a-z]{0,4}\Z")
_EMOJI_CODE = re.compile(r":(?=[a-z0-9_+'\-]+:)")


def visible(text: str) -> str:
    """The text with every hidden character spelled out as ⟨U+202E⟩, long blanks counted; line breaks and tabs stay."""
    spelled = _perhaps_hidden(text).sub(
        lambda found: f"{_OPEN}U+{ord(found[0]):04X}⟩" if _escaped(text, found.start(), found[0]) else found[0], text
    )
    return _BLANKS.sub(_counted, spelled)


def _counted(blanks: re.Match[str]) -> str:
    if blanks[0].startswith("\n"):
        return f"\n{_OPEN}{blanks[0].count(chr(10))} x U+000A⟩\n"
    kinds = (f"{number} x U+{ord(blank):04X}" for blank, number in Counter(blanks[0]).items())
    return f"{_OPEN}{', '.join(kinds)}⟩"


def hides(text: str) -> bool:
    """Whether `visible` has to spell anything out that a reader would not see."""
    return any(True for _ in _hidden(text))


def hidden_warning(texts: Iterable[str]) -> str:
    """A sentence about the hidden characters in these texts, with their number; empty when there are none."""
    number = sum(1 for text in texts for _ in _hidden(text))
    if not number:
        return ""
    return say_count(
        number,
        "Contains {number} character that is invisible or reorders text; it is shown as ⟨U+…⟩.",
        "Contains {number} characters that are invisible or reorder text; each is shown as ⟨U+…⟩.",
    )


def _hidden(text: str) -> Iterator[str]:
    for match in _perhaps_hidden(text).finditer(text):
        if match[0] != _OPEN and _escaped(text, match.start(), match[0]):
            yield match[0]


def _perhaps_hidden(text: str) -> re.Pattern[str]:
    """Finds what may have to be spelled out. Each different sign is judged once: a text may have 400,000 of them."""
    signs = {sign for sign in set(text) if sign not in "\n\t" and (sign == _OPEN or is_hidden(sign))}
    return re.compile(f"[{re.escape(''.join(sorted(signs)))}]" if signs else r"(?!)")


def _escaped(text: str, at: int, char: str) -> bool:
    if char == _EMOJI_SELECTOR and at and unicodedata.category(text[at - 1]) in {"So", "Sm", "Po"}:
        return False  # it asks for the coloured form of the sign before it; everybody sees that
    return char == _OPEN or is_hidden(char)


def one_line(text: str) -> str:
    """Visible text on one line; line breaks show as ⏎."""
    return " ⏎ ".join(part.strip() for part in visible(text).replace("\t", " ").split("\n") if part.strip())


def few_lines(text: str, most: int = 8) -> str:
    """Visible text whose lines stay lines while they are at most `most`, without the empty ones; else on one line."""
    lines = [line.strip() for line in visible(text).replace("\t", " ").split("\n") if line.strip()]
    return "\n".join(lines) if len(lines) <= most else one_line(text)


def clip(text: str, most: int) -> str:
    """At most `most` characters: both ends stay and the gap is counted; no tail hides behind a long head."""
    if len(text) <= most:
        return text
    more = say_count(len(text) - most, "[…{number}+ character more…]", "[…{number}+ characters more…]")
    marker = f" {more} "
    keep = max(2, most - len(marker))
    tail = keep // 3
    return f"{text[: keep - tail]}{marker}{text[len(text) - tail :]}"[: max(most, 1)]


def cut(text: str, most: int) -> str:
    """At most `most` characters, for labels; an ellipsis says that something is missing."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def inert(text: str, most: int | None = None) -> str:
    """One line of untrusted text for mrkdwn and for notifications, after escaping at most `most` characters."""
    shown = one_line(text)
    return escaped(shown) if most is None else escaped_within(shown, most)


def escaped_within(shown: str, most: int) -> str:
    """As `escaped`, clipped to at most `most` characters without cutting through an escape."""
    room = min(most, len(shown))
    while room > 1 and len(escaped(clip(shown, room))) > most:
        room = room * 3 // 4
    return escaped(clip(shown, room))


def escaped(shown: str) -> str:
    """Visible text of one line with everything taken out that mrkdwn reads as markup."""
    plain = _EMOJI_CODE.sub("\u2236", shown)
    plain = _EDGE_UNDERSCORE.sub("\uff3f", plain.translate(_FORMATTING))
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def pieces(mrkdwn: str, most: int) -> Iterator[str]:
    """Mrkdwn in pieces of at most `most` characters: cut between lines, else between words, never in a link or escape.

    A single link or escape must be shorter than that.
    """
    while len(mrkdwn) > most:
        end = next((at for blank in "\n " if (at := mrkdwn.rfind(blank, 1, most + 1)) > 0), most)
        half = _UNFINISHED.search(mrkdwn, 0, end)
        end = half.start() if half and half.start() else end
        yield mrkdwn[:end]
        mrkdwn = mrkdwn[end:].removeprefix("\n")
    yield mrkdwn


def plain(text: str) -> str:
    """One line of untrusted text for plain_text objects, where no escape is certain to be decoded."""
    return one_line(text).replace("<", "\u2039").replace(">", "\u203a")


def mask(value: object, salt: str) -> str:
    """A personal value as cards show it: its first letter and three digits that tell two different ones apart."""
    text = one_line(str(value))
    mark = hashlib.sha256(f"{salt}\x00{value}".encode("utf-8", "backslashreplace")).hexdigest()[:3]
    return f"{text[:1]}•••{mark}" if text else ""


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 call`, `3 calls`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: "list[str] | tuple[str, ...]") -> str:
    """`A`, `A and B`, `A, B and C`."""
    head, tail = ", ".join(names[:-1]), names[-1] if names else ""
    return f"{head} and {tail}" if head else tail
