"""The readable default for calls whose team wrote no preview: fields and values as they are, never JSON."""

from collections.abc import Iterator

from approvals.preview import Preview
from policies.arguments import ArgumentsRefused, read_json

LONGEST_VALUE = 300
MOST_LINES = 200


def generic_preview(tool: str, arguments: str) -> Preview:
    """What a reviewer reads about a call of `tool` with these argument texts when nobody wrote a preview."""
    words = tool.replace("_", " ")
    try:
        lines = list(_lines(read_json(arguments), ""))
    except ArgumentsRefused as refused:
        lines = [f"The arguments cannot be read: {refused.sentence}"]
    hidden = len(lines) - MOST_LINES
    if hidden > 0:
        # Approving what cannot be reached is not offered: the caller refuses such a call.
        lines = [*lines[:MOST_LINES], f"... and {hidden} more values"]
    return Preview(
        headline=f"{words[:1].upper()}{words[1:]}",
        impact=("No preview was written for this tool; these are its arguments as they are.",),
        details=tuple(lines),
        generic=True,
    )


def shows_everything(preview: Preview) -> bool:
    """Whether a generic preview could list all of the arguments."""
    return not preview.generic or len(preview.details) <= MOST_LINES


def _lines(value: object, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, element in value.items():
            yield from _lines(element, f"{path} {key.replace('_', ' ')}".strip())
        if not value:
            yield f"{path or 'arguments'}: none"
    elif isinstance(value, list):
        for index, element in enumerate(value, start=1):
            yield from _lines(element, f"{path} {index}".strip())
        if not value:
            yield f"{path or 'arguments'}: none"
    else:
        yield from _value(path, value)


def _value(path: str, value: object) -> Iterator[str]:
    """One line for a short value, several numbered ones for a long text, so that all of it can be read."""
    text = _words(value)
    pieces = [text[start : start + LONGEST_VALUE] for start in range(0, len(text), LONGEST_VALUE)] or [""]
    if len(pieces) == 1:
        yield f"{path or 'value'}: {pieces[0]}"
        return
    for number, piece in enumerate(pieces, start=1):
        yield f"{path or 'value'} ({number} of {len(pieces)}): {piece}"


def _words(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
