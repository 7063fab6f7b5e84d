"""What is said about a card that still waits: in its thread, and to those who have not answered."""

from approvals.models import BatchView, Call
from bot.became_words import all_became, earlier, editor
from bot.blocks import FALLBACK_TEXT, Block, Message, leaf, line, rich, when
from bot.canary_text import canary_end
from bot.card_text import pending
from bot.language import HOLE, around, say, say_count, say_list
from bot.standing import standing
from bot.text import cut, inert, one_line
from bot.what_words import what_of
from bot.who_words import so_far

HALF, NEXT = "half", "next"
_MOST = 20
#: Different sentences about who has answered; a card has at most eight calls.
_ANSWERS = 2


def render_reminder(view: BatchView, which: str, link: str | None = None) -> Message | None:
    """A reply in the thread; None when nothing waits any more.

    Users get a direct message instead of a mention here; only usergroups whose members nobody knows are mentioned.
    """
    if not pending(view):
        return None
    groups = (view.batch.recalled if which == HALF else view.batch.called)[:_MOST]
    spaced = [part for one in groups for part in ({"type": "usergroup", "usergroup_id": one}, leaf(" "))]
    names = "".join(f"<!subteam^{one}> " for one in groups)
    said = _reminding(view, which)
    shown = rich(line(*spaced, leaf(said), *_until(view), *_card(link)))
    return Message(cut(f"{names}{inert(said)}", FALLBACK_TEXT), [shown])


def render_direct(view: BatchView, user: str, link: str | None, *, posted: bool = False) -> Message | None:
    """A direct message. Once nothing waits for this person, None, or how it ended where the message is `posted`."""
    open_ = [call for call in pending(view) if not _decided(call, user)]
    if not open_:
        over = _over(view)
        return Message(cut(inert(over), FALLBACK_TEXT), [rich(line(leaf(over), *_card(link)))]) if posted else None
    said = f"{_lapsed(open_, user)}{_waits(open_)}"
    return Message(cut(f"{inert(said)}.", FALLBACK_TEXT), [rich(line(leaf(said), *_until(view), *_card(link)))])


def _card(link: str | None) -> list[Block]:
    return [leaf(" "), {"type": "link", "url": link, "text": say("Open the card")}] if link else []


def _decided(call: Call, user: str) -> bool:
    return any(one.reviewer == user and one.version == call.version for one in call.decisions)


def _waits(calls: list[Call]) -> str:
    what = what_of(calls)
    return say_count(len(calls), "{what}: waits for a decision", "{what}: they wait for a decision", what=what)


def _lapsed(calls: list[Call], user: str) -> str:
    """To whoever has approved a version that somebody changed since: that this does not count any more."""
    changed = [call for call in calls if any(one.reviewer == user for one in call.decisions)]
    if not changed:
        return ""
    name = next(filter(None, map(editor, changed)), "")
    if name:
        said = say("What you decided does not count any more, since {name} changed it. Decide again.", name=name)
    else:
        said = say("What you decided does not count any more, since it has changed. Decide again.")
    return f"{said} "


def _over(view: BatchView) -> str:
    """Why nothing is left to do for whoever was asked: what became of it, and by whose word."""
    what = what_of(pending(view) or list(view.calls))
    if pending(view):
        return say("{what}: you have decided; somebody else must decide too. Nothing is left for you to do.", what=what)
    ended = next(filter(None, map(canary_end, view.calls)), "")
    if ended:
        return f"{what}: {ended}"
    return say("{what}: {became}. Nothing is left to do.", what=what, became=all_became(view.calls))


def _reminding(view: BatchView, which: str) -> str:
    calls = pending(view)
    answered = _answered(calls) or say("Nobody has answered.")
    if which == HALF:
        parts = [say("Half of the time is over."), answered]
    elif view.batch.quiet:
        asleep = say("Too few of those who were asked are awake.")
        parts = [asleep, _answered(calls), say("The next tier may decide too.")]
    else:
        parts = [answered, say("The next tier may decide too.")]
    return " ".join([*filter(None, parts), _waits(calls)])


def _answered(calls: list[Call]) -> str:
    """Who has decided something that counts, or did before it was changed; empty when nobody has answered."""
    counted = dict.fromkeys(so_far(call) for call in calls if standing(call).approved_by)
    if counted:
        return one_line(" ".join([*counted][:_ANSWERS]))
    before = dict.fromkeys(name for call in calls for name in earlier(call))
    if before:
        return say("{names} decided before it was changed; that does not count any more.", names=say_list([*before]))
    return ""


def _until(view: BatchView) -> list[Block]:
    by = view.batch.decide_by
    if by is None:
        return [leaf(".")]
    if len(view.calls) == 1:
        before, after = around(say(", until {when}, else nothing runs.", when=HOLE))
    else:
        before, after = around(say(", until {when}; what is undecided then does not run.", when=HOLE))
    return [leaf(before), when(by, "{date_short_pretty} {time}"), leaf(after)]
