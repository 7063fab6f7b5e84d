"""One card for one batch, rendered from nothing but the state of record and the law."""

from approvals.lifecycle import State
from approvals.models import BatchView, Call
from bot.agent_names import of_run
from bot.approval_words import all_come_next, nothing_beside
from bot.became_words import Around, around_of
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
    section,
)
from bot.card_parts import Frame, agents_words, call_blocks, folded, own_words
from bot.card_text import (
    HEADING,
    attention,
    deadline,
    irreversible,
    notification,
    origin,
    pending,
    request,
    settled,
    title,
    together,
)
from bot.details import fully_readable
from bot.drift_words import drift_asked
from bot.ids import FOOTER, RUN, ActionId, BatchRef
from bot.language import say, say_count
from bot.radius import radius_on
from bot.standing import Addressed, CardLaw
from bot.text import cut, inert, one_line

_FEW = 2


def render_card(view: BatchView, law: CardLaw, *, frozen: bool = False) -> Message:
    """The card as it has to look now. Equal views give equal cards. `frozen`: operators have frozen all effects."""
    around = around_of(view, frozen=frozen)
    if settled(view):
        calls = [folded(call, around) for call in view.calls]
        return Message(
            cut(notification(view), FALLBACK_TEXT), [header(title(view)), *calls, _asked(view), *_asking_again(view)]
        )
    waiting = pending(view)
    who, words = _same_who(waiting, law), _same_words(waiting)
    blocks = [header(title(view)), *_head(view, waiting, law)]
    blocks += [rich(line(leaf(who, bold=True)))] if who else []
    frame = _frame(view, waiting, around, who=who, words=words)
    for at, call in enumerate(view.calls):
        blocks += [*([divider()] if at or frame.heading else []), *call_blocks(call, law, frame)]
    blocks += [*_footer(view, waiting, around), *([rich(own_words(words))] if words else []), _asked(view)]
    if waiting:
        blocks.append(rich(line(*_for(view, law))))
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


def _head(view: BatchView, waiting: list[Call], law: CardLaw) -> list[Block]:
    """Until when, and what is hurt if it goes wrong where the heading does not say that."""
    radius = [inert(radius_on(view), 200)] if len(view.calls) == 1 and waiting else []
    parts = [*([deadline(view), *attention(view)] if waiting else []), *radius]
    found = [context(" · ".join(parts))] if parts else []
    return [*found, *([context(f"⚠ {law.switches()}")] if law.switches() else [])]


def _frame(view: BatchView, waiting: list[Call], around: Around, *, who: str, words: str) -> Frame:
    alone = len(view.calls) == 1
    heading = not alone or not waiting or len(one_line(waiting[0].content.preview.headline)) > HEADING
    of, agent, beside = len(view.calls), of_run(view.run), nothing_beside(view, waiting[:1])
    return Frame(of, heading=heading, who=not who, words=not words, alone=beside, agent=agent, around=around)


def _same_who(waiting: list[Call], law: CardLaw) -> str:
    """Who may decide, when there are several calls and it is the same for all of them."""
    said = {law.who(call.content.requirement) for call in waiting}
    return cut(one_line(said.pop()), 300) if len(said) == 1 and len(waiting) >= _FEW else ""


def _same_words(waiting: list[Call]) -> str:
    """What the agent said beside the calls, when it said the same beside all of them; then once is enough."""
    said = {agents_words(call) for call in waiting}
    return said.pop() if len(said) == 1 else ""


def _asked(view: BatchView) -> Block:
    return context(f"{request(view)} · {origin(view)}")


def _for(view: BatchView, law: CardLaw) -> list[Block]:
    who = addressed(view, law)
    mentions = [person(user) for user in who.users[:20]]
    mentions += [{"type": "usergroup", "usergroup_id": group} for group in who.usergroups[:10]]
    if not mentions and view.batch.quiet:
        return [leaf(say("Nobody is notified, since too few are awake. Whoever may decide still can."))]
    if not mentions:
        return [leaf(say("Nobody may decide this; ops must look at reviewers.toml."))]
    words: list[Block] = [leaf(f"{say('For')} ")]
    for mention in mentions:
        words += [mention, leaf(" ")]
    return words


def _mentions(view: BatchView, law: CardLaw) -> str:
    who = addressed(view, law)
    users = [f"<@{user}>" for user in who.users[:20]]
    groups = [f"<!subteam^{group}>" for group in who.usergroups[:10]]
    return f" {say('For')} {' '.join((*users, *groups))}" if users or groups else ""


def _looking(view: BatchView) -> Block:
    shown = say("I'm on it")
    label = say("{button}: say that you are looking; it decides nothing", button=shown)
    return button(shown, ActionId.ON_IT, str(batch_ref(view)), label=label)


def _footer(view: BatchView, waiting: list[Call], around: Around) -> list[Block]:
    """Controls for everything that waits, once there is more than one thing; and to say that somebody is looking."""
    if not waiting:
        return []
    if len(waiting) < _FEW:
        return [actions(FOOTER, _looking(view))]
    value, number = str(batch_ref(view)), len(waiting)
    label = say_count(number, "Reject all {number} call", "Reject all {number} calls")
    reject = button(say("Reject all {number}", number=number), ActionId.REJECT_ALL, value, style="danger", label=label)
    shown = say("Review…")
    review = button(shown, ActionId.REVIEW, value, label=say("{button} Decide each call in one window", button=shown))
    ready = [call for call in waiting if not call.refreshing and fully_readable(call)]
    deciding = [_approve_all(view, waiting, value, around)] if len(ready) == number else []
    return [divider(), actions(FOOTER, *deciding, reject, review, _looking(view))]


def _asking_again(view: BatchView) -> list[Block]:
    """What nobody decided may be asked once more, by whoever asked."""
    if view.run.canary or not any(call.state is State.EXPIRED for call in view.calls):
        return []
    shown = say("Ask again")
    label = say("{button}: everything, as a new run; for whoever asked", button=shown)
    who = f"<@{view.run.requester}>"
    said = say("Only {who} can ask again here: the whole request, as a new run in this thread.", who=who)
    return [section(said, button(shown, ActionId.ASK_AGAIN, view.run.id, label=label), RUN)]


def _approve_all(view: BatchView, waiting: list[Call], value: str, around: Around) -> Block:
    number = len(waiting)
    label = say_count(number, "Approve all {number} call", "Approve all {number} calls")
    found = button(say("Approve all {number}", number=number), ActionId.APPROVE_ALL, value, label=label)
    lost = any(map(irreversible, waiting))
    then = all_come_next(waiting, alone=nothing_beside(view, waiting), frozen=around.frozen)
    changed = drift_asked(waiting)
    parts = [*([changed] if changed else []), together(waiting, 175 - len(changed)), then]
    parts += [say("Cannot be undone")] if lost else []
    radius = cut(one_line(radius_on(view)), 60)
    title = say_count(number, "Approve {number} call: {radius}?", "Approve {number} calls: {radius}?", radius=radius)
    yes = say("Approve all {number}", number=number)
    style = "danger" if lost else "primary"
    found["confirm"] = confirm(title, f"{'. '.join(parts)}.", yes, style=style)
    return found


def batch_ref(view: BatchView) -> BatchRef:
    """The batch as this card shows it."""
    return BatchRef(view.batch.id, view.batch.generation, tuple(call.version for call in view.calls))
