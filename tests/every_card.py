"""Every state a card, its reminders and the outcome of a pause can be in."""

from collections.abc import Callable, Iterator

from approvals.drifts import Drift
from approvals.lifecycle import Cause, State
from approvals.models import BatchView, Call
from bot.blocks import Message
from bot.canary_text import render_canary_end
from bot.cards import render_card
from bot.language import say
from bot.outcome import render_outcome
from bot.reminders import HALF, NEXT, render_direct, render_reminder
from bot.standing import Addressed
from bot_builders import NOW, AnyLaw, a_decision, a_pause, a_view
from policies.money import Money
from policies.requirement import Canary, Requirement
from screen_words import Words

Made = tuple[str, Callable[[Words], Message]]
#: What ends a call -> the causes it can have.
CAUSES = {
    State.REJECTED: (Cause.PERSON, Cause.POLICY, Cause.BUDGET, Cause.CAP, Cause.VETO, Cause.WITHDRAWN),
    State.EXPIRED: (Cause.NOBODY, Cause.LAPSED, Cause.UNPOSTED),
}
LINK = "https://example.slack.com/archives/C1/p1?thread_ts=1.0&cid=C1"
DECIDED = (State.PROPOSED, State.APPROVED, State.EXECUTING, State.SUCCEEDED, State.FAILED, State.UNKNOWN)


class BusyLaw(AnyLaw):
    """A law with everything switched on: many to ask, more after a while, and a development switch."""

    def addressed(self, requirement: Requirement, *, escalated: bool = False) -> Addressed:  # noqa: ARG002 - everybody
        users = [f"U1{number:03d}" for number in range(40 if escalated else 30)]
        return Addressed(tuple(users), tuple(f"S{number}" for number in range(12 if escalated else 11)))

    def switches(self) -> str:
        return say("Development switch: requesters may approve their own calls.")


class NobodysLaw(AnyLaw):
    """A law that leaves nobody to ask."""

    def addressed(self, requirement: Requirement, *, escalated: bool = False) -> Addressed:  # noqa: ARG002 - nobody
        return Addressed()


def card(view: BatchView, law: AnyLaw | None = None) -> Message:
    return render_card(view, law or AnyLaw())


def pending_calls() -> Iterator[tuple[str, Callable[[Words], Call]]]:
    """A call that waits, in every way it can wait."""
    yield "plain", lambda w: w.call()
    yield "asks twice", lambda w: w.call(content=w.content(requirement=w.requirement(confirm=True)))
    yield "can be undone", lambda w: w.call(content=w.content(requirement=w.requirement(undo=w.must("refund back"))))
    yield "one of two approvals", one_of_two
    yield "an edit is checked", lambda w: w.call(version=2, refreshing=True)
    yield "edited", lambda w: w.call(version=2, content=w.content(previous=(w.must("312.40 EUR -> 250.00 EUR"),) * 9))
    yield "could not be judged", lambda w: w.call(content=w.content(problem=w.must("The facts are not known.")))
    yield "without a preview", without_preview
    yield "too long to read", lambda w: w.call(content=w.content(requested="x" * 400_001))
    yield "no arguments", lambda w: w.call(content=w.content(requested="", arguments=""))
    yield "its data has changed", drifted
    yield "something else has changed", lambda w: drifted(w, rows=0, of=0)
    yield "it would not run any more", lambda w: drifted(w, rows=0, of=0, refused=True)
    yield "its data could not be looked up", lambda w: w.call(look_failed_at=NOW + 60_000)
    yield "looked up and all is the same", lambda w: w.call(looked_at=NOW + 60_000)
    yield "without a reason", lambda w: w.call(content=w.content(reason=None))


def one_of_two(words: Words) -> Call:
    call = words.call(needed=2, content=words.content(requirement=words.requirement(reviewers=2)))
    return call.model_copy(update={"decisions": (a_decision(call, name=words.must("Bruno Billing")),)})


def changed_since(words: Words) -> Call:
    """Approved, and then changed by somebody else."""
    call = words.call(version=2, needed=2, content=words.content(requirement=words.requirement(reviewers=2)))
    said = a_decision(call, version=1, name=words.must("Bruno Billing"))
    edit = a_decision(call, "edit", version=1, reviewer="U0003", name=words.must("Omar"))
    return call.model_copy(update={"decisions": (said, edit)})


def drifted(words: Words, **changes: object) -> Call:
    """Its data changed, it has a confirm of its own, and the last look failed."""
    lines = (words.must("pay_0009: status failed -> refunded"), words.must("pay_0010 is gone"))
    found = Drift(**{"rows": 2, "of": 38, "lines": lines, "more": 3, **changes})
    return words.call(looked_at=NOW + 60_000, drifted=found, look_failed_at=NOW + 120_000)


def without_preview(words: Words) -> Call:
    content = words.content()
    preview = content.preview.model_copy(update={"generic": True, "sample": (), "rows": (), "body": None})
    return words.call(content=content.model_copy(update={"preview": preview}))


def mixed_currencies(words: Words) -> BatchView:
    amounts = [Money(minor=10**12, currency=currency) for currency in ("EUR", "USD", "JPY", "CHF")]
    needs = [words.requirement(amount=amount) for amount in amounts]
    calls = [words.call(at, content=words.content(requirement=need)) for at, need in enumerate(needs, 1)]
    return of(words, *calls)


def of(words: Words, *calls: Call, **changes: object) -> BatchView:
    """These calls on one card."""
    return a_view(*calls, run=words.run(), radius=words.must("refunds in EUR"), **changes)


