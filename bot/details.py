"""Everything a decision covers, readable in pages: nothing is left out, nothing is masked."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import ValidationError

from approvals.models import Call, CallContent
from approvals.readable import readable_in_full
from bot.agent_names import of_call
from bot.blocks import Block, bullets, leaf, line, preformatted, rich, when
from bot.card_text import limits_of, undo_of
from bot.common_reasons import shown_reason
from bot.drift_words import drift_rows, look_lines
from bot.language import HOLE, around, say
from bot.lookalikes import lookalikes
from bot.standing import law_changed
from bot.text import hidden_warning, one_line, visible
from policies.money import Money
from policies.strict_json import ArgumentsRefused, read_json

#: A page of a modal stays below these; Slack takes 100 blocks and 250 kB.
PAGE_BLOCKS = 80
PAGE_BYTES = 150_000
_CHUNK = 2_500


class Part(NamedTuple):
    """A titled text of the details."""

    title: str
    text: str


def fully_readable(call: Call) -> bool:
    """Whether everything that an approval would cover can be read."""
    return readable_in_full(call.content)


class Around(NamedTuple):
    """What the details tell beside the call itself: the requester's words, the law in force, when the card came."""

    request: str = ""
    law: str = ""
    posted_at: int | None = None


def detail_pages(call: Call, around_it: Around | None = None) -> list[list[Block]]:
    """The details of a call, page by page."""
    beside = around_it or Around()
    parts = [block for part in _parts(call, beside) for block in _blocks(part)]
    blocks = [*_now(call, beside), *parts, _history(call)]
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


def _now(call: Call, beside: Around) -> list[Block]:
    """Whether anything has changed since it was asked, as far as that is known."""
    changed = law_changed(call, beside.law)
    said = [*look_lines(call), *([line(leaf(f"⚠ {changed}", bold=True))] if changed else [])]
    again = say("It is looked up again before the call runs; if it differs, the call comes back here.")
    if call.version > 1:
        looked = leaf(say("Our data as it was when version {number} was made.", number=call.version))
        return [rich(*said, line(looked, leaf(f" {again}")))]
    if beside.posted_at is None:
        return [rich(*said)] if said else []
    before, after = around(say("Our data as it was just before the card was posted, {time}.", time=HOLE))
    at = when(beside.posted_at, "{date_short_pretty} {time}")
    return [rich(*said, line(leaf(before), at, leaf(f"{after} {again}")))]


def _parts(call: Call, beside: Around) -> Iterator[Part]:
    """What is short and weighs most comes first; what is long follows, to the last row."""
    content, preview = call.content, call.content.preview
    yield Part(say("What would happen"), preview.headline)
    yield Part(say("Changed since it was proposed"), drift_rows(call))
    yield Part(say("Changed since the version before"), "\n".join(content.previous))
    yield Part(say("Why it could not be judged"), content.problem or "")
    yield Part(say("Unusual letters"), _unusual(content))
    yield Part(say("Undo"), undo_of(call))
    yield Part(say("Impact"), "\n".join(preview.impact))
    yield Part(say("Cost and limits"), limits_of(content.requirement, len(content.requirement.spends)))
    yield Part(say("Why a person is asked"), "\n".join(content.requirement.reasons))
    yield Part(say("Text"), preview.body or "")
    yield Part(say("What was asked, in the requester's own words"), beside.request)
    yield Part(say("The agent's own words, not checked"), content.reason or "")
    if preview.precondition:
        yield Part(say("Runs only while true"), preview.precondition.sentence)
    yield Part(say("Arguments that would run"), readable(content.arguments))
    if content.requested != content.arguments:
        yield Part(say("What the agent asked for, as it wrote it"), content.requested)
    yield Part(say("Rows"), "\n".join(_row(row) for row in preview.rows or preview.sample))
    yield Part(say("More"), "\n".join(preview.details))
    if preview.precondition:
        rows = "\n".join(f"{k}: {_row(row)}" for k, row in preview.precondition.rows.items())
        yield Part(say("Rows it rests on"), rows)
    yield Part(say("What our own data says"), "" if content.facts == "{}" else readable(content.facts))
    yield Part(say("What the agent looked up before"), "\n".join(content.lookups))
    yield Part(say("Identity"), _identity(call))


def _unusual(content: CallContent) -> str:
    """What is hidden, and which addresses and links may imitate others, each as machines write it."""
    texts = (content.arguments, content.requested, content.preview.model_dump_json())
    lines = [hidden_warning(texts[:1])]
    for one in lookalikes((*texts[:2], *_cells(content))):
        parts = [one.written, *([one.host] if one.host else []), "+".join(one.scripts).lower()]
        seems = f" · {say('looks like {name}', name=one.seems)}" if one.seems else ""
        lines.append(f"{' · '.join(parts)}{seems}")
    return "\n".join(text for text in lines if text)


def _cells(content: CallContent) -> Iterator[str]:
    for row in content.preview.rows or content.preview.sample:
        yield from (str(value) for value in row.values())


def _identity(call: Call) -> str:
    needs = call.content.requirement
    lines = {
        say("tool"): call.tool,
        say("agent"): f"{of_call(call)} ({call.content.agent_version})",
        say("blast radius"): needs.radius,
        say("resources"): ", ".join(needs.resources) or say("none named"),
        say("call"): say("{key}, version {number}", key=call.key, number=call.version),
        say("idempotency key"): call.idempotency_key,
        say("policy"): needs.law,
        say("seal"): call.seal,
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
    """An amount as people read it; None when it is something else."""
    try:
        return str(Money.model_validate(value))
    except ValidationError:
        return None


def _row(row: Any) -> str:
    return " · ".join(f"{column} {value}" for column, value in row.items())


def _blocks(part: Part) -> Iterator[Block]:
    text = visible(part.text)
    if not text.strip():
        return
    for number, chunk in enumerate(_chunks(text)):
        title = part.title if number == 0 else say("{title} (continued)", title=part.title)
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
        why = f": {one_line(shown_reason(decision.reason))[:500]}" if decision.reason else ""
        said = say(
            "version {number}: {verdict} by {name}",
            number=decision.version,
            verdict=_verdict(decision.verdict),
            name=one_line(decision.name),
        )
        lines.append(line(leaf(f"{said}{why}, "), when(decision.at, "{date_short_pretty} {time}")))
    title = line(leaf(say("Decisions"), bold=True))
    return rich(title, bullets(lines)) if lines else rich(title, line(leaf(say("None yet."))))


def _verdict(verdict: str) -> str:
    return {"approve": say("approved"), "edit": say("edited"), "reject": say("rejected")}.get(verdict, verdict)
