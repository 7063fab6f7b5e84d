"""One card for one batch, rendered from nothing but the state of record and the law."""

from approvals.lifecycle import State
from approvals.models import BatchView, Call
from bot.blocks import (
    FALLBACK_TEXT,
    Block,
    Message,
    actions,
    button,
    confirm,
    context,
    divider,
    header,
    leaf,
    line,
    person,
    rich,
)
from bot.card_parts import call_blocks, folded
from bot.card_text import attention, deadline, notification, origin, pending, settled, title, total
from bot.details import fully_readable
from bot.ids import FOOTER, RUN, ActionId, BatchRef
from bot.standing import Addressed, CardLaw
from bot.text import count, cut

_FEW = 2


def render_card(view: BatchView, law: CardLaw) -> Message:
    """The card as it has to look now. Equal views give equal cards."""
    if settled(view):
        return Message(
            cut(notification(view), FALLBACK_TEXT),
            [header(title(view)), *map(folded, view.calls), _origin(view), *_asking_again(view)],
        )
    waiting = pending(view)
    blocks = [header(title(view)), _origin(view)]
    if waiting:
        blocks.append(rich(line(*_for(view, law))))
    if law.switches():
        blocks.append(context(f"⚠ {law.switches()}"))
    for call in view.calls:
        blocks += [divider(), *call_blocks(call, law, of=len(view.calls))]
    blocks += _footer(view, waiting)
    return Message(cut(f"{notification(view)}{_mentions(view, law)}", FALLBACK_TEXT), blocks)


def addressed(view: BatchView, law: CardLaw) -> Addressed:
    """Whom the card interrupts, each once: as it was counted, else everybody entitled but the requester."""
    if view.batch.notify is not None:
        groups = tuple(slack_id for slack_id in view.batch.notify if slack_id.startswith("S"))
        return Addressed(tuple(one for one in view.batch.notify if one not in groups), groups)
    found = [law.addressed(call.content.requirement) for call in pending(view)]
    users = dict.fromkeys(user for one in found for user in one.users if user != view.run.requester)
    usergroups = dict.fromkeys(group for one in found for group in one.usergroups)
    return Addressed(tuple(users), tuple(usergroups))


def _origin(view: BatchView) -> Block:
    parts = [origin(view)]
    if pending(view):
        parts += [deadline(view), *attention(view)]
    return context(" · ".join(parts))


def _for(view: BatchView, law: CardLaw) -> list[Block]:
    who = addressed(view, law)
    mentions = [person(user) for user in who.users[:20]]
    mentions += [{"type": "usergroup", "usergroup_id": group} for group in who.usergroups[:10]]
    words: list[Block] = (
        [leaf("For ")] if mentions else [leaf("Nobody may decide this; ops must look at reviewers.toml.")]
    )
    for mention in mentions:
        words += [mention, leaf(" ")]
    return words


def _mentions(view: BatchView, law: CardLaw) -> str:
    who = addressed(view, law)
    users = [f"<@{user}>" for user in who.users[:20]]
    groups = [f"<!subteam^{group}>" for group in who.usergroups[:10]]
    return f" For {' '.join((*users, *groups))}" if users or groups else ""


def _footer(view: BatchView, waiting: list[Call]) -> list[Block]:
    """Controls for everything that waits, once there is more than one thing; and to say that somebody is looking."""
    value = str(batch_ref(view))
    looking = button("I'm on it", ActionId.ON_IT, value, label="Say that you are looking; it decides nothing")
    if not waiting:
        return []
    if len(waiting) < _FEW:
        return [actions(FOOTER, looking)]
    number = count(len(waiting), "call")
    reject = button(
        f"Reject all {len(waiting)}", ActionId.REJECT_ALL, value, style="danger", label=f"Reject all {number}"
    )
    review = button("Review…", ActionId.REVIEW, value, label="Decide each call in one window")
    ready = [call for call in waiting if not call.refreshing and fully_readable(call)]
    deciding = [_approve_all(view, waiting, value)] if len(ready) == len(waiting) else []
    return [divider(), actions(FOOTER, *deciding, reject, review, looking)]


def _asking_again(view: BatchView) -> list[Block]:
    """What nobody decided may be asked once more, by whoever asked."""
    if not any(call.state is State.EXPIRED for call in view.calls):
        return []
    return [actions(RUN, button("Ask again", ActionId.ASK_AGAIN, view.run.id, label="Ask the agent the same again"))]


def _approve_all(view: BatchView, waiting: list[Call], value: str) -> Block:
    number = count(len(waiting), "call")
    amount = f", together {total(waiting)}" if total(waiting) else ""
    found = button(f"Approve all {len(waiting)}", ActionId.APPROVE_ALL, value, label=f"Approve all {number}")
    found["confirm"] = confirm(f"Approve {number}?", f"{number}{amount}, {view.batch.radius}.", "Approve all")
    return found


def batch_ref(view: BatchView) -> BatchRef:
    """The batch as this card shows it."""
    return BatchRef(view.batch.id, view.batch.generation, tuple(call.version for call in view.calls))
