"""The Home tab of one reviewer: what waits for them, by deadline, and what they decided lately. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from approvals.inbox import digest
from approvals.lifecycle import State
from approvals.models import BatchView, Call, Decision
from bot.blocks import (
    Block,
    actions,
    bullets,
    button,
    context,
    divider,
    header,
    leaf,
    line,
    option,
    person,
    rich,
    section,
    when,
)
from bot.card_status import ending, status
from bot.card_text import NAME, total
from bot.common_reasons import shown_reason
from bot.home_state import BACK, DUE, HERE, NEXT, RADIUS, REQUESTER, HomeState, option_value
from bot.ids import ActionId
from bot.language import HOLE, around, say, say_count
from bot.modals import View
from bot.radius import radius_of
from bot.text import cut, one_line
from bot.who_words import so_far

#: Cards on one page: with the filters and what was decided lately they stay below Slack's 100 blocks.
PAGE = 20
_HEADLINES = 3
_HEADLINE = 200
_RADIUS = 150
_CARRIED_OUT = frozenset({State.APPROVED, State.EXECUTING, State.SUCCEEDED, State.FAILED, State.UNKNOWN})
#: Slack takes a hundred options; one stands for all, and one for what was chosen and is gone.
_OPTIONS = 98


@dataclass(frozen=True, slots=True)
class Waiting:
    """One card: `calls` are those this person may decide; `over_limit`: they may not approve all of these."""

    view: BatchView
    calls: tuple[Call, ...]
    link: str | None = None
    over_limit: bool = False


@dataclass(frozen=True, slots=True)
class Lately:
    """One call this person decided, as it is now."""

    call: Call
    decision: Decision
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Home:
    """Everything the tab shows. `waiting_in_all` counts without the filters, `matching` with them.

    `reviewer`: whether the law names this person at all; `requesters` are ids and names.
    """

    state: HomeState
    waiting_in_all: int = 0
    matching: int = 0
    waiting: Sequence[Waiting] = ()
    lately: Sequence[Lately] = ()
    radii: Sequence[str] = ()
    requesters: Sequence[tuple[str, str]] = ()
    reviewer: bool = True
    switches: str = ""


def render_home(home: Home) -> View:
    """The view as `views.publish` takes it. Equal homes give equal views."""
    blocks = [header(say("Your inbox")), _heading(home)]
    if home.switches:
        blocks.append(context(f"⚠ {home.switches}"))
    if home.waiting_in_all or home.state.narrowed:
        blocks += _filters(home)
    blocks += _pages(home)
    if home.lately:
        blocks += [divider(), header(say("You decided lately")), *map(_decided, home.lately)]
    return _view(blocks, home.state)


def render_outsider() -> View:
    """For whoever is no full member: a sentence and no data."""
    return _sentence(say("Only full members of this workspace have an inbox here."))


def render_unavailable() -> View:
    """For somebody whom Slack does not vouch for at the moment."""
    return _sentence(say("Slack could not say who you are just now. Open this tab again in a moment."))


def _sentence(said: str) -> View:
    return _view([rich(line(leaf(said)))], HomeState())


def _view(blocks: list[Block], state: HomeState) -> View:
    return {"type": "home", "callback_id": "home", "blocks": blocks, "private_metadata": state.written()}


def _heading(home: Home) -> Block:
    refresh = button(say("Refresh"), ActionId.HOME_PAGE, HERE, label=say("Refresh this inbox"))
    return section(_said(home), refresh, "home:here")


def _said(home: Home) -> str:
    if home.waiting_in_all:
        cards = say_count(home.waiting_in_all, "*{number} card* waits for you.", "*{number} cards* wait for you.")
        return f"{cards} {_shown(home)}".strip()
    if not home.reviewer:
        return say("Nothing waits for you: the rules of this workspace do not name you as a reviewer.")
    return say("Nothing waits for you. What needs your decision appears here, the most urgent first.")


def _shown(home: Home) -> str:
    if home.state.narrowed:
        return say_count(home.matching, "{number} matches the filters.", "{number} match the filters.")
    return say("The most urgent come first.") if home.waiting_in_all > 1 else ""


def _filters(home: Home) -> list[Block]:
    state = home.state
    radii = [(digest(radius), one_line(radius)) for radius in home.radii]
    due = [("hour", say("Due within an hour")), ("today", say("Due today"))]
    return [
        _filter(RADIUS, say("Filter by blast radius"), say("Any blast radius"), radii, state.radius),
        _filter(REQUESTER, say("Filter by requester"), say("Any requester"), home.requesters, state.requester),
        _filter(DUE, say("Filter by deadline"), say("Any deadline"), due, state.due),
    ]


def _filter(kind: str, label: str, everything: str, names: Sequence[tuple[str, str]], chosen: str) -> Block:
    """A select of its own row, since all filters share one action id."""
    known = dict(names[:_OPTIONS])
    if chosen and chosen not in known:
        known[chosen] = say("Chosen before; nothing of it waits")
    options = [option(everything, option_value(kind, ""))]
    options += [option(name, option_value(kind, value)) for value, name in known.items()]
    initial = next(one for one in options if one["value"] == option_value(kind, chosen))
    placeholder = {"type": "plain_text", "text": label, "emoji": False}
    select = {"type": "static_select", "action_id": ActionId.HOME_FILTER, "placeholder": placeholder}
    return actions(f"home:{kind}", {**select, "options": options, "initial_option": initial})


def _pages(home: Home) -> list[Block]:
    state, blocks = home.state, []
    if state.start:
        back = button(say("Earlier deadlines"), ActionId.HOME_PAGE, BACK)
        blocks.append(actions("home:back", back))
    for waiting in home.waiting:
        blocks += [divider(), _card(waiting)]
    if not home.waiting and home.waiting_in_all:
        nothing = (
            say("No further card here.") if state.start else say("Nothing that waits for you matches the filters.")
        )
        blocks.append(rich(line(leaf(nothing))))
    if state.next:
        forth = button(say("Later deadlines"), ActionId.HOME_PAGE, NEXT)
        blocks += [divider(), actions("home:next", forth)]
    return blocks


def _card(waiting: Waiting) -> Block:
    view, calls, radius = waiting.view, waiting.calls, cut(one_line(radius_of(waiting.calls)), _RADIUS)
    origin = [*_origin(view), *_link(waiting.link)]
    if len(calls) == 1:
        parts = [line(leaf(_headline(calls[0]), bold=True)), line(leaf(f"{radius} · "), *origin)]
    else:
        parts = [line(leaf(f"{radius}: {_sum(calls)}", bold=True)), bullets(_headlines(calls)), line(*origin)]
    notes = _notes(waiting)
    return rich(*parts, line(leaf(notes, italic=True))) if notes else rich(*parts)


def _sum(calls: Sequence[Call]) -> str:
    amount = total(list(calls))
    number = say_count(len(calls), "{number} call", "{number} calls")
    return f"{number}, {amount}" if amount else number


def _headline(call: Call) -> str:
    return cut(one_line(call.content.preview.headline), _HEADLINE)


def _headlines(calls: Sequence[Call]) -> list[Block]:
    headlines = [line(leaf(_headline(call))) for call in calls[:_HEADLINES]]
    if len(calls) > _HEADLINES:
        more = len(calls) - _HEADLINES
        headlines.append(line(leaf(say_count(more, "and {number} more", "and {number} more"))))
    return headlines


def _origin(view: BatchView) -> list[Block]:
    by = view.batch.decide_by
    until = _around(say("Decide by {time}", time=HOLE), when(by, "{date_short_pretty} {time}")) if by else []
    return [*until, leaf(" · "), *_around(say("asked by {who}", who=HOLE), person(view.run.requester))]


def _around(said: str, inner: Block) -> list[Block]:
    before, after = around(said)
    return [*([leaf(before)] if before else []), inner, *([leaf(after)] if after else [])]


def _link(url: str | None) -> list[Block]:
    return [leaf(" · "), {"type": "link", "url": url, "text": say("Open the card")}] if url else []


def _notes(waiting: Waiting) -> str:
    """What else a reviewer wants to know before opening it: who has decided, who is on it, their own limit."""
    calls = waiting.calls
    partly = [so_far(call) for call in calls if call.decisions or call.content.requirement.reviewers > 1]
    notes = [*dict.fromkeys(map(one_line, partly))]
    batch = waiting.view.batch
    if batch.on_it:
        notes.append(say("{name} is on it", name=cut(one_line(batch.on_it_name or batch.on_it), NAME)))
    if batch.escalated_at:
        notes.append(say("the next tier may decide too"))
    if waiting.over_limit:
        notes.append(say("over your limit: lower the amount, or reject it"))
    return cut(" · ".join(notes), 400)


def _decided(lately: Lately) -> Block:
    call, decision = lately.call, lately.decision
    if decision.version < call.version and decision.verdict != "reject":
        now = _outdated(call, decision)
    else:
        words = {
            "approve": say("You approved ({time}).", time=HOLE),
            "edit": say("You edited ({time}).", time=HOLE),
            "reject": say("You rejected ({time}).", time=HOLE),
        }
        said = _around(words[decision.verdict], when(decision.at, "{date_short_pretty} {time}"))
        now = [*said, leaf(" "), *_now(call, decision)]
    return rich(line(leaf(_headline(call), bold=True)), line(*now, *_link(lately.link)))


def _outdated(call: Call, decision: Decision) -> list[Block]:
    """What somebody decided is not what the headline says any more: the call was changed since."""
    edited = [one for one in call.decisions if one.verdict == "edit" and one.version >= decision.version]
    own = decision.verdict == "edit" and edited[-1:] == [decision]
    if own and call.refreshing:
        before, so_far_ = say("You edited ({time}).", time=HOLE), say("Your change is being checked.")
    elif own:
        before, so_far_ = say("You edited ({time}).", time=HOLE), say("Its data changed since.")
    else:
        before = say("You edited an earlier version ({time}).", time=HOLE)
        if decision.verdict == "approve":
            before = say("You approved an earlier version ({time}).", time=HOLE)
        name = cut(one_line(edited[-1].name), NAME) if edited else ""
        so_far_ = say("{name} changed it since.", name=name) if name else say("It changed since.")
    changes = f" {cut(one_line('; '.join(call.content.previous)), 200)}." if call.content.previous else ""
    said = [*_around(before, when(decision.at, "{date_short_pretty} {time}")), leaf(f" {so_far_}{changes} ")]
    if call.state is State.PENDING_REVIEW:
        return said if call.refreshing else [*said, leaf(say("Decide again."), bold=True)]
    return [*said, *status(call)]


def _now(call: Call, decision: Decision) -> list[Block]:
    """How it stands: an approved call by how far it has come, since who approved it is the reader."""
    if call.state is State.REJECTED and decision.verdict == "reject":
        return [leaf(cut(one_line(shown_reason(decision.reason or "")), 300))]
    if call.state is State.PENDING_REVIEW:
        return [leaf(one_line(so_far(call)))]
    return ending(call) if call.state in _CARRIED_OUT else status(call)
