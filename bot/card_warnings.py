"""What a reviewer must not overlook about a call: above everything else on its card."""

from collections.abc import Iterator

from approvals.models import Call
from bot.details import fully_readable
from bot.language import say, say_count
from bot.lookalikes import Lookalike, lookalikes
from bot.standing import law_changed
from bot.text import cut, hidden_warning, one_line

_NAMED = 2


def warnings(call: Call, law: str) -> list[str]:
    """One sentence each, the gravest first. `law` is the version in force."""
    content, preview = call.content, call.content.preview
    found = []
    if content.problem:
        found.append(one_line(content.problem))
    if preview.generic:
        found.append(say("Nobody wrote a preview for this tool; its fields are shown as they are."))
    found += [imitating(lookalikes(texts(call))), hidden_warning(texts(call))]
    if call.refreshing:
        found.append(say("An edit is being checked; only a rejection is possible meanwhile."))
    if not fully_readable(call):
        found.append(say("Too long to be read in full here, so it cannot be approved. Reject it, or ask for less."))
    if content.previous:
        found.append(_changed(call))
    found.append(law_changed(call, law))
    return [text for text in found if text]


def texts(call: Call) -> Iterator[str]:
    """Everything a reviewer could be shown of a call."""
    content, preview = call.content, call.content.preview
    yield from (content.requested, content.arguments, content.reason or "", preview.headline, preview.body or "")
    yield from (content.requirement.radius, *preview.impact, *preview.details)
    yield from (str(part) for row in preview.rows or preview.sample for cell in row.items() for part in cell)


def imitating(found: tuple[Lookalike, ...]) -> str:
    """That addresses or links may imitate others. Domains only: what stands before an @ may be somebody's name."""
    if not found:
        return ""
    hosts = list(dict.fromkeys(f"{one_line(one.host)}{_seeming(one)}" for one in found if one.host))
    named = f" {cut('; '.join(hosts[:_NAMED]), 100)}." if hosts else ""
    said = say_count(
        len(found),
        "{number} address or link has unusual letters and may imitate another.",
        "{number} addresses or links have unusual letters and may imitate others.",
    )
    return f"{said}{named}"


def _seeming(one: Lookalike) -> str:
    return f", {say('looks like {name}', name=one_line(one.seems.rpartition('@')[2]))}" if one.seems else ""


def _changed(call: Call) -> str:
    changes = one_line("; ".join(call.content.previous))
    editor = next(
        (one.name for one in call.decisions if one.verdict == "edit" and one.version == call.version - 1), None
    )
    if editor and not call.refreshing:
        return say("Edited by {name}: {changes}", name=cut(one_line(editor), 60), changes=changes)
    return say("Changed: {changes}", changes=changes)
