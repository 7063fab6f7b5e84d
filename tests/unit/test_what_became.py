"""Whoever reads what became of a call reads exactly that: on the card, in a direct message, at ops and in the agent."""

import itertools
import json
from typing import Any

import pytest

from approvals.lifecycle import UNCHECKED, Cause, RunState, State
from approvals.models import Call, Decision
from block_rules import all_text
from bot.alerts import expired_alert, failed_alert, unknown_alert
from bot.became_words import APART, Around, around_of, became
from bot.blocks import Block, Message
from bot.card_status import status
from bot.cards import render_card
from bot.home import Home, Lately, render_home
from bot.home_state import HomeState
from bot.ids import CallbackId, Place
from bot.outcome import render_outcome
from bot.reminders import HALF, NEXT, render_direct, render_reminder
from bot.settle_modal import settle_modal
from bot.told import render_answer, render_opening
from bot_builders import NOW, AnyLaw, a_call, a_content, a_decision, a_pause, a_preview, a_requirement, a_run, a_view
from worker.envelope import envelope_of

OLGA, BRUNO = ("U0002", "Olga Opslead"), ("U0001", "Bruno Billing")
#: Every way in which nobody has to decide a call any more.
ENDS = (
    *((State.REJECTED, cause) for cause in (Cause.PERSON, Cause.POLICY, Cause.CAP, Cause.WITHDRAWN)),
    *((State.EXPIRED, cause) for cause in (Cause.NOBODY, Cause.LAPSED)),
    *((state, None) for state in (State.APPROVED, State.EXECUTING, State.SUCCEEDED, State.FAILED, State.UNKNOWN)),
)
RAN = {State.APPROVED, State.EXECUTING, State.SUCCEEDED, State.FAILED, State.UNKNOWN}


def ended(state: State, cause: Cause | None, approvals: int, *, edited: bool) -> Call:
    """A call that needed two, with so many approvals of the version it ended with."""
    version = 2 if edited else 1
    content = a_content(requirement=a_requirement(reviewers=2), previous=("38 lines -> 36",) if edited else ())
    call = a_call(1, state, content=content, version=version, cause=cause, reason="wrong customer", needed=2)
    said: list[Decision] = []
    if edited:  # Olga had approved what Bruno changed then
        said.append(a_decision(call, version=1, reviewer=OLGA[0], name=OLGA[1]))
        said.append(a_decision(call, "edit", version=1, reviewer=BRUNO[0], name=BRUNO[1]))
    who = (BRUNO, OLGA)[:approvals]
    said += [a_decision(call, reviewer=user, name=name) for user, name in who]
    if cause is Cause.PERSON:
        said.append(a_decision(call, "reject", reviewer="U0003", name="Omar Ops", reason="wrong customer"))
    return call.model_copy(update={"decisions": tuple(said), "ended_at": NOW, "claimed_at": NOW, "execute_by": NOW})


def possible(state: State, cause: Cause | None, approvals: int, *, edited: bool) -> bool:
    """Two approvals make a call run, lapse or meet a limit; fewer leave it to people and to time."""
    if state in RAN or cause in {Cause.LAPSED, Cause.CAP}:
        return approvals == 2
    return approvals < 2


CASES = [
    (state, cause, approvals, edited)
    for (state, cause), approvals, edited in itertools.product(ENDS, (0, 1, 2), (False, True))
    if possible(state, cause, approvals, edited=edited)
]


def text_of(parts: list[Block]) -> str:
    return "".join(part.get("text") or part.get("fallback", "") for part in parts)


def direct(call: Call) -> str:
    message = render_direct(a_view(call), OLGA[0], None, posted=True)
    assert message
    return message.text


def sentences(call: Call) -> dict[str, str]:
    """What each reader reads of it."""
    told = {"card": text_of(status(call)), "outcome": row(call), "direct": direct(call)}
    final = call.final or call.state is State.UNKNOWN
    return {**told, "agent": json.loads(envelope_of(call))["sentence"]} if final else told


def row(call: Call) -> str:
    (table,) = [block for block in render_outcome(a_pause(call)).blocks if block["type"] == "table"]
    return text_of(table["rows"][1][1]["elements"][0]["elements"])


@pytest.mark.parametrize(("state", "cause", "approvals", "edited"), CASES)
def test_every_end_is_told_by_what_happened_and_by_the_names_that_counted(
    state: State,
    cause: Cause | None,
    approvals: int,
    edited: bool,  # noqa: FBT001 - a parameter of the cases
) -> None:
    call = ended(state, cause, approvals, edited=edited)
    for reader, said in sentences(call).items():
        assert (BRUNO[1] in said) is names_bruno(reader, state, cause, approvals, edited=edited), (reader, said)
        low = said.lower()
        if approvals or edited:
            assert "nobody decided in time." not in low, (reader, said)
        if state is State.EXPIRED and cause is Cause.NOBODY and approvals == 1:
            assert "one more approval was missing" in low, (reader, said)
        if cause is Cause.PERSON:
            assert "omar ops" in low, (reader, said)
            assert "approved" not in low, (reader, said)
        if state in {State.REJECTED, State.EXPIRED}:
            assert "done" not in low, (reader, said)
            assert "decided by" not in low, (reader, said)


