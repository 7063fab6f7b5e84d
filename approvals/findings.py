"""What a check found, as a process tells it to people and to `vobo doctor`."""

import json
import sys
from collections.abc import Iterable
from enum import StrEnum

from pydantic import TypeAdapter

from approvals.errors import ApprovalsError
from policies.law import LawRefused
from policies.plain_text import visible_json, visible_lines
from policies.values import Frozen


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"  # as it should be
    WARNING = "warning"  # works, but may surprise
    FAILURE = "failure"  # something does not work until somebody does something


class Finding(Frozen):
    """One thing that was looked at: what about, what there is, and what to do. Holds no secret, nothing of a call."""

    level: Level
    about: str
    sentence: str
    fix: str = ""

    def __str__(self) -> str:
        return visible_lines(f"{self.sentence} {self.fix}".strip())


_FINDINGS = TypeAdapter(list[Finding])


def fine(about: str, sentence: str) -> Finding:
    """It is as it should be."""
    return Finding(level=Level.OK, about=about, sentence=sentence)


def warning(about: str, sentence: str, fix: str = "") -> Finding:
    """It works, but may surprise."""
    return Finding(level=Level.WARNING, about=about, sentence=sentence, fix=fix)


def failure(about: str, sentence: str, fix: str = "") -> Finding:
    """It does not work."""
    return Finding(level=Level.FAILURE, about=about, sentence=sentence, fix=fix)


def unprepared(refused: ApprovalsError | LawRefused) -> list[Finding]:
    """Why settings or law cannot be used, after which nothing else can be looked at."""
    if isinstance(refused, LawRefused):
        return [failure("law", str(refused))]
    return [failure("settings", line) for line in str(refused).splitlines()]


def report(found: list[Finding], *, as_json: bool, well: str, surprise: str = "Note") -> int:
    """Tell whoever asked a process with `--check`: JSON, or a line for what is not as it should be, and `well`.

    Returns the exit code: 1 after a failure.
    """
    failed = worst(found) is Level.FAILURE
    if as_json:
        sys.stdout.write(f"{to_json(found)}\n")
        return int(failed)
    for one in found:
        if one.level is not Level.OK:
            sys.stderr.write(f"{f'{surprise}: ' if one.level is Level.WARNING else ''}{one}\n")
    if not failed:
        sys.stdout.write(f"{well}\n")
    return int(failed)


def worst(found: Iterable[Finding]) -> Level:
    """The level of the worst finding; OK when there is none."""
    levels = list(Level)
    return max((one.level for one in found), key=levels.index, default=Level.OK)


def to_json(found: Iterable[Finding]) -> str:
    """The findings as one JSON array, each with level, about, sentence and fix."""
    return visible_json(json.dumps([one.model_dump() for one in found], ensure_ascii=False))


def from_json(text: str) -> list[Finding]:
    """What `to_json` wrote.

    Raises:
        ValueError: it is something else.
    """
    return _FINDINGS.validate_json(text)
