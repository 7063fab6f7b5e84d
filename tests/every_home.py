"""Every Home tab."""

from collections.abc import Callable, Iterator

from approvals.inbox import digest
from approvals.lifecycle import State
from approvals.models import Call
from bot.home import PAGE, Home, Lately, Waiting, render_home, render_outsider, render_unavailable
from bot.home_state import HomeState
from bot.modals import View
from bot_builders import NOW, a_decision, a_view
from screen_words import Words

Made = tuple[str, Callable[[Words], View]]
LINK = "https://example.slack.com/archives/C1/p1?thread_ts=1.0&cid=C1"


def homes() -> Iterator[Made]:
    """Empty, one card, a full page with every note, and a sentence for outsiders."""
    yield "home, nothing waits", lambda _: render_home(Home(HomeState()))
    yield "home, no reviewer", lambda _: render_home(Home(HomeState(), reviewer=False))
    yield "home, one card", lambda w: render_home(Home(HomeState(), waiting_in_all=1, waiting=[_waiting(w)]))
    yield "home, a full page", _full
    yield "home, filters that nothing matches", _nothing
    yield "home, for others", lambda _: render_outsider()
    yield "home, nobody knows whose", lambda _: render_unavailable()


def _waiting(words: Words, number: int = 1) -> Waiting:
    calls = tuple(words.call(number * 8 + at) for at in range(1 if number == 1 else 8))
    noted = {"on_it": "U0001", "on_it_name": words.must("Bruno"), "escalated_at": NOW}
    view = a_view(*calls, run=words.run(), id=f"batch_{number}", radius=words.must("refunds in EUR"), **noted)
    return Waiting(view, calls, LINK, over_limit=number > 1)


def _full(words: Words) -> View:
    ended = [words.ended(number, state) for number, state in enumerate(State, start=1)]
    lately = [Lately(call, decision, LINK) for call in ended for decision in call.decisions]
    lately += [Lately(call, decision, LINK) for call in _changed_since(words) for decision in call.decisions[:2]]
    state = HomeState(start=f"{NOW}:b", first=f"{NOW}:b", next=f"{NOW}:c")
    many = [_waiting(words, number) for number in range(1, PAGE + 1)]
    radii, people = [words.must("refunds in EUR"), "deploys"], [("U0005", words.must("Rosa"))]
    home = Home(state, 250, 250, many, lately, radii, people, switches="A switch is on.")
    return render_home(home)


def _changed_since(words: Words) -> list[Call]:
    """Approved, then edited by somebody else: waiting, being checked, done; then changed by nobody."""
    call = words.call(1, version=3, content=words.content(previous=(words.of("38 lines -> 36"),)))
    said = (a_decision(call, version=1), a_decision(call, "edit", version=2, reviewer="U0002", name=words.must("Olga")))
    edited = call.model_copy(update={"decisions": said})
    states = ({}, {"refreshing": True}, {"state": State.SUCCEEDED}, {"decisions": said[:1]}, {"decisions": said[1:]})
    return [edited.model_copy(update=one) for one in states]


def _nothing(words: Words) -> View:
    state = HomeState(radius=digest("gone"), requester="U0009", due="hour")
    return render_home(Home(state, waiting_in_all=3, radii=[words.must("refunds in EUR")]))