def names_bruno(reader: str, state: State, cause: Cause | None, approvals: int, *, edited: bool) -> bool:
    """Bruno is the first to approve, and whoever edits: whose name stands where it explains what happened."""
    if state in RAN or cause is Cause.LAPSED:
        return reader != "agent" or state is not State.UNKNOWN
    if state is State.EXPIRED:
        return approvals == 1 or (edited and reader != "agent")
    return approvals > 0 and cause in {Cause.CAP, Cause.POLICY} and reader != "direct"


def test_a_direct_message_about_an_expired_card_never_says_that_it_was_decided() -> None:
    call = ended(State.EXPIRED, Cause.NOBODY, 1, edited=False)
    assert direct(call) == (
        "Refund 1 payment, 312.40 EUR: expired, nothing ran (Bruno Billing approved, one more approval was missing)."
        " Nothing is left to do."
    )


def test_calls_that_ended_differently_are_counted_each_by_its_end() -> None:
    calls = [
        ended(state, cause, n, edited=False).model_copy(update={"key": f"call_{at}", "number": at})
        for at, (state, cause, n) in enumerate(
            [(State.SUCCEEDED, None, 2), (State.APPROVED, None, 2), (State.EXPIRED, Cause.NOBODY, 0)], start=1
        )
    ]
    message = render_direct(a_view(*calls), OLGA[0], None, posted=True)
    assert message
    assert message.text == (
        "3 calls, refunds in EUR, 937.20 EUR: 2 approved by Bruno Billing and Olga Opslead;"
        " 1 expired, nothing ran (nobody decided in time). Nothing is left to do."
    )
    assert became(ended(State.SUCCEEDED, None, 2, edited=True)) == (
        "approved with changes by Bruno Billing and Olga Opslead"
    )


def test_a_change_that_was_not_checked_in_time_is_nobodys_silence() -> None:
    """A call that has left review is checked no more: its reason says that it was, and not `refreshing`."""
    call = ended(State.EXPIRED, Cause.NOBODY, 0, edited=True).model_copy(update={"reason": UNCHECKED})
    assert not call.refreshing
    for reader, said in sentences(call).items():
        assert "change was not checked in time" in said, reader
        assert "nobody decided" not in said.lower(), reader
    assert "nobody decided" not in json.loads(envelope_of(call))["next"].lower()
    assert "the change was not checked in time" in json.loads(envelope_of(call))["next"]


def waiting(*decisions: tuple[str, str], version: int = 1, earlier: bool = False) -> Call:
    call = a_call(content=a_content(requirement=a_requirement(reviewers=2)), version=version, needed=2)
    at = version - 1 if earlier else version
    said = [a_decision(call, version=at, reviewer=user, name=name) for user, name in decisions]
    said += [a_decision(call, "edit", version=1, reviewer=BRUNO[0], name=BRUNO[1])] if earlier else []
    return call.model_copy(update={"decisions": tuple(said)})


def reminded(call: Call, which: str, **changes: Any) -> str:
    message = render_reminder(a_view(call, **changes), which, "https://example.test/card")
    assert message
    assert "Open the card" in all_text(message.blocks)
    return all_text(message.blocks).replace("\n", "")


@pytest.mark.parametrize("which", [HALF, NEXT])
def test_a_reminder_says_that_nobody_has_answered_only_when_nobody_has(which: str) -> None:
    assert "Nobody has answered." in reminded(waiting(), which)
    one = reminded(waiting(OLGA), which)
    assert "Approved by Olga Opslead; one more approval needed, by somebody else." in one
    assert "Nobody has answered" not in one
    changed = reminded(waiting(OLGA, version=2, earlier=True), which)
    assert "Olga Opslead and Bruno Billing decided before it was changed; that does not count any more." in changed
    assert "Nobody has answered" not in changed
    for said in (one, changed):
        assert "Refund 1 payment, 312.40 EUR: waits for a decision, until " in said
        assert ", else nothing runs." in said
        assert ("The next tier may decide too." in said) is (which == NEXT)


def test_what_silence_does_is_said_on_every_card_that_waits() -> None:
    alone = render_card(a_view(a_call()), AnyLaw())
    assert ", else nothing runs" in all_text(alone.blocks)
    several = render_card(a_view(a_call(1), a_call(2)), AnyLaw())
    assert "; what is undecided then does not run" in all_text(several.blocks)


