"""Every smaller message of a thread, and everything ops is told."""

from collections.abc import Callable, Iterator

from approvals.lifecycle import Cause, RunState, State
from approvals.switches import Freeze
from bot.alarms import ALARMS, alarm, frozen_alert
from bot.alerts import expired_alert, failed_alert, lapsed_alert, remedy, slack_alert, unknown_alert
from bot.attention_alerts import budget_alert, quiet_alert, tier_alert
from bot.blocks import Message
from bot.told import render_answer, render_notice, render_opening
from bot_builders import NOW, a_decision
from every_card import of
from screen_words import Words

Made = tuple[str, Callable[[Words], Message]]
#: What follows the kind in an alarm's subject, as the worker and the clock write it.
ABOUT = {
    "seal": "call_000000000001",
    "blob": "changed:content:call_000000000001",
    "tool": "call_000000000001",
    "secret": "call_000000000001",
    "anchor": "vobo-0123-abcdef-Zm9vYmFy",
    "not_kept": "2026-11-30",
    "undrained": "1a2b3c4d:2026-11-30",
    "gate": "call_000000000001",
    "unsent": "card:batch_a",
}
LINK = "https://example.slack.com/archives/C1/p1?thread_ts=1.0&cid=C1"
ERRORS = ("is_archived", "not_in_channel", "token_revoked", "missing_scope", "channel_not_found", "fatal_error")


def told() -> Iterator[Made]:
    """Openings, answers and notices."""
    yield "opening", lambda w: render_opening(w.run())
    yield "opening of a follow-up", lambda w: render_opening(w.run(parent="run_0"))
    yield "opening, cancelled", lambda w: render_opening(w.run(cancelled_by="U0005", cancelled_name=w.must("Rosa")))
    for state in RunState:
        name = f"{state.value}"
        yield f"opening, {name}", lambda w, state=state: render_opening(w.run(state=state))
        yield (
            f"answer, {name}",
            lambda w, state=state: render_answer(
                w.run(state=state, answer=w.of("I refunded 38."), reason=w.of("budget"), ended_at=NOW)
            ),
        )
        yield f"answer, {name}, nothing said", lambda w, state=state: render_answer(w.run(state=state))
    yield "notice", lambda w: render_notice(w.call(2))
    yield "notice to an editor", _notice


def _notice(words: Words) -> Message:
    call = words.call(version=2, content=words.content(previous=(words.of("pay_0009 is gone"),) * 20))
    return render_notice(call.model_copy(update={"decisions": (a_decision(call, "edit"),)}))


def alerts() -> Iterator[Made]:
    """Everything ops is told, before its controls."""
    for posted in (NOW, None):
        for link in (LINK, None):
            name = f"alert: expired, {'posted' if posted else 'never posted'}, {'link' if link else 'no link'}"
            yield (
                name,
                lambda w, posted=posted, link=link: expired_alert(
                    of(w, w.ended(1, State.EXPIRED, Cause.NOBODY), posted_at=posted), link
                ),
            )
    yield "alert: lapsed", lambda w: lapsed_alert(of(w, w.ended(1, State.EXPIRED, Cause.LAPSED)), LINK)
    yield "alert: lapsed, no link", lambda w: lapsed_alert(of(w, w.ended(1, State.EXPIRED, Cause.LAPSED)))
    for state in (State.UNKNOWN, State.SUCCEEDED, State.FAILED):
        name = f"alert: unknown, now {state.value}"
        yield name, lambda w, state=state: unknown_alert(w.ended(1, state), w.run())
    for state, late in ((State.FAILED, State.SUCCEEDED), (State.SUCCEEDED, State.FAILED)):
        name = f"alert: said to be {state.value}, found late to be {late.value}"
        yield name, lambda w, state=state, late=late: unknown_alert(w.ended(1, state, contradicted=late), w.run())
    for at in (NOW, None):
        name = f"alert: unknown, {'the agent waits' if at else 'the agent was told'}"
        yield name, lambda w, at=at: unknown_alert(w.ended(1, State.UNKNOWN), w.run(), link=LINK, answered_at=at)
    for word in ("succeeded", "failed"):
        name = f"alert: one operator says {word}"
        yield name, lambda w, word=word: unknown_alert(w.ended(1, State.UNKNOWN), w.run(), (w.must("Omar"), word))
    for run in RunState:
        changes = {"cancelled_by": "U0005", "state": run}
        name = f"alert: run {run.value}, cancelled"
        yield name, lambda w, c=changes: failed_alert(w.run(cancelled_name=w.must("Rosa"), **c))
        name = f"alert: run {run.value}"
        yield name, lambda w, run=run: failed_alert(w.run(state=run, reason=w.of("the provider is away")))
    yield "alert: failed without a reason", lambda w: failed_alert(w.run(state=RunState.FAILED))
    for error in ERRORS:
        assert remedy(error)
        yield f"alert: Slack says {error}", lambda w, error=error: slack_alert(w.of("a message"), "C_OLD", error)
    yield "alert: a message of ours is malformed", lambda w: slack_alert(w.of("a message"), "", w.of("malformed"))
    yield "alert: budget", lambda w: budget_alert(w.run(), [w.ended(n, State.REJECTED, Cause.BUDGET) for n in (1, 2)])
    yield "alert: tier", lambda w: tier_alert(w.must("billing"))
    yield "alert: all asleep", lambda w: quiet_alert(of(w, w.call(), quiet=True, notify=()))
    yield "alert: frozen", lambda w: frozen_alert([_freeze(w, "the provider answers twice")])
    yield "alert: frozen often", lambda w: frozen_alert([_freeze(w, "x" * 900)] * 9)
    yield "alert: thawed", lambda _: frozen_alert([])
    for kind in ALARMS:
        yield f"alert: {kind}", lambda w, kind=kind: alarm(kind, _about(kind, w))
    yield "alert: no key", lambda w: alarm("blob", f"no_key:content:{w.of('call_1')}")


def _freeze(words: Words, why: str) -> Freeze:
    return Freeze(words.must("Omar"), words.must(why), NOW, guard=False)


def _about(kind: str, words: Words) -> str:
    own = ABOUT[kind]
    return own if words.hostile is None or kind == "anchor" else f"{own}{words.hostile}"
