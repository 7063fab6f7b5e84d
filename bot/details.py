"""Everything a decision covers, readable in pages: nothing is left out, nothing is masked."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import ValidationError

from approvals.models import Call
from bot.blocks import Block, bullets, leaf, line, preformatted, rich, when
from bot.text import one_line, visible
from policies.money import Money
from policies.strict_json import ArgumentsRefused, read_json

#: A page of a modal stays below these; Slack takes 100 blocks and 250 kB.
PAGE_BLOCKS = 80
PAGE_BYTES = 150_000
#: Nobody reads more than this, so what is longer cannot be approved. It is some forty pages.
MOST_CHARACTERS = 400_000
_CHUNK = 2_500


class Part(NamedTuple):
    """A titled text of the details."""

    title: str
    text: str


def fully_readable(call: Call) -> bool:
    """Whether everything that an approval would cover can be read."""
    content = call.content
    size = len(content.arguments) + len(content.requested) + len(content.facts) + len(content.preview.model_dump_json())
    return size <= MOST_CHARACTERS


def detail_pages(call: Call) -> list[list[Block]]:
    """The details of a call, page by page."""
    blocks = [block for part in _parts(call) for block in _blocks(part)] + [_history(call)]
    pages: list[list[Block]] = [[]]
    size = 0
    for block in blocks:
        weight = len(json.dumps(block))
        if pages[-1] and (len(pages[-1]) >= PAGE_BLOCKS or size + weight > PAGE_BYTES):
            pages.append([])
            size = 0
        pages[-1].append(block)
        size += weight
    return pages


def _parts(call: Call) -> Iterator[Part]:
    content, preview = call.content, call.content.preview
    yield Part("What would happen", preview.headline)
    yield Part("Why it could not be judged", content.problem or "")
    yield Part("Arguments that would run", readable(content.arguments))
    if content.requested != content.arguments:
        yield Part("What the agent asked for, as it wrote it", content.requested)
    yield Part("Text", preview.body or "")
    yield Part("Impact", "\n".join(preview.impact))
    yield Part("Rows", "\n".join(_row(row) for row in preview.rows or preview.sample))
    yield Part("More", "\n".join(preview.details))
    if preview.precondition:
        yield Part("Runs only while this holds", preview.precondition.sentence)
        yield Part("Rows it rests on", "\n".join(f"{k}: {_row(row)}" for k, row in preview.precondition.rows.items()))
    yield Part("What our own data says", "" if content.facts == "{}" else readable(content.facts))
    yield Part("Why a person is asked", "\n".join(content.requirement.reasons))
    yield Part("Undo", content.requirement.undo or "Cannot be undone.")
    yield Part("The agent's own words, not checked", content.reason or "")
    yield Part("What the agent looked up before", "\n".join(content.lookups))
    yield Part("Changed since the version before", "\n".join(content.previous))
    yield Part("Identity", _identity(call))


def _identity(call: Call) -> str:
    lines = {
        "tool": call.tool,
        "agent": f"{call.agent} ({call.content.agent_version})",
        "blast radius": call.content.requirement.radius,
        "resources": ", ".join(call.content.requirement.resources) or "none named",
        "call": f"{call.key}, version {call.version}",
        "idempotency key": call.idempotency_key,
        "law": call.content.requirement.law,
        "seal": call.seal,
    }
    return "\n".join(f"{name}: {value}" for name, value in lines.items())


def readable(text: str) -> str:
    """JSON as names and values, one to a line; text that is no JSON stays as it is."""
    try:
        parsed = read_json(text)
    except ArgumentsRefused:
        return text
    return "\n".join(f"{name or 'value'}: {value}" for name, value in _leaves(parsed, ""))


def _leaves(value: Any, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and (amount := _money(value)):
        yield at, amount
    elif isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{at} / {name}" if at else str(name))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{at} {index + 1}".strip())
    else:
        yield at, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _money(value: dict[str, Any]) -> str | None:
    """An amount as people read it, and as it is stored; None when it is something else."""
    try:
        return f"{Money.model_validate(value)} ({value['minor']} minor units)"
    except ValidationError:
        return None


def _row(row: Any) -> str:
    return " · ".join(f"{column} {value}" for column, value in row.items())


def _blocks(part: Part) -> Iterator[Block]:
    text = visible(part.text)
    if not text.strip():
        return
    for number, chunk in enumerate(_chunks(text)):
        title = part.title if number == 0 else f"{part.title} (continued)"
        yield rich(line(leaf(title, bold=True)), preformatted(chunk))


def _chunks(text: str) -> Iterator[str]:
    """Pieces that Slack takes, ending where a line ends wherever one does."""
    while len(text) > _CHUNK:
        end = text.rfind("\n", 1, _CHUNK) + 1 or _CHUNK
        yield text[:end]
        text = text[end:]
    yield text


def _history(call: Call) -> Block:
    lines = []
    for decision in call.decisions:
        why = f": {one_line(decision.reason)[:500]}" if decision.reason else ""
        words = leaf(f"version {decision.version}: {decision.verdict} by {one_line(decision.name)}{why}, ")
        lines.append(line(words, when(decision.at, "{date_short_pretty} {time}")))
    title = line(leaf("Decisions", bold=True))
    return rich(title, bullets(lines)) if lines else rich(title, line(leaf("None yet.")))
