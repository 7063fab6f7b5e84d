"""What is said about a card that still waits: in its thread, and to those who have not answered."""

from approvals.lifecycle import State
from approvals.models import BatchView, Call
from bot.blocks import FALLBACK_TEXT, Block, Message, leaf, line, rich, when
from bot.card_text import NAME, pending, total
from bot.language import HOLE, around, say, say_count, say_list
from bot.text import cut, inert, one_line

HALF, NEXT = "half", "next"
_MOST = 20
#: Characters of the blast radius, which a rule may have made of somebody's data.
_RADIUS = 200


def render_reminder(view: BatchView, which: str) -> Message | None:
    """A reply in the thread; None when nothing waits any more.

    Users get a direct message instead of a mention here; only usergroups whose members nobody knows are mentioned.
    """
    if not pending(view):
        return None
    groups = (view.batch.recalled if which == HALF else view.batch.called)[:_MOST]
    spaced = [part for one in groups for part in ({"type": "usergroup", "usergroup_id": one}, leaf(" "))]
    names = "".join(f"<!subteam^{one}> " for one in groups)
    said = _reminding(view, which)
    return Message(cut(f"{names}{inert(said)}", FALLBACK_TEXT), [rich(line(*spaced, leaf(said), *_until(view)))])


def render_direct(view: BatchView, user: str, link: str | None, *, posted: bool = False) -> Message | None:
    """A direct message. Once nothing waits for this person, None, or how it ended where the message is `posted`."""
    card: list[Block] = [leaf(" "), {"type": "link", "url": link, "text": say("Open the card")}] if link else []
    open_ = [call for call in pending(view) if not _decided(call, user)]
    if not open_:
        over = _over(view, user)
        return Message(cut(inert(over), FALLBACK_TEXT), [rich(line(leaf(over), *card))]) if posted else None
    said = say_count(
        len(open_),
        "{number} call, {what}, waits for a decision",
        "{number} calls, {what}, wait for a decision",
        what=_what(view),
    )
    return Message(cut(f"{inert(said)}.", FALLBACK_TEXT), [rich(line(leaf(said), *_until(view), *card))])


def _decided(call: Call, user: str) -> bool:
    return any(one.reviewer == user and one.version == call.version for one in call.decisions)


def _over(view: BatchView, user: str) -> str:
    """Why nothing is left for this person to do."""
    what = _what(view)
    if pending(view):
        return say("{what}: you have decided; somebody else must decide too. Nothing is left for you to do.", what=what)
    by = {one.reviewer: cut(one_line(one.name), NAME) for call in view.calls for one in call.decisions}
    if user in by:
        return say("{what}: decided, also by you. Nothing is left to do.", what=what)
    if by:
        return say("{what}: decided by {names}. Nothing is left to do.", what=what, names=say_list(list(by.values())))
    if any(call.state is State.EXPIRED for call in view.calls):
        return say("{what}: nobody decided in time. Nothing is left to do.", what=what)
    return say("{what}: this was withdrawn. Nothing is left to do.", what=what)


def _reminding(view: BatchView, which: str) -> str:
    number, what = len(pending(view)), _what(view)
    if which == HALF:
        return say_count(
            number,
            "half of the time is over: {number} call, {what}, waits for a decision on the card above",
            "half of the time is over: {number} calls, {what}, wait for a decision on the card above",
            what=what,
        )
    if view.batch.quiet:
        return say_count(
            number,
            "too few of those who were asked are awake, so you may decide it too: {number} call, {what}, waits on the"
            " card above",
            "too few of those who were asked are awake, so you may decide too: {number} calls, {what}, wait on the"
            " card above",
            what=what,
        )
    return say_count(
        number,
        "nobody has answered, so you may decide it too: {number} call, {what}, waits on the card above",
        "nobody has answered, so you may decide too: {number} calls, {what}, wait on the card above",
        what=what,
    )


def _what(view: BatchView) -> str:
    amount = total(pending(view) or list(view.calls))
    return one_line(f"{cut(view.batch.radius, _RADIUS)}, {amount}" if amount else cut(view.batch.radius, _RADIUS))


def _until(view: BatchView) -> list[Block]:
    by = view.batch.decide_by
    if by is None:
        return [leaf(".")]
    before, after = around(say(", until {when}.", when=HOLE))
    return [leaf(before), when(by, "{date_short_pretty} {time}"), leaf(after)]
