"""What is said about a card that still waits: in its thread, and to those who have not answered."""

from approvals.models import BatchView
from bot.blocks import FALLBACK_TEXT, Block, Message, leaf, line, person, rich, when
from bot.card_text import pending, total
from bot.cards import addressed
from bot.standing import Addressed, CardLaw
from bot.text import count, cut, one_line

HALF, NEXT = "half", "next"
_MOST = 20


def render_reminder(view: BatchView, law: CardLaw, which: str) -> Message | None:
    """A reply in the thread; None when nothing waits any more."""
    if not pending(view):
        return None
    who = addressed(view, law) if which == HALF else next_tier(view, law)
    mentions = [person(user) for user in who.users[:_MOST]]
    mentions += [{"type": "usergroup", "usergroup_id": group} for group in who.usergroups[:_MOST]]
    why = "half of the time is over" if which == HALF else "nobody has answered, so you may decide it too"
    spaced = [part for mention in mentions for part in (mention, leaf(" "))]
    names = " ".join(
        [*(f"<@{user}>" for user in who.users[:_MOST]), *(f"<!subteam^{one}>" for one in who.usergroups[:_MOST])]
    )
    said = f"{why}: {_what(view)} waits for a decision on the card above"
    return Message(cut(f"{names} {one_line(said)}", FALLBACK_TEXT), [rich(line(*spaced, leaf(said), *_until(view)))])


def render_direct(view: BatchView, user: str, link: str | None) -> Message | None:
    """A direct message; None when nothing waits for this person any more."""
    open_ = [
        call
        for call in pending(view)
        if not any(one.reviewer == user and one.version == call.version for one in call.decisions)
    ]
    if not open_:
        return None
    said = f"{_what(view)} waits for a decision"
    card: list[Block] = [leaf(" "), {"type": "link", "url": link, "text": "Open the card"}] if link else []
    return Message(cut(f"{one_line(said)}.", FALLBACK_TEXT), [rich(line(leaf(said), *_until(view), *card))])


def next_tier(view: BatchView, law: CardLaw) -> Addressed:
    """Whoever may decide only because most of the time is over."""
    users: dict[str, None] = {}
    groups: dict[str, None] = {}
    for call in pending(view):
        before = law.addressed(call.content.requirement)
        after = law.addressed(call.content.requirement, escalated=True)
        users |= dict.fromkeys(one for one in after.users if one not in before.users and one != view.run.requester)
        groups |= dict.fromkeys(one for one in after.usergroups if one not in before.usergroups)
    return Addressed(tuple(users), tuple(groups))


def _what(view: BatchView) -> str:
    waiting = pending(view)
    amount = f", {total(waiting)}" if total(waiting) else ""
    return one_line(f"{count(len(waiting), 'call')}, {view.batch.radius}{amount}")


def _until(view: BatchView) -> list[Block]:
    by = view.batch.decide_by
    return [leaf(", until "), when(by, "{date_short_pretty} {time}"), leaf(".")] if by else [leaf(".")]