def test_whoever_approved_what_was_changed_since_is_told_to_decide_again() -> None:
    call = waiting(OLGA, version=2, earlier=True)
    call = call.model_copy(update={"content": call.content.model_copy(update={"previous": ("38 lines -> 36",)})})
    message = render_direct(a_view(call), OLGA[0], None)
    assert message
    assert message.text.startswith(
        "What you decided does not count any more, since Bruno Billing changed it. Decide again."
    )
    tab = json.dumps(render_home(Home(HomeState(), lately=[Lately(call, call.decisions[0])])))
    assert "You approved an earlier version (" in tab
    assert "Bruno Billing changed it since. 38 lines -> 36." in tab
    assert "Decide again." in tab
    assert "You approved (" not in tab


def test_an_editor_reads_how_their_own_change_stands() -> None:
    call = waiting(version=2, earlier=True)
    edit = call.decisions[0]
    checked = json.dumps(render_home(Home(HomeState(), lately=[Lately(call, edit)])))
    assert "You edited (" in checked
    assert "Decide again." in checked
    call = call.model_copy(update={"refreshing": True})
    assert "Your change is being checked." in json.dumps(render_home(Home(HomeState(), lately=[Lately(call, edit)])))
    later = call.model_copy(update={"version": 3, "refreshing": False, "state": State.SUCCEEDED})
    later = later.model_copy(update={"decisions": (edit, a_decision(later, reviewer=OLGA[0], name=OLGA[1]))})
    assert "Approved by Olga Opslead" in json.dumps(render_home(Home(HomeState(), lately=[Lately(later, edit)])))


def test_an_approved_call_says_which_calls_it_waits_for_and_until_when() -> None:
    done = a_call(1, State.APPROVED)
    done = done.model_copy(update={"decisions": (a_decision(done),)})
    view = a_view(done, a_call(2), a_call(3))
    said = text_of(status(done, around_of(view)))
    assert "Runs once calls 2 and 3 are decided, or at " in said
    assert " when their time ends." in said
    assert "Runs once calls 2 and 3 are decided" in all_text(render_card(view, AnyLaw()).blocks)
    assert "Runs once call 2 is decided, or at " in text_of(status(done, around_of(a_view(done, a_call(2)))))
    unposted = a_view(done, a_call(2), decide_by=None)
    assert "Runs once call 2 is decided." in text_of(status(done, around_of(unposted)))
    whole = a_view(done, a_call(2), run=a_run(barrier="pause"))
    assert "Runs once everything of this run is decided" in text_of(status(done, around_of(whole)))
    assert "Runs once the calls asked with it are decided" in text_of(status(done, APART))
    released = done.model_copy(update={"execute_by": NOW})
    assert "Waiting to run." in text_of(status(released, around_of(view)))


def test_who_took_a_run_back_is_named_wherever_it_is_told() -> None:
    run = a_run(
        state=RunState.STOPPED, cancelled_by="U0005", cancelled_name="Rosa Requester", reason="cancelled by @Rosa"
    )
    call = a_call(1, State.REJECTED, cause=Cause.WITHDRAWN)
    assert "Withdrawn by Rosa Requester." in text_of(status(call, Around(cancelled_by="Rosa Requester")))
    for said in (
        all_text(render_card(a_view(call, run=run), AnyLaw()).blocks),
        all_text(render_outcome(a_pause(call).model_copy(update={"run": run})).blocks),
    ):
        assert "Withdrawn by Rosa Requester" in said
    for message in (render_opening(run), render_answer(run), failed_alert(run)):
        text = f"{message.text} {all_text(message.blocks)}"
        assert "Cancelled by Rosa Requester" in text
        assert "@Rosa" not in text


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (RunState.QUEUED, "Started"),
        (RunState.PAUSED, "Started"),
        (RunState.COMPLETED, "Finished"),
        (RunState.STOPPED, "Stopped"),
        (RunState.FAILED, "Interrupted; ops has been told"),
    ],
)
def test_the_opening_says_how_the_run_stands_and_promises_only_while_it_goes_on(state: RunState, words: str) -> None:
    message = render_opening(a_run(state=state))
    assert message.text.startswith(f"{words}: ")
    assert ("waits for approval" in all_text(message.blocks)) is (words == "Started")


