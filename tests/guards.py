"""Every guard of the project, found in its sources: what `tests/mutants.py` takes away, one at a time.

In a script, each condition is a guard, and so is each line that answers a question by a chain of comparisons. Of a
chain every link is taken away on its own. In Python the guards before an effect are listed in `guards_python.py`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from guards_python import GUARDS

ROOT = Path(__file__).parents[1]
SCRIPTS = "approvals/scripts"

_CONDITION = re.compile(r"^\s*(?:if|elseif) (?P<expression>.+?) then\b")
_CHAIN = re.compile(r"^\s*(?:return |local \w+ = |(?P<sum>\w+) = )(?P<expression>.+)$")
_COMPARES = re.compile(r"==|~=|<=|>=|<|>|\bnot\b")
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


@dataclass(frozen=True)
class Guard:
    """One place in one file, and what stands there when the guard is taken away. `nth` of equal lines."""

    file: str
    line: str  # the whole line, or the source text of a guard in Python
    start: int
    end: int
    replacement: str
    offset: int = field(compare=False)
    nth: int = 1

    @property
    def place(self) -> str:
        """Where it stands: the line without its indentation, since line numbers change all the time."""
        again = f" (number {self.nth})" if self.nth > 1 else ""
        return " ".join(self.line.split()) + again

    @property
    def change(self) -> str:
        """What is taken away, and what stands there then."""
        gone = " ".join(self.line[self.start : self.end].split())
        return f"{gone} → {' '.join(self.replacement.split()) or 'nothing'}"

    @property
    def name(self) -> str:
        """What tells it from every other guard."""
        return f"{self.file} | {self.place} | {self.change}"

    def without(self, text: str) -> str:
        """The text of the file with this guard taken away."""
        start, end = self.offset + self.start, self.offset + self.end
        if text[start:end] != self.line[self.start : self.end]:
            raise ValueError(f"{self.file} changed while its guards were looked at; run it again.")
        return text[:start] + self.replacement + text[end:]


def all_guards(root: Path = ROOT) -> list[Guard]:
    """Those of the scripts, then those of Python."""
    return [*in_scripts(root), *in_python(root)]


def in_python(root: Path = ROOT) -> list[Guard]:
    """The listed guards; one whose text is gone, or stands there twice, is an error and not a guard less."""
    found: list[Guard] = []
    for file, text, replacement in GUARDS:
        source = (root / file).read_text(encoding="utf-8")
        if source.count(text) != 1:
            raise ValueError(f"{file} has {source.count(text)} times {text!r}; set tests/guards_python.py right.")
        found.append(Guard(file, text, 0, len(text), replacement, source.index(text)))
    return found


def in_scripts(root: Path = ROOT) -> list[Guard]:
    """Every guard of every script, in the order of files and lines."""
    found: list[Guard] = []
    for path in sorted((root / SCRIPTS).glob("*.lua")):
        seen, offset = Counter[str](), 0
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            seen[line.strip()] += 1
            place = (offset, seen[line.strip()])
            ways = _taken_away(line.rstrip("\n"))
            found += [Guard(f"{SCRIPTS}/{path.name}", line.rstrip("\n"), *way, *place) for way in ways]
            offset += len(line)
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
    if line.startswith("not (", start) and _closes_at_end(line, start + 4, end):
        start, end = start + 5, end - 1
    ands = split(line, start, end, " and ")
    ors = split(line, start, end, " or ")
    adds_up = chain["sum"] is not None and line[start:].startswith(f"{chain['sum']} or ")
    if adds_up or (len(ors) == 1 and len(ands) > 1 and _COMPARES.search(line[start:end])):
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
