"""Every guard of the project, found in its sources: what `tests/mutants.py` takes away, one at a time.

In a script, each condition is a guard, and so is each line that answers a question by a chain of comparisons. Of a
chain every link is taken away on its own. In Python the guards before an effect are listed in `guards_python.py`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPTS = "approvals/scripts"

_CONDITION = re.compile(r"^\s*(?:if|elseif) (?P<expression>.+?) then\b")
_CHAIN = re.compile(r"^\s*(?:return (?:not )?|local \w+ = |(?P<sum>\w+) = )(?P<expression>.+)$")
_COMPARES = re.compile(r"==|~=|<=|>=|<|>|\bnot\b")
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


@dataclass(frozen=True)
class Guard:
    """One place in one file, and what stands there when the guard is taken away."""

    file: str
    line: str  # the whole line, or the source text of a guard in Python
    start: int
    end: int
    replacement: str

    @property
    def name(self) -> str:
        """What tells it from every other guard, without line numbers, which change all the time."""
        return f"{self.line} | {self.line[self.start : self.end]} -> {self.replacement}"

    def without(self, text: str) -> str:
        """The text of the file with this guard taken away."""
        if text.count(self.line) != 1:
            raise ValueError(f"{self.file} has the text {self.line!r} {text.count(self.line)} times; it must be unique.")
        changed = self.line[: self.start] + self.replacement + self.line[self.end :]
        return text.replace(self.line, changed)


def in_scripts(root: Path = ROOT) -> list[Guard]:
    """Every guard of every script, in the order of files and lines."""
    found: list[Guard] = []
    for path in sorted((root / SCRIPTS).glob("*.lua")):
        for line in path.read_text(encoding="utf-8").splitlines():
            file = f"{SCRIPTS}/{path.name}"
            found += [Guard(file, line, start, end, to) for start, end, to in _taken_away(line)]
    return found


def _taken_away(line: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, replacement) of each way to take the guard in this line away."""
    condition = _CONDITION.match(line)
    if condition is not None:
        start, end = condition.span("expression")
        yield from _links(line, start, end, whole=True)
        return
    chain = _CHAIN.match(line)
    if chain is None or line.lstrip().startswith("--"):
        return
    start, end = chain.span("expression")
    ands = split(line, start, end, " and ")
    ors = split(line, start, end, " or ")
    adds_up = chain["sum"] is not None and line[start:].startswith(f"{chain['sum']} or ")
    if adds_up or (len(ors) == 1 and len(ands) > 1 and _COMPARES.search(line[start:end])):
        yield from _links(line, start, end, whole=False)
    elif len(ors) == 1 and line[start:end].startswith("(") and _COMPARES.search(line[start:end]):
        yield from _links(line, start, end, whole=False)


def _links(line: str, start: int, end: int, *, whole: bool) -> Iterator[tuple[int, int, str]]:
    """A chain of `or` loses each link; one of `and` is never true, or does without each link."""
    inner = line[start:end]
    if inner.startswith("not (") and _closes_at_end(line, start + 4, end):
        yield from _links(line, start + 5, end - 1, whole=whole)
        return
    if inner.startswith("(") and _closes_at_end(line, start, end):
        yield from _links(line, start + 1, end - 1, whole=whole)
        return
    ors = split(line, start, end, " or ")
    if len(ors) > 1:
        for part in ors:
            yield from _links(line, *part, whole=True)
        return
    if whole:
        yield start, end, "false"
    ands = split(line, start, end, " and ")
    if len(ands) > 1:
        for first, last in ands:
            if split(line, first + 1, last - 1, " or ")[1:] and line[first] == "(":
                yield from _links(line, first, last, whole=False)
            yield first, last, "true"


def split(line: str, start: int, end: int, word: str) -> list[tuple[int, int]]:
    """The spans between `word`s that stand outside of brackets and quotes."""
    spans, depth, quoted, begin, at = [], 0, False, start, start
    while at < end:
        character = line[at]
        quoted ^= character == "'"
        depth += 0 if quoted else _BRACKETS.get(character, 0)
        if depth == 0 and not quoted and line.startswith(word, at, end):
            spans.append((begin, at))
            begin = at = at + len(word)
            continue
        at += 1
    return [*spans, (begin, end)]


def _closes_at_end(line: str, opening: int, end: int) -> bool:
    depth = 0
    for at in range(opening, end):
        depth += _BRACKETS.get(line[at], 0)
        if depth == 0:
            return at == end - 1
    return False
