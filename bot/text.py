"""Text of strangers made inert: nothing in it mentions, links, formats, or hides."""

import hashlib
import re
import unicodedata

from policies.plain_text import is_hidden

HIDDEN_WARNING = "Contains characters that are invisible or reorder text; each is shown as ⟨U+…⟩."

#: Opens a visible escape, so a literal one is escaped too: what is read is unambiguous.
_OPEN = "⟨"
_EMOJI_SELECTOR = "\ufe0f"
#: Look-alikes that Slack does not read as formatting. (Nothing escapes formatting in mrkdwn.)
_FORMATTING = str.maketrans({"*": "\u2217", "~": "\u223c", "`": "\u02cb"})
_EDGE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_PERHAPS_HIDDEN = re.compile(r"[^\n\t -~]")
_EMOJI_CODE = re.compile(r":(?=[a-z0-9_+'\-]+:)")


def visible(text: str) -> str:
    """The text with every hidden character spelled out as ⟨U+202E⟩; line breaks and tabs stay."""
    return _PERHAPS_HIDDEN.sub(
        lambda found: f"{_OPEN}U+{ord(found[0]):04X}⟩" if _escaped(text, found.start(), found[0]) else found[0], text
    )


def hides(text: str) -> bool:
    """Whether `visible` has to spell anything out that a reader would not see."""
    found = _PERHAPS_HIDDEN.finditer(text)
    return any(match[0] != _OPEN and _escaped(text, match.start(), match[0]) for match in found)


def _escaped(text: str, at: int, char: str) -> bool:
    if char == _EMOJI_SELECTOR and at and unicodedata.category(text[at - 1]) in {"So", "Sm", "Po"}:
        return False  # it asks for the coloured form of the sign before it; everybody sees that
    return char == _OPEN or is_hidden(char)


def one_line(text: str) -> str:
    """Visible text on one line; line breaks show as ⏎."""
    return " ⏎ ".join(part.strip() for part in visible(text).replace("\t", " ").split("\n") if part.strip())


def clip(text: str, most: int) -> str:
    """At most `most` characters: both ends stay and the gap is counted; no tail hides behind a long head."""
    if len(text) <= most:
        return text
    marker = f" […{len(text) - most:,}+ characters more…] "
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
