"""What one person's Home tab shows, read from the store and judged by the law."""

from collections.abc import Sequence
from typing import Any, Literal

from approvals.inbox import EVERYTHING, Group, Reader, Slice
from approvals.lifecycle import State
from approvals.models import BatchView, Call, Person
from approvals.reading_batches import Post
from bot.deps import Deps
from bot.home import PAGE, Home, Lately, Waiting
from bot.home_state import HomeState, place, place_text
from bot.text import one_line
from policies.authority import may_decide
from policies.requirement import Requirement
from policies.reviewers import Reviewers


def read_home(deps: Deps, person: Person, state: HomeState, *, back: bool = False) -> Home:
    """One page of a full member's inbox; `back`: the page before the one that the state remembers."""
    people, inbox = deps.people(), deps.store.inbox
    own = people.development.self_approval
    groups = tuple(group for group in inbox.groups() if _asks(people, person, group))
    reader = Reader(person.user, groups, own)
    choice = state.choice(deps.store.now(), person.tz)
    if back:
        state = _page_before(deps, reader, state, person)
    found = inbox.since(reader, choice, place(state.start), PAGE)
    menu = inbox.menu(reader)
    return Home(
        state=_turned(state, found),
        waiting_in_all=inbox.count(reader),
        matching=inbox.count(reader, choice) if choice != EVERYTHING else 0,
        waiting=_waiting(deps, people, person, [one.batch for one in found.batches]),
        lately=_lately(deps, person),
        radii=menu.radii,
        requesters=_named(deps, people, menu.requesters),
        reviewer=_is_reviewer(people, person),
        switches=deps.words.switches(),
    )


def _page_before(deps: Deps, reader: Reader, state: HomeState, person: Person) -> HomeState:
    """The first page whenever what stands before this one does not fill a page."""
    first = place(state.first) or place(state.start)
    if first is None:
        return state
    choice = state.choice(deps.store.now(), person.tz)
    found = deps.store.inbox.before(reader, choice, first, PAGE)
    full = found.further is not None and found.batches
    return state.model_copy(update={"start": place_text(found.batches[0]) if full else ""})


def _turned(state: HomeState, found: Slice) -> HomeState:
    first = place_text(found.batches[0]) if found.batches else ""
    return state.model_copy(update={"first": first, "next": place_text(found.further)})


def _asks(people: Reviewers, person: Person, group: Group) -> bool:
    """Whether this person may decide at least a part of what stands in this group."""
    return any(_in_tier(people, person, tier, late=group.late) for tier in group.tiers)


def _is_reviewer(people: Reviewers, person: Person) -> bool:
    return any(_in_tier(people, person, tier) for tier in people.tiers)


def _in_tier(people: Reviewers, person: Person, tier: str, *, late: bool = False) -> bool:
    need = Requirement(radius="", tier=tier)
    team = person.team
    found = may_decide(people, need, person, requester="", clicker_team=team, verdict="reject", escalated=late)
    return found is None


def _waiting(deps: Deps, people: Reviewers, person: Person, batches: Sequence[str]) -> list[Waiting]:
    found = (_one(deps, people, person, view) for view in deps.store.views.of(batches))
    return [one for one in found if one]


def _one(deps: Deps, people: Reviewers, person: Person, view: BatchView) -> Waiting | None:
    """A card as it concerns this person; None when the law lets them decide nothing of it after all."""
    late = view.batch.escalated_at is not None
    asks: dict[str, Any] = {"requester": view.run.requester, "clicker_team": person.team, "escalated": late}

    def may(call: Call, verdict: Literal["approve", "reject"]) -> bool:
        return may_decide(people, call.content.requirement, person, verdict=verdict, **asks) is None

    open_ = [call for call in view.calls if call.state is State.PENDING_REVIEW and not _answered(call, person)]
    theirs = tuple(call for call in open_ if may(call, "reject"))
    if not theirs:
        return None
    post = Post(view.batch.channel or "", view.batch.ts or "", view.run.thread_ts)
    over = not all(may(call, "approve") for call in theirs)
    return Waiting(view, theirs, link_to(deps.home_url, post), over_limit=over)


def _answered(call: Call, person: Person) -> bool:
    return any(one.reviewer == person.user and one.version == call.version for one in call.decisions)


def _lately(deps: Deps, person: Person) -> list[Lately]:
    calls = deps.store.views.calls(deps.store.inbox.decided(person.user))
    posts = deps.store.views.posts([call.batch for call in calls if call.batch])
    found = []
    for call in calls:
        mine = [decision for decision in call.decisions if decision.reviewer == person.user]
        post = posts.get(call.batch or "")
        if mine:
            found.append(Lately(call, mine[-1], link_to(deps.home_url, post) if post else None))
    return found


def link_to(home_url: str, post: Post) -> str | None:
    """Where Slack shows a card; None while nobody knows."""
    if not (home_url and post.channel and post.ts):
        return None
    place_ = f"{home_url}archives/{post.channel}/p{post.ts.replace('.', '')}"
    return f"{place_}?thread_ts={post.thread_ts}&cid={post.channel}"


def _named(deps: Deps, people: Reviewers, users: Sequence[str]) -> list[tuple[str, str]]:
    names = deps.store.people.names(users)
    return [(user, one_line(names.get(user) or people.name_of(user))) for user in users]