@pytest.mark.parametrize("state", RunState)
def test_ops_reads_of_an_interrupted_run_what_became_of_it_and_nothing_that_contradicts_it(state: RunState) -> None:
    said = all_text(failed_alert(a_run(state=state, reason="the provider is away")).blocks)
    assert ("taken up again" in said) is (state not in {RunState.STOPPED, RunState.FAILED})
    assert ("does not go on" in said) is (state is RunState.STOPPED)
    assert ("come to its end" in said) is (state is RunState.COMPLETED)
    assert ("put it back in the queue" in said) is (state is RunState.FAILED)
    assert ("The provider is away." in said) is (state in {RunState.FAILED, RunState.STOPPED})


def test_ops_reads_first_what_expired_and_who_had_approved() -> None:
    said = ops(expired_alert(a_view(ended(State.EXPIRED, Cause.NOBODY, 1, edited=False)), "https://example.test/card"))
    assert said.startswith("*Refund 1 payment, 312.40 EUR* expired; nothing ran. Bruno Billing approved, one more")
    assert "|Open the card>" in said
    assert "<@U0005> can press *Ask again* on the card." in said
    never = ops(expired_alert(a_view(ended(State.EXPIRED, Cause.UNPOSTED, 0, edited=False), posted_at=None)))
    assert "could not be posted within an hour and expired; nothing ran." in never
    assert "Ask again" not in never


def test_ops_reads_first_what_may_have_happened_and_the_ids_last() -> None:
    call = ended(State.UNKNOWN, None, 2, edited=False)
    said = ops(unknown_alert(call, a_run(), link="https://example.test/card", answered_at=NOW + 90_000_000))
    first, *_ = said.split("\n")
    assert first.startswith(
        "*Refund 1 payment, 312.40 EUR* · approved by Bruno Billing and Olga Opslead, begun <!date^"
    )
    assert first.endswith("|Open the card>")
    assert said.index("Nobody can tell whether it happened") < said.index(call.idempotency_key)
    assert f"until <!date^{(NOW + 90_000_000) // 1000}^" in said
    assert "The agent has been told that nobody knows." in ops(unknown_alert(call, a_run()))


@pytest.mark.parametrize(
    ("said", "proved", "words"),
    [
        (State.FAILED, State.SUCCEEDED, "A receipt came late: it happened"),
        (State.SUCCEEDED, State.FAILED, "found late that it did not happen"),
    ],
)
def test_what_was_settled_and_is_proved_otherwise_is_not_said_to_need_nothing(
    said: State, proved: State, words: str
) -> None:
    told = ops(unknown_alert(ended(said, None, 2, edited=False).model_copy(update={"contradicted": proved}), a_run()))
    assert words in told
    assert "Compare with the provider" in told
    assert "Nothing is left to do" not in told


def ops(message: Message) -> str:
    return str(message.blocks[1]["text"]["text"])


@pytest.mark.parametrize(
    ("callback", "submit"),
    [
        (CallbackId.MARK_DONE, "It happened"),
        (CallbackId.MARK_NOT_DONE, "It did not happen"),
        (CallbackId.MARK_UNDONE, "It was undone"),
        (CallbackId.MARK_NOT_UNDONE, "It was not undone"),
    ],
)
def test_who_settles_reads_what_it_is_about_and_presses_what_they_say(callback: CallbackId, submit: str) -> None:
    view = settle_modal(a_call(), callback, Place(ref="x", channel="C", thread_ts="1"), needed=1)
    assert view["submit"]["text"] == submit
    assert view["blocks"][0]["elements"][0]["elements"][0]["text"] == "Refund 1 payment, 312.40 EUR"
    assert "idempotency key" in json.dumps(view["blocks"][-1])


def test_what_is_somebodys_stays_masked_away_from_the_card() -> None:
    call = a_call(1, State.UNKNOWN, content=a_content(preview=a_preview(headline="Refund anna@example.test")))
    expired = call.model_copy(update={"state": State.EXPIRED, "cause": Cause.NOBODY})
    settling = settle_modal(call, CallbackId.MARK_DONE, Place(ref="x", channel="C", thread_ts="1"), needed=1)
    told = (unknown_alert(call, a_run()), expired_alert(a_view(expired)), direct(expired), settling)
    assert "anna" not in json.dumps(told)


def test_a_reason_ends_before_the_next_sentence_begins() -> None:
    call = ended(State.FAILED, None, 2, edited=False).model_copy(update={"reason": "the provider said no"})
    assert row(call) == "Did not happen: the provider said no. Approved by Bruno Billing and Olga Opslead."


def test_the_instants_of_an_outcome_are_in_the_readers_own_time() -> None:
    call = ended(State.SUCCEEDED, None, 2, edited=False)
    (table,) = [block for block in render_outcome(a_pause(call)).blocks if block["type"] == "table"]
    dates = [one for one in table["rows"][1][1]["elements"][0]["elements"] if one["type"] == "date"]
    assert [one["timestamp"] for one in dates] == [NOW // 1000]