def partly(words: Words) -> BatchView:
    """Eight calls, each somewhere else."""
    ends = [words.ended(number, state) for number, state in enumerate(DECIDED, start=1)]
    return of(words, *ends, words.ended(7, State.REJECTED, Cause.PERSON), words.call(8))


def eight(words: Words) -> BatchView:
    return of(words, *(words.call(number) for number in range(1, 9)))


def all_ended() -> Iterator[tuple[str, Callable[[Words], Call]]]:
    """A call nobody has to decide any more, in every way that comes about."""
    for state in DECIDED:
        yield state.value, lambda w, state=state: w.ended(1, state)
        yield f"{state.value} by policy", lambda w, state=state: w.call(1, state, decisions=())
    for state, causes in CAUSES.items():
        for cause in causes:
            yield f"{state.value}, {cause.value}", lambda w, s=state, c=cause: w.ended(1, s, c)


def canaries() -> Iterator[tuple[str, Callable[[Words], Call]]]:
    """A canary, over in every way there is."""
    ways = ((State.REJECTED, Cause.PERSON), (State.REJECTED, Cause.CANARY), (State.REJECTED, Cause.WITHDRAWN))
    for state, cause in (*ways, (State.EXPIRED, Cause.NOBODY)):
        yield cause.value, lambda w, s=state, c=cause: _marked(w, w.ended(1, s, c))


def _marked(words: Words, call: Call) -> Call:
    canary = Canary(agent=words.of("desk"), oddity=words.of("The account was opened an hour ago."))
    decided = tuple(one.model_copy(update={"verdict": "approve"}) for one in call.decisions)
    changes = {"decisions": decided} if call.cause is Cause.CANARY else {}
    content = words.content(requirement=words.requirement(canary=canary))
    return call.model_copy(update={"content": content, **changes})


def cards() -> Iterator[Made]:
    """Every card."""
    for name, pending in pending_calls():
        yield f"card pending: {name}", lambda w, pending=pending: card(of(w, pending(w)))
        yield f"card of eight: {name}", lambda w, pending=pending: card(of(w, *_eight_times(pending(w))))
    yield "card of eight", lambda w: card(eight(w))
    yield "card in many currencies", lambda w: card(mixed_currencies(w))
    yield "card not posted yet", lambda w: card(of(w, w.call(), decide_by=None, posted_at=None))
    yield "card somebody looks at", lambda w: card(of(w, w.call(), on_it="U0001", on_it_name=w.must("Bruno Billing")))
    yield "card escalated", lambda w: card(of(w, w.call(), escalated_at=NOW))
    yield "card with counted people", lambda w: card(of(w, w.call(), notify=("U0001", "S_BILLING")))
    yield "card while all sleep", lambda w: card(of(w, w.call(), quiet=True, notify=()))
    yield "card for very many", lambda w: card(eight(w), BusyLaw())
    yield "card for nobody", lambda w: card(eight(w), NobodysLaw())
    for name, ended in canaries():
        yield f"card of a canary: {name}", lambda w, ended=ended: card(of(w, ended(w)))
        yield f"answer of a canary: {name}", lambda w, ended=ended: render_canary_end(ended(w))
    yield "card partly decided", lambda w: card(partly(w))
    for name, ended in all_ended():
        yield f"card: {name}", lambda w, ended=ended: card(of(w, ended(w)))
        yield f"card of eight: {name}", lambda w, ended=ended: card(of(w, *_eight_times(ended(w))))
        yield f"outcome: {name}", lambda w, ended=ended: render_outcome(a_pause(ended(w)))
    yield "outcome of a hundred", lambda w: render_outcome(a_pause(*_times(100, w.ended(1, State.SUCCEEDED))))
    yield "outcome, still open", lambda w: render_outcome(a_pause(w.call()))


def reminders() -> Iterator[Made]:
    """What is said about a card that still waits."""
    for which in (HALF, NEXT):
        for quiet in (False, True):
            told = {"quiet": quiet, "recalled": ("S_BILLING",), "called": ("S_OPS_LEADS",)}
            name = f"reminder at {which}{', too few awake' if quiet else ''}"
            yield name, lambda w, which=which, told=told: _there(render_reminder(_with(eight(w), **told), which))
            one = f"{name}, one of two"
            yield one, lambda w, at=which, t=told: _there(render_reminder(_with(of(w, one_of_two(w)), **t), at))
        changed = f"reminder at {which}, changed since"
        yield changed, lambda w, which=which: _there(render_reminder(of(w, changed_since(w)), which, LINK))
    for who in ("U0001", "U0002"):
        name = f"direct message to {who}, changed since"
        yield name, lambda w, who=who: _there(render_direct(of(w, changed_since(w)), who, LINK))
    for link in (None, LINK):
        name = f"direct message {'with' if link else 'without'} a link"
        yield name, lambda w, link=link: _there(render_direct(eight(w), "U0001", link))
    for name, ended in all_ended():
        for who in ("U0001", "U0002"):
            yield (
                f"direct message to {who}, {name}",
                lambda w, ended=ended, who=who: _there(render_direct(of(w, ended(w)), who, None, posted=True)),
            )
    yield (
        "direct message, one of two",
        lambda w: _there(render_direct(of(w, one_of_two(w)), "U0001", None, posted=True)),
    )


def _with(view: BatchView, **changes: object) -> BatchView:
    return view.model_copy(update={"batch": view.batch.model_copy(update=changes)})


def _there(message: Message | None) -> Message:
    assert message is not None
    return message


def _eight_times(call: Call) -> list[Call]:
    return _times(8, call)


def _times(many: int, call: Call) -> list[Call]:
    return [call.model_copy(update={"number": at, "key": f"call_{at:012d}"}) for at in range(1, many + 1)]
